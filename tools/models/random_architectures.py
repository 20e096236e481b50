# SPDX-License-Identifier: Apache-2.0
"""Small random networks of architectures that transformers knows and model_families.py does not, drawn by a seed.

A kind's architectures are those of transformers' own mapping for its task. Of each the default configuration is taken and every
width, depth and count in it, nested ones too, is made small. What cannot be made small so, or does not run, is passed over by name.
"""

from __future__ import annotations

import inspect
import random
import re
from collections.abc import Callable, Iterator

import numpy
import torch
import transformers
from model_cases import TEXT_AXES, Arrays, Case, pixels, random_generator, text_samples
from torch import nn
from transformers.models.auto import configuration_auto, modeling_auto

KINDS = {
    "encoder": (7, "MODEL_FOR_MASKED_LM_MAPPING_NAMES", "AutoModelForMaskedLM"),
    "decoder": (7, "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES", "AutoModelForCausalLM"),
    "vision": (5, "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES", "AutoModelForImageClassification"),
    "detection": (3, "MODEL_FOR_OBJECT_DETECTION_MAPPING_NAMES", "AutoModelForObjectDetection"),
    "speech": (3, "MODEL_FOR_CTC_MAPPING_NAMES", "AutoModelForCTC"),
}
KNOWN = set(
    "bert distilbert roberta albert t5 gpt2 llama qwen2 opt vit swin clip resnet mobilenet_v2 efficientnet convnext whisper".split()
)
VOCABULARY = 104
SIDE = 64
WAVE = (2400, 3200)
FRAMES = (64, 96)
MOST_WEIGHTS = 12_000_000


# ---------------------------------------------------------------- configurations

WIDTH, HEADS, HEAD_WIDTH, INNER, DEPTH = 32, 4, 8, 48, 2
# The first expression that matches a field's name says its value; a field that none matches stays.
SMALL: list[tuple[str, int]] = [
    (r"vocab_size$", VOCABULARY),
    (r"^(pad|bos|sep|cls|unk|mask|decoder_start)_token_id$", 0),
    (r"^eos_token_id$", 1),
    (r"(num_key_value_heads|num_kv_heads|kv_heads|num_query_groups)$", 2),
    (r"(num|n)_(attention_)?heads?$|attention_heads$|^num_attn_heads$|^heads$|^n_head$", HEADS),
    (r"(head_dim|head_size|d_kv|attention_head_size|qk_nope_head_dim|qk_rope_head_dim|v_head_dim|attention_dim)$", HEAD_WIDTH),
    (r"(intermediate_size|ffn_dim|_ffn_size|d_ff|inner_dim|feed_forward_size|n_inner|ffn_hidden_size|dim_feedforward|d_inner)$", INNER),
    (r"(num_.*layers|n_layers?|encoder_layers|decoder_layers|num_blocks|layers)$", DEPTH),
    (r"(num_local_experts|num_experts|n_routed_experts|moe_num_experts)$", 4),
    (r"(num_experts_per_tok|moe_k|moe_topk|n_group|topk_group)$", 2),
    (r"(max_position_embeddings|n_positions|max_source_positions|max_target_positions|n_ctx)$", 256),
    (r"(q_lora_rank|kv_lora_rank|embedding_size|embedding_dim|emb_size)$", 16),
    (r"(hidden_size|d_model|hidden_dim|n_embd|embed_dim|encoder_hidden_dim|emb_dim|projection_dim|hidden_channels|^dim)$", WIDTH),
    (r"image_size$", SIDE),
    (r"patch_size$", 8),
    (r"(num_queries|num_proposals|num_denoising)$", 12),
    (r"(num_conv_pos_embeddings)$", 16),
    (r"(conv_depthwise_kernel_size)$", 7),
    (r"(num_labels)$", 5),
]
# What leaves the widths as they are, for those that do not fit together when each is made small by itself.
SHALLOW = [each for each in SMALL if each[1] in (DEPTH, VOCABULARY, SIDE) or "_id" in each[0] or "labels" in each[0]]
LISTS: list[tuple[str, Callable[[int, int], int]]] = [
    (r"(depths|num_blocks|layers)$", lambda value, place: 1),
    (r"(num_heads|num_attention_heads)$", lambda value, place: 2),
    (
        r"(hidden_sizes|embed_dims|widths|dims|embed_dim|encoder_hidden_dim|conv_dim|neck_hidden_sizes|encoder_in_channels|decoder_in_channels)$",
        None,
    ),
]


def shrink(config: transformers.PretrainedConfig, fields: list, lists: list) -> None:
    """Makes a configuration and those inside it small, in place."""
    for name, value in list(vars(config).items()):
        if isinstance(value, transformers.PretrainedConfig):
            shrink(value, fields, lists)
        elif isinstance(value, bool) or value is None or name.startswith("_"):
            continue
        elif isinstance(value, int):
            wanted = next((small for pattern, small in fields if re.search(pattern, name)), value)
            put(config, name, wanted if name.endswith("_id") else min(value, wanted))
        elif isinstance(value, list | tuple) and value and all(type(each) is int for each in value):
            put(config, name, small_list(name, value, lists))


def small_list(name: str, values: list[int] | tuple[int, ...], lists: list) -> list[int]:
    for pattern, made in lists:
        if re.search(pattern, name):
            return [min(each, made(each, place) if made else 16 * (1 + (each > min(values)))) for place, each in enumerate(values)]
    return list(values)


def put(config: transformers.PretrainedConfig, name: str, value: object) -> None:
    """Some fields say what follows from others and take no value."""
    try:
        setattr(config, name, value)
    except (AttributeError, NotImplementedError, ValueError, TypeError):
        pass


def replace_backbone(config: transformers.PretrainedConfig) -> None:
    """A small backbone of transformers itself in the place of one that another package has."""
    if getattr(getattr(config, "backbone_config", None), "model_type", "") == "timm_backbone":
        sizes = {"embedding_size": 16, "hidden_sizes": [16, 32, 32, 32], "depths": [1] * 4}
        put(config, "backbone_config", transformers.ResNetConfig(**sizes, out_features=["stage2", "stage3", "stage4"]))


def small_config(kind: str, model_type: str, narrow: bool) -> transformers.PretrainedConfig:
    config = transformers.AutoConfig.for_model(model_type)
    for each in (config, *(value for value in vars(config).values() if isinstance(value, transformers.PretrainedConfig))):
        put(each, "use_timm_backbone", False)
    shrink(config, SMALL if narrow else SHALLOW, LISTS if narrow else LISTS[:1])
    replace_backbone(config)
    put(config, "use_cache", False)
    if getattr(config, "vocab_size", 0) is None:
        config.vocab_size = VOCABULARY
    if kind in ("vision", "detection"):
        config.num_labels = 5
    return config


# ---------------------------------------------------------------- cases


def feature_width(config: transformers.PretrainedConfig) -> int:
    """Numbers a frame, by whichever name the configuration or one inside it has for them."""
    configs = (config, *(value for value in vars(config).values() if isinstance(value, transformers.PretrainedConfig)))
    names = ("feature_projection_input_dim", "input_dim", "num_mel_bins", "input_feat_per_channel")
    return next((width for name in names for each in configs if (width := getattr(each, name, None))), 80)


def samples_of(kind: str, network: nn.Module) -> tuple[list[Arrays], dict[str, dict[int, str]]]:
    """Two samples of different shapes, and the axes in which they differ."""
    taken = inspect.signature(network.forward).parameters
    if kind in ("encoder", "decoder"):
        samples = text_samples(VOCABULARY, kind == "decoder", padding=0)[:2]
        if "attention_mask" not in taken:
            samples = [{"input_ids": each["input_ids"]} for each in samples]
        return samples, {name: TEXT_AXES for name in samples[0]}
    if kind in ("vision", "detection"):
        return [{"pixel_values": pixels(k, 2 + k, 3, SIDE, SIDE)} for k in (0, 1)], {"pixel_values": {0: "batch"}}
    if "input_values" in taken:
        waves = [random_generator(k).standard_normal((2, length), numpy.float32) for k, length in enumerate(WAVE)]
        return [{"input_values": wave} for wave in waves], {"input_values": {1: "samples"}}
    width = feature_width(network.config)
    features = [random_generator(k).standard_normal((2, length, width), numpy.float32) for k, length in enumerate(FRAMES)]
    return [{network.main_input_name: each} for each in features], {network.main_input_name: {1: "frames"}}


def outputs_of(network: nn.Module, sample: Arrays) -> list[str]:
    """The names of the results that are tensors, at most three."""
    with torch.no_grad():
        found = network(**{name: torch.from_numpy(value) for name, value in sample.items()})
    return [name for name, value in found.items() if isinstance(value, torch.Tensor) and value.dtype.is_floating_point][:3]


def case_of(kind: str, model_type: str) -> Case:
    """Narrow and shallow; only shallow where the narrow one does not run. Raises what the narrow one raised where neither does."""
    try:
        return case_with(kind, model_type, small_config(kind, model_type, narrow=True))
    except Exception as error:  # noqa: BLE001  a network may raise anything
        try:
            return case_with(kind, model_type, small_config(kind, model_type, narrow=False))
        except Exception:  # noqa: BLE001
            raise error from None


def case_with(kind: str, model_type: str, config: transformers.PretrainedConfig) -> Case:
    torch.manual_seed(0)
    network = getattr(transformers, KINDS[kind][2]).from_config(config, attn_implementation="eager")
    weights = sum(each.numel() for each in network.parameters())
    if weights > MOST_WEIGHTS:
        raise ValueError(f"{weights} weights where {MOST_WEIGHTS} are allowed: its configuration does not become small")
    network.eval()
    samples, axes = samples_of(kind, network)
    for each in network.modules():  # where a config asks for a cache of its own
        if hasattr(each, "config"):
            put(each.config, "use_cache", False)
    return Case(network, axes, outputs_of(network, samples[0]), samples)


def drawn(seed: int) -> Iterator[tuple[str, list[str], int]]:
    """For each kind its architectures in the order drawn, and how many are wanted."""
    classes = configuration_auto.CONFIG_MAPPING_NAMES
    taken: set[str] = set(KNOWN)
    for kind, (count, mapping, _) in KINDS.items():
        names = sorted(name for name in getattr(modeling_auto, mapping) if name in classes and name not in taken)
        random.Random(f"{seed} {kind}").shuffle(names)
        yield kind, names, count
        taken |= set(names)
