# SPDX-License-Identifier: Apache-2.0
"""Exports a language model in the shape of LLaMA-7B (32 layers, 27 GB in fp32) without its weights ever being there.

python tools/models/make_large_model.py FOLDER

PyTorch traces the network with tensors that have shapes and no elements; the weights become external data in FOLDER/weights.bin, a file
that is one hole and takes no space. What reads a weight reads zeros. About a minute and 3 GB of memory.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy
import onnx_ir
import torch
import transformers
from torch._subclasses.fake_tensor import FakeTensorMode

SHAPE = {"hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000}
PAGE = 4096


def exported() -> onnx_ir.Model:
    config = transformers.LlamaConfig(**SHAPE, use_cache=False, attn_implementation="eager")
    dynamic = {"input_ids": {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}}
    with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
        network = transformers.LlamaForCausalLM(config).eval()
        ids = {"input_ids": torch.ones(1, 16, dtype=torch.int64)}
        program = torch.onnx.export(network, (), kwargs=ids, dynamo=True, optimize=False, opset_version=18, dynamic_shapes=dynamic)
    return program.model


def rotary_frequencies() -> numpy.ndarray:
    """The one buffer that is no weight: 10000^(-2i/d)."""
    size = SHAPE["hidden_size"] // SHAPE["num_attention_heads"]
    return (10000.0 ** (-numpy.arange(0, size, 2) / size)).astype(numpy.float32)


def point_at_file(model: onnx_ir.Model, folder: Path) -> int:
    """Makes every weight a piece of weights.bin; returns the bytes."""
    end = 0
    for name, value in model.graph.initializers.items():
        held = value.const_value
        if name.endswith("inv_freq"):
            value.const_value = onnx_ir.tensor(rotary_frequencies(), name=name)
        elif held.dtype == onnx_ir.DataType.FLOAT and math.prod(held.shape) > 64:
            size = int(math.prod(held.shape) * held.dtype.itemsize)
            value.const_value = onnx_ir.ExternalTensor("weights.bin", end, size, held.dtype, shape=held.shape, name=name, base_dir=folder)
            end += -(-size // PAGE) * PAGE
    return end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    model = exported()
    size = point_at_file(model, folder)
    with (folder / "weights.bin").open("wb") as weights:
        weights.truncate(size)
    (folder / "llama7b.onnx").write_bytes(onnx_ir.to_proto(model).SerializeToString())
    print(f"{folder / 'llama7b.onnx'}: {len(model.graph)} nodes, {size / 1e9:.1f} GB of weights by reference")


if __name__ == "__main__":
    main()
