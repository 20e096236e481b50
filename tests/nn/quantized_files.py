# SPDX-License-Identifier: Apache-2.0
"""Writes small folders of Hugging Face whose layers are quantized as AutoAWQ and AutoGPTQ do, and the same in f32."""

from __future__ import annotations

import json
from pathlib import Path

import checkpoint_files as files
import numpy as np

AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]
AWQ = {"quant_method": "awq", "version": "gemm", "bits": 4, "group_size": 32, "zero_point": True}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 32, "sym": False, "desc_act": False}


def words(codes: np.ndarray, bits: int, order: list[int] | None = None) -> np.ndarray:
    """Codes [rows, columns], 32 / bits neighbors of a row in an i32: the k-th lowest bits are of the one that `order` says."""
    parts = codes.astype(np.uint32).reshape(len(codes), -1, 32 // bits)
    order = order or list(range(32 // bits))
    return np.bitwise_or.reduce([parts[:, :, n] << np.uint32(bits * k) for k, n in enumerate(order)]).view(np.int32)


def layer(shape: tuple[int, int], how: dict, random: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The tensors of a layer of random codes, by their last names, and the weight that they are."""
    bits, (outputs, inputs) = how["bits"], shape
    group = inputs if how["group_size"] == -1 else how["group_size"]
    groups = np.arange(inputs) // group
    if how.get("desc_act"):
        groups = random.permutation(groups)
    codes = random.integers(0, 1 << bits, (inputs, outputs))
    zeros = random.integers(1, 1 << bits, (inputs // group, outputs))
    if how.get("sym"):
        zeros[:] = 1 << bits - 1
    scales = random.uniform(0.2, 1, zeros.shape).astype(np.float16) * np.float16(2.0 ** (1 - bits))
    weight = (codes - zeros[groups]) * scales[groups].astype(np.float32)
    if how["quant_method"] == "awq":
        packed = {"qweight": words(codes, bits, AWQ_ORDER), "qzeros": words(zeros, bits, AWQ_ORDER)}
    else:
        stored = zeros if how.get("checkpoint_format") == "gptq_v2" else zeros - 1
        packed = {"qweight": words(codes.T, bits).T.copy(), "qzeros": words(stored, bits), "g_idx": groups.astype(np.int32)}
    return packed | {"scales": scales}, weight.T.astype(np.float32)


def write_quantized(folder: Path, how: dict, changed: dict[str, np.ndarray] | None = None) -> Path:
    """A folder of such layers, and FOLDER-f32 beside it with the same model. changed: tensors, by their full names."""
    random, plain = np.random.default_rng(3), folder.with_name(folder.name + "-f32")
    tensors, decoded = {}, {}
    for name, weight in files.weights().items():
        if "_proj" not in name:
            tensors[f"{name}.weight"] = weight
            continue
        packed, decoded[name] = layer(weight.shape, how, random)
        tensors |= {f"{name}.{end}": t for end, t in packed.items()}
    for path in (folder, plain):
        path.mkdir(exist_ok=True)
        files.write_folder(path, changed=decoded)
    files.write_safetensors(folder / "model.safetensors", tensors | (changed or {}))
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": how}))
    return plain
