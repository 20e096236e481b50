# SPDX-License-Identifier: Apache-2.0
"""Models of one op with random sizes: what a kernel is held to that no table was made for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    import torch

OPSET = 18
MOST_FLOPS = 4e9
FEWEST_FLOPS = 1e7  # below, a run is all call


@dataclass
class Op:
    title: str
    kind: str
    input: list[int]
    weight: list[int]
    attributes: dict[str, list[int] | int]
    flops: float


def size(random: np.random.Generator, least: int, most: int) -> int:
    """Log-uniform, so that small sizes come as often as large ones."""
    return int(round(np.exp(random.uniform(np.log(least), np.log(most)))))


def gemm(random: np.random.Generator) -> Op:
    rows, depth, columns = size(random, 1, 1024), size(random, 32, 4096), size(random, 32, 4096)
    return Op(f"GEMM {rows} x {depth} x {columns}", "MatMul", [rows, depth], [depth, columns], {}, 2.0 * rows * depth * columns)


def convolution(random: np.random.Generator) -> Op:
    batch, image, kernel = int(random.integers(1, 5)), size(random, 7, 112), int(random.choice([1, 3, 3, 5, 7]))
    stride, depthwise = int(random.choice([1, 1, 2])), bool(random.random() < 0.2)
    inputs = 8 * size(random, 1, 64)
    outputs = inputs if depthwise else 8 * size(random, 1, 64)
    groups = inputs if depthwise else 1
    result = (image + 2 * (kernel // 2) - kernel) // stride + 1
    attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [kernel // 2] * 4, "group": groups}
    how = f"{kernel} x {kernel}, stride {stride}{', depthwise' if depthwise else ''}"
    title = f"convolution {how}, {batch} x {inputs} x {image} x {image} to {outputs}"
    flops = 2.0 * batch * outputs * result**2 * kernel**2 * inputs / groups
    return Op(title, "Conv", [batch, inputs, image, image], [outputs, inputs // groups, kernel, kernel], attributes, flops)


DRAWN = {"gemms": gemm, "convs": convolution}


def ops(what: str, seed: int, count: int = 10) -> list[Op]:
    """what: gemms or convs. One seed, one list; ops that take too long, or next to nothing, are drawn again."""
    random, out = np.random.default_rng(seed), []
    while len(out) < count:
        op = DRAWN[what](random)
        if FEWEST_FLOPS <= op.flops <= MOST_FLOPS:
            out.append(op)
    return out


def write(op: Op, path: Path, seed: int = 1) -> None:
    weight = np.random.default_rng(seed).standard_normal(op.weight, np.float32) / np.float32(np.sqrt(np.prod(op.weight) / max(op.weight)))
    node = helper.make_node(op.kind, ["x", "weight"], ["y"], **op.attributes)
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, op.input)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "op", [x], [y], [numpy_helper.from_array(weight, "weight")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9), path)


def module_of(path: str) -> torch.nn.Module:
    """The op of such a model as PyTorch's module."""
    import torch

    graph = onnx.load(path).graph
    weight = torch.from_numpy(numpy_helper.to_array(graph.initializer[0]).copy())
    report = {each.name: helper.get_attribute_value(each) for each in graph.node[0].attribute}
    if graph.node[0].op_type == "MatMul":
        module = torch.nn.Linear(*weight.shape, bias=False)
        weight = weight.T.contiguous()
    else:
        inputs, kernel = weight.shape[1] * report["group"], report["kernel_shape"]
        module = torch.nn.Conv2d(inputs, weight.shape[0], kernel, report["strides"], report["pads"][:2], groups=report["group"], bias=False)
    with torch.no_grad():
        module.weight.copy_(weight)
    return module
