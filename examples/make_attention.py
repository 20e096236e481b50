# SPDX-License-Identifier: Apache-2.0
"""Writes examples/attention.onnx: one attention layer with a cache of keys and values, as exporters of decoders write it."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

WIDTH = 16


def weights(name: str) -> TensorProto:
    random = np.random.default_rng(len(name))
    return numpy_helper.from_array(random.normal(0, 0.3, (WIDTH, WIDTH)).astype(np.float32), name)


def model() -> onnx.ModelProto:
    nodes = [
        helper.make_node("MatMul", ["x", "w_query"], ["query"], "query"),
        helper.make_node("MatMul", ["x", "w_key"], ["key"], "key"),
        helper.make_node("MatMul", ["x", "w_value"], ["value"], "value"),
        helper.make_node("Concat", ["past_key", "key"], ["present_key"], "keys", axis=1),
        helper.make_node("Concat", ["past_value", "value"], ["present_value"], "values", axis=1),
        helper.make_node("Transpose", ["present_key"], ["key_columns"], "transpose", perm=[0, 2, 1]),
        helper.make_node("MatMul", ["query", "key_columns"], ["scores"], "scores"),
        helper.make_node("Softmax", ["scores"], ["shares"], "softmax", axis=-1),
        helper.make_node("MatMul", ["shares", "present_value"], ["y"], "mix"),
    ]

    def port(name: str, rows: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, rows, WIDTH])

    inputs = [port("x", "new"), port("past_key", "past"), port("past_value", "past")]
    outputs = [port("y", "new"), port("present_key", "past + new"), port("present_value", "past + new")]
    graph = helper.make_graph(nodes, "attention", inputs, outputs, [weights("w_query"), weights("w_key"), weights("w_value")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="tenon examples")


if __name__ == "__main__":
    made = model()
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, Path(__file__).with_name("attention.onnx"))
