# SPDX-License-Identifier: Apache-2.0
"""Writes small checkpoints of one LLaMA: a GGUF file and a Hugging Face folder with the same weights."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np

WIDTH, HEADS, KEY_HEADS, INNER, VOCABULARY, LAYERS, CONTEXT = 64, 4, 2, 96, 32, 2, 24
F32, F16 = 0, 1
LAYER = {
    "attn_norm": ("input_layernorm", (WIDTH,)),
    "attn_q": ("self_attn.q_proj", (WIDTH, WIDTH)),
    "attn_k": ("self_attn.k_proj", (WIDTH // 2, WIDTH)),
    "attn_v": ("self_attn.v_proj", (WIDTH // 2, WIDTH)),
    "attn_output": ("self_attn.o_proj", (WIDTH, WIDTH)),
    "ffn_norm": ("post_attention_layernorm", (WIDTH,)),
    "ffn_gate": ("mlp.gate_proj", (INNER, WIDTH)),
    "ffn_up": ("mlp.up_proj", (INNER, WIDTH)),
    "ffn_down": ("mlp.down_proj", (WIDTH, INNER)),
}


def weights() -> dict[str, np.ndarray]:
    """By the names of transformers; of f16, whose numbers both files hold."""
    random = np.random.default_rng(5)
    out = {"model.embed_tokens": (VOCABULARY, WIDTH), "model.norm": (WIDTH,)}
    out |= {f"model.layers.{k}.{theirs}": shape for k in range(LAYERS) for theirs, shape in LAYER.values()}
    return {name: random.normal(len(shape) == 1, 0.3, shape).astype(np.float16) for name, shape in out.items()}


def neighbors(rows: np.ndarray, heads: int) -> np.ndarray:
    """The rows of q or k as GGUF has them: the two of a rotated pair side by side."""
    size = rows.shape[0] // heads
    return rows.reshape(heads, 2, size // 2, -1).swapaxes(1, 2).reshape(rows.shape)


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf(metadata: dict[str, int | float | str | list[str]], tensors: dict[str, np.ndarray]) -> bytes:
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, value in metadata.items():
        out += text(key)
        if isinstance(value, str):
            out += struct.pack("<I", 8) + text(value)
        elif isinstance(value, list):
            out += struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(text, value))
        else:
            out += struct.pack("<II", 4, value) if isinstance(value, int) else struct.pack("<If", 6, value)
    data = b""
    for name, tensor in tensors.items():
        data += bytes(-len(data) % 32)
        sizes = tensor.shape[::-1]
        out += text(name) + struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes)
        out += struct.pack("<IQ", F16 if tensor.dtype == np.float16 else F32, len(data))
        data += tensor.tobytes()
    return out + bytes(-len(out) % 32) + data


def small_gguf(architecture: str = "llama", changed: dict | None = None, renamed: dict[str, str] | None = None) -> bytes:
    """changed: metadata, None: without it. renamed: tensors."""
    metadata = {
        "general.architecture": architecture,
        "llama.block_count": LAYERS,
        "llama.context_length": CONTEXT,
        "llama.embedding_length": WIDTH,
        "llama.feed_forward_length": INNER,
        "llama.attention.head_count": HEADS,
        "llama.attention.head_count_kv": KEY_HEADS,
        "llama.attention.layer_norm_rms_epsilon": 2.0**-17,
        "llama.rope.freq_base": 500.0,
    }
    have = weights()
    tensors = {"token_embd.weight": have["model.embed_tokens"], "output_norm.weight": have["model.norm"].astype(np.float32)}
    for k in range(LAYERS):
        for ours, (theirs, shape) in LAYER.items():
            w = have[f"model.layers.{k}.{theirs}"]
            if ours in ("attn_q", "attn_k"):
                w = neighbors(w, HEADS if ours == "attn_q" else KEY_HEADS)
            tensors[f"blk.{k}.{ours}.weight"] = w.astype(np.float32) if len(shape) == 1 else w
    metadata = {key: value for key, value in (metadata | (changed or {})).items() if value is not None}
    return gguf(metadata, {(renamed or {}).get(name, name): t for name, t in tensors.items()})


TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "{{ m.role[:1] }}:{{ m.content }};{% endfor %}{% if add_generation_prompt %}a:{% endif %}"
)


def write_language_model(folder: Path, template: str | None = TEMPLATE, context: int = 2000) -> None:
    """That folder with a tokenizer whose tokens are letters, and a chat template."""
    write_folder(folder, context)
    tokens = {character: id for id, character in enumerate("abcdefghijklmnopqrstuvwxyz:; ")}
    ends = [{"content": "</s>", "id": len(tokens), "special": True}]
    model = {"type": "BPE", "vocab": tokens, "merges": []}
    (folder / "tokenizer.json").write_text(json.dumps({"model": model, "decoder": {"type": "Fuse"}, "added_tokens": ends}))
    config = {"eos_token": "</s>"} | ({"chat_template": template} if template else {})
    (folder / "tokenizer_config.json").write_text(json.dumps(config))


def write_safetensors(file: Path, tensors: dict[str, np.ndarray]) -> None:
    """Of f16, f32 and i32."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        dtype = {"float16": "F16", "float32": "F32", "int32": "I32"}[tensor.dtype.name]
        header[name] = {"dtype": dtype, "shape": tensor.shape, "data_offsets": [len(data), len(data) + tensor.nbytes]}
        data += tensor.tobytes()
    packed = json.dumps(header).encode()
    file.write_bytes(struct.pack("<Q", len(packed)) + packed + data)


def write_adapter(folder: Path, tensors: dict[str, np.ndarray], config: dict | None = None) -> None:
    """An adapter of PEFT; tensors by "model.layers.0.self_attn.q_proj.lora_A.weight"."""
    folder.mkdir(exist_ok=True)
    (folder / "adapter_config.json").write_text(json.dumps(config or {"peft_type": "LORA", "r": 2, "lora_alpha": 4}))
    write_safetensors(folder / "adapter_model.safetensors", {f"base_model.model.{name}": t for name, t in tensors.items()})


def write_folder(folder: Path, context: int = CONTEXT, changed: dict[str, np.ndarray] | None = None) -> None:
    """config.json and model.safetensors. changed: weights in place of those of weights(), by the same names."""
    config = {
        "model_type": "llama",
        "num_hidden_layers": LAYERS,
        "max_position_embeddings": context,
        "hidden_size": WIDTH,
        "intermediate_size": INNER,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KEY_HEADS,
        "rms_norm_eps": 2.0**-17,
        "rope_theta": 500.0,
        "hidden_act": "silu",
    }
    (folder / "config.json").write_text(json.dumps(config))
    write_safetensors(folder / "model.safetensors", {f"{name}.weight": t for name, t in (weights() | (changed or {})).items()})
