# SPDX-License-Identifier: Apache-2.0
"""Writes models of thousands of point-wise nodes: `tenon build` must compile them in linear time.

python tools/models/make_chains.py CASE NODES FILE

CASE: simple   a chain of Add, Mul, Relu and Tanh on two inputs
      harsh    a chain of many operators, some of them transcendental, each with a constant of its own
      tree     pairs of nodes are joined until one is left
      outputs  a chain of which 1,000 nodes are graph outputs (a tenth of the nodes where there are fewer than 10,000)
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

SHAPE = [4, 64]
UNARY = ["Tanh", "Sigmoid", "Erf", "Sin", "Cos", "Atan", "Abs", "Neg", "Relu", "Softplus", "Softsign", "HardSwish", "Floor", "Sign"]
BINARY = ["Add", "Sub", "Mul", "Max", "Min"]


class Writer:
    """A graph over x and y, f32[4,64], and w, f32[64]."""

    def __init__(self) -> None:
        self.random = random.Random(0)
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []

    def node(self, op: str, *operands: str) -> str:
        self.nodes.append(helper.make_node(op, operands, [f"v{len(self.nodes)}"]))
        return self.nodes[-1].output[0]

    def constant(self) -> str:
        value = numpy.float32(self.random.uniform(0.5, 1.5))
        self.weights.append(numpy_helper.from_array(numpy.array(value), f"c{len(self.weights)}"))
        return self.weights[-1].name

    def harsh_step(self, value: str) -> str:
        if self.random.random() < 0.4:
            return self.node(self.random.choice(UNARY), value)
        return self.node(self.random.choice(BINARY), value, self.constant())

    def model(self, outputs: list[str]) -> onnx.ModelProto:
        def tensor(name: str, shape: list[int]) -> onnx.ValueInfoProto:
            return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

        inputs = [tensor("x", SHAPE), tensor("y", SHAPE), tensor("w", SHAPE[1:])]
        graph = helper.make_graph(self.nodes, "chain", inputs, [tensor(o, SHAPE) for o in outputs], self.weights)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def simple(w: Writer, nodes: int) -> list[str]:
    last = "x"
    for k in range(nodes):
        last = [lambda v: w.node("Add", v, "w"), lambda v: w.node("Tanh", v), lambda v: w.node("Mul", v, "y"), lambda v: w.node("Relu", v)][
            k % 4
        ](last)
    return [last]


def harsh(w: Writer, nodes: int) -> list[str]:
    last = w.node("Add", "x", "y")
    while len(w.nodes) < nodes:
        last = w.harsh_step(last)
    return [last]


def tree(w: Writer, nodes: int) -> list[str]:
    """Of the nodes a third are leaves, a third joins, and the rest stand in between."""
    level = [w.harsh_step(("x", "y", "w")[k % 3]) for k in range(nodes // 3)]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [w.harsh_step(w.node(w.random.choice(BINARY), a, b)) for a, b in pairs] + level[len(level) // 2 * 2 :]
    return [w.node("Add", level[0], "x")]


def outputs(w: Writer, nodes: int) -> list[str]:
    apart = max(nodes // 1000, 10)
    last, returned = "x", []
    while len(w.nodes) < nodes:
        last = w.harsh_step(last)
        if len(w.nodes) % apart == 0:
            returned.append(last)
    return returned


CASES = {"simple": simple, "harsh": harsh, "tree": tree, "outputs": outputs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("case", choices=CASES)
    parser.add_argument("nodes", type=int)
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    writer = Writer()
    model = writer.model(CASES[options.case](writer, options.nodes))
    options.file.write_bytes(model.SerializeToString())


if __name__ == "__main__":
    main()
