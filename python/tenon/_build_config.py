# SPDX-License-Identifier: Apache-2.0
"""BuildConfig and PluginConfig of TensorRT-LLM (tensorrt_llm/builder.py, tensorrt_llm/plugin/plugin.py) for engines of checkpoints. What
each field does here is in docs/llm.md; the table that it follows from is src/compiler/options/build_config_fields.cpp.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any

from ._tenon import _read_build_config


def _plain(value: Any) -> Any:
    """As JSON has it."""
    return value.name if isinstance(value, Enum) else value


@dataclass
class PluginConfig:
    """Plugins are named by the type that they compute in, "auto" or None (not used)."""

    dtype: str = "float16"
    bert_attention_plugin: str | None = "auto"
    gpt_attention_plugin: str | None = "auto"
    gemm_plugin: str | None = None
    gemm_swiglu_plugin: str | None = None
    fp8_rowwise_gemm_plugin: str | None = None
    qserve_gemm_plugin: str | None = None
    identity_plugin: str | None = None
    nccl_plugin: str | None = "auto"
    lora_plugin: str | None = None
    dora_plugin: bool = False
    weight_only_groupwise_quant_matmul_plugin: str | None = None
    weight_only_quant_matmul_plugin: str | None = None
    smooth_quant_plugins: bool = True
    smooth_quant_gemm_plugin: str | None = None
    layernorm_quantization_plugin: str | None = None
    rmsnorm_quantization_plugin: str | None = None
    quantize_per_token_plugin: bool = False
    quantize_tensor_plugin: bool = False
    moe_plugin: str | None = "auto"
    mamba_conv1d_plugin: str | None = "auto"
    low_latency_gemm_plugin: str | None = None
    low_latency_gemm_swiglu_plugin: str | None = None
    gemm_allreduce_plugin: str | None = None
    context_fmha: bool = True
    bert_context_fmha_fp32_acc: bool = False
    paged_kv_cache: bool | None = None
    remove_input_padding: bool = True
    norm_quant_fusion: bool = False
    reduce_fusion: bool = False
    user_buffer: bool = False
    tokens_per_block: int = 32
    use_paged_context_fmha: bool = True
    use_fp8_context_fmha: bool = True
    fuse_fp4_quant: bool = False
    multiple_profiles: bool = False
    paged_state: bool = True
    streamingllm: bool = False
    manage_weights: bool = False
    use_fused_mlp: bool = True
    pp_reduce_scatter: bool = False
    lookup_plugin: str | None = None
    context_fmha_fp32_acc: bool = False
    attention_qk_half_accumulation: bool = False
    multi_block_mode: bool = False
    enable_xqa: bool = True
    use_context_fmha_for_generation: bool = False
    use_custom_all_reduce: bool = True

    @classmethod
    def from_dict(cls, config: Mapping[str, Any]) -> PluginConfig:
        """Fields that are missing keep their standard values. Raises TenonError for unknown fields and values of another type."""
        return BuildConfig.from_dict({"plugin_config": dict(config)}).plugin_config

    def to_dict(self) -> dict[str, Any]:
        return {f.name: _plain(getattr(self, f.name)) for f in fields(self)}


@dataclass
class BuildConfig:
    """What tenon.compile and tenon.LLM build of a checkpoint, in the names of TensorRT-LLM.

    >>> tenon.compile("model.gguf", build_config=tenon.BuildConfig(max_seq_len=4096, gather_context_logits=True))

    They raise TenonError for what is not supported, with the field and the reason.
    """

    max_input_len: int = 1024
    max_seq_len: int | None = None
    opt_batch_size: int = 8
    max_batch_size: int = 2048
    max_beam_width: int = 1
    max_num_tokens: int = 8192
    opt_num_tokens: int | None = None
    max_prompt_embedding_table_size: int = 0
    kv_cache_type: str | None = None
    gather_context_logits: bool = False
    gather_generation_logits: bool = False
    strongly_typed: bool = True
    force_num_profiles: int | None = None
    profiling_verbosity: str = "layer_names_only"
    enable_debug_output: bool = False
    max_draft_len: int = 0
    speculative_decoding_mode: str = "NONE"
    use_refit: bool = False
    input_timing_cache: str | None = None
    output_timing_cache: str | None = "model.cache"
    lora_config: dict[str, Any] = field(default_factory=dict)
    auto_parallel_config: dict[str, Any] = field(default_factory=dict)
    weight_sparsity: bool = False
    weight_streaming: bool = False
    plugin_config: PluginConfig = field(default_factory=PluginConfig)
    use_strip_plan: bool = False
    max_encoder_input_len: int = 1024
    dry_run: bool = False
    visualize_network: str | None = None
    monitor_memory: bool = False
    use_mrope: bool = False

    @classmethod
    def from_dict(cls, config: Mapping[str, Any], plugin_config: PluginConfig | None = None) -> BuildConfig:
        """Fields that are missing keep their standard values; plugin_config replaces that of `config`. Raises TenonError for unknown
        fields, with the nearest name, and values of another type.
        """
        plain = {name: value.to_dict() if isinstance(value, PluginConfig) else _plain(value) for name, value in config.items()}
        return cls._read(json.dumps(plain), "BuildConfig", plugin_config)

    @classmethod
    def from_json_file(cls, config_file: str | os.PathLike[str], plugin_config: PluginConfig | None = None) -> BuildConfig:
        """The same of a file: an object with these fields, or with such an object as `build_config`. Errors name its lines."""
        with open(config_file, encoding="utf-8") as file:
            return cls._read(file.read(), os.fspath(config_file), plugin_config)

    @classmethod
    def _read(cls, text: str, place: str, plugin_config: PluginConfig | None) -> BuildConfig:
        values = json.loads(_read_build_config(text, place))
        values["plugin_config"] = plugin_config or PluginConfig(**values["plugin_config"])
        return cls(**values)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        own = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        return own | {"plugin_config": self.plugin_config.to_dict()}


def source_of(config: BuildConfig | str | os.PathLike[str] | None) -> tuple[str, str]:
    """A file, and text in its place."""
    if config is None:
        return "", ""
    return ("", json.dumps(config.to_dict())) if isinstance(config, BuildConfig) else (os.fspath(config), "")
