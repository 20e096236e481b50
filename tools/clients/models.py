# SPDX-License-Identifier: Apache-2.0
"""A transformer as exporters write it, node by node: norms, heads and Gelu in their parts. For timing: small sizes, many layers."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh

HIDDEN, HEADS = 32, 4


class Writer:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.rng = np.random.default_rng(0)

    def __call__(self, op_type: str, *inputs: str, **attributes: object) -> str:
        name = f"{op_type.lower()}_{len(self.nodes)}"
        self.nodes.append(oh.make_node(op_type, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, array: object, dtype: type = np.float32) -> str:
        self.weights.append(onh.from_array(np.asarray(array, dtype), f"w_{len(self.weights)}"))
        return self.weights[-1].name

    def weight(self, *shape: int) -> str:
        return self.constant(self.rng.normal(0, 0.1, shape))

    def norm(self, x: str) -> str:
        centred = self("Sub", x, self("ReduceMean", x, self.constant([-1], np.int64)))
        variance = self("ReduceMean", self("Pow", centred, self.constant(2)), self.constant([-1], np.int64))
        scaled = self("Div", centred, self("Sqrt", self("Add", variance, self.constant(1e-5))))
        return self("Add", self("Mul", scaled, self.weight(HIDDEN)), self.weight(HIDDEN))

    def linear(self, x: str, rows: int, columns: int) -> str:
        return self("Add", self("MatMul", x, self.weight(rows, columns)), self.weight(columns))

    def heads(self, x: str) -> str:
        shape = self.constant([0, 0, HEADS, HIDDEN // HEADS], np.int64)
        return self("Transpose", self("Reshape", self.linear(x, HIDDEN, HIDDEN), shape), perm=[0, 2, 1, 3])

    def attention(self, x: str) -> str:
        q, k, v = (self.heads(x) for _ in range(3))
        scores = self("Div", self("MatMul", q, self("Transpose", k, perm=[0, 1, 3, 2])), self.constant((HIDDEN // HEADS) ** 0.5))
        mixed = self("MatMul", self("Softmax", self("Add", scores, "mask"), axis=-1), v)
        joined = self("Reshape", self("Transpose", mixed, perm=[0, 2, 1, 3]), self.constant([0, 0, HIDDEN], np.int64))
        return self.linear(joined, HIDDEN, HIDDEN)

    def gelu(self, x: str) -> str:
        one = self("Add", self("Erf", self("Div", x, self.constant(2**0.5))), self.constant(1))
        return self("Mul", self("Mul", x, one), self.constant(0.5))

    def layer(self, x: str) -> str:
        x = self.norm(self("Add", self.attention(x), x))
        return self.norm(self("Add", self.linear(self.gelu(self.linear(x, HIDDEN, 2 * HIDDEN)), 2 * HIDDEN, HIDDEN), x))


def transformer(nodes: int) -> onnx.ModelProto:
    """As many layers as give about that many nodes."""
    w = Writer()
    x = "x"
    while len(w.nodes) < nodes:
        x = w.layer(x)
    inputs = [
        oh.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["batch", "seq", HIDDEN]),
        oh.make_tensor_value_info("mask", onnx.TensorProto.FLOAT, ["batch", 1, 1, "seq"]),
    ]
    graph = oh.make_graph(w.nodes, "transformer", inputs, [oh.make_tensor_value_info(x, onnx.TensorProto.FLOAT, None)], w.weights)
    return oh.make_model(graph, opset_imports=[oh.make_opsetid("", 18)], ir_version=9)
