# SPDX-License-Identifier: Apache-2.0
"""Small whole models, each with other things in it: what damaged files and engine fixtures are made of."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def constant(name: str, values: object, dtype: type = np.float32) -> TensorProto:
    return numpy_helper.from_array(np.array(values, dtype), name)


def model_of(nodes: list, inputs: dict, outputs: list[str], constants: list = (), functions: list = ()) -> bytes:
    graph = helper.make_graph(
        nodes,
        "damaged",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        list(constants),
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=list(functions)).SerializeToString()


def perceptron() -> bytes:
    dice = np.random.default_rng(1)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Add", ["h", "b"], ["s"]),
        helper.make_node("Gelu", ["s"], ["g"], approximate="tanh"),
        helper.make_node("LayerNormalization", ["g", "c", "b"], ["n"], axis=-1, epsilon=1e-5),
        helper.make_node("Softmax", ["n"], ["y"], axis=-1),
    ]
    weights = [constant("w", dice.standard_normal((8, 6))), constant("b", dice.standard_normal(6)), constant("c", np.ones(6))]
    return model_of(nodes, {"x": ["n", 8]}, ["y"], weights)


def images() -> bytes:
    dice = np.random.default_rng(2)
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1], strides=[2, 2], kernel_shape=[3, 3]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["p"], kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1),
        helper.make_node("Resize", ["p", "", "scales"], ["u"], mode="linear"),
        helper.make_node("GlobalAveragePool", ["u"], ["a"]),
        helper.make_node("Flatten", ["a"], ["y"]),
    ]
    weights = [constant("w", dice.standard_normal((4, 3, 3, 3))), constant("b", dice.standard_normal(4)), constant("scales", [1, 1, 2, 2])]
    return model_of(nodes, {"x": ["n", 3, 16, 16]}, ["y"], weights)


def shapes() -> bytes:
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "first"], ["n"]),
        helper.make_node("Concat", ["n", "two", "rest"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["r"]),
        helper.make_node("Transpose", ["r"], ["t"], perm=[0, 2, 1]),
        helper.make_node("Slice", ["t", "first", "two", "two"], ["s"]),
        helper.make_node("ReduceMean", ["s", "first"], ["m"], keepdims=0),
        helper.make_node("Pad", ["m", "pads"], ["y"]),
    ]
    numbers = {"first": [0], "two": [2], "rest": [-1], "pads": [1, 0, 0, 1]}
    return model_of(nodes, {"x": ["n", 8]}, ["y"], [constant(k, v, np.int64) for k, v in numbers.items()])


def control() -> bytes:
    def body(name: str, nodes: list, inputs: list, outputs: list) -> onnx.GraphProto:
        def info(value: tuple) -> onnx.ValueInfoProto:
            return helper.make_tensor_value_info(value[0], value[1], value[2])

        return helper.make_graph(nodes, name, [info(v) for v in inputs], [info(v) for v in outputs])

    number, row = (TensorProto.INT64, []), (TensorProto.FLOAT, ["n", 4])
    truth = (TensorProto.BOOL, [])
    turn = body(
        "turn",
        [
            helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Add", ["v", "x"], ["next"]),
            helper.make_node("Abs", ["v"], ["row"]),
        ],
        [("i", *number), ("go", *truth), ("v", *row)],
        [("on", *truth), ("next", *row), ("row", *row)],
    )
    yes = body("yes", [helper.make_node("Own", ["last"], ["a"], domain="own")], [], [("a", *row)])
    no = body("no", [helper.make_node("Neg", ["last"], ["a"])], [], [("a", *row)])
    nodes = [
        helper.make_node("Loop", ["trips", "", "x"], ["last", "rows"], body=turn),
        helper.make_node("ReduceMax", ["last"], ["most"], keepdims=0),
        helper.make_node("Greater", ["most", "zero"], ["large"]),
        helper.make_node("If", ["large"], ["y"], then_branch=yes, else_branch=no),
        helper.make_node("ReduceSum", ["rows"], ["z"], keepdims=0),
    ]
    own = helper.make_function("own", "Own", ["a"], ["b"], [helper.make_node("Exp", ["a"], ["b"])], [helper.make_opsetid("", 21)])
    return model_of(nodes, {"x": ["n", 4]}, ["y", "z"], [constant("trips", 3, np.int64), constant("zero", 0)], [own])


def defaults() -> bytes:
    """Inputs with a default, and random nodes."""
    nodes = [
        helper.make_node("RandomNormalLike", ["x"], ["noise"], seed=3.0),
        helper.make_node("Mul", ["noise", "w"], ["scaled"]),
        helper.make_node("Reshape", ["scaled", "to"], ["y"]),
    ]
    weights = [constant("w", [1, 2, 3, 4]), constant("to", [2, -1], np.int64)]
    model = onnx.load_from_string(model_of(nodes, {"x": [2, 4], "w": ["n"]}, ["y"], weights))
    model.graph.input.append(helper.make_tensor_value_info("to", TensorProto.INT64, [2]))
    return model.SerializeToString()


def cache(scale: float = 1) -> bytes:
    """With --state past=present:16 --state sum=total: rows that a run appends to, and a sum that it replaces."""
    nodes = [
        helper.make_node("Concat", ["past", "x"], ["present"], axis=1),
        helper.make_node("Mul", ["present", "scale"], ["scaled"]),
        helper.make_node("Softmax", ["scaled"], ["y"], axis=-1),
        helper.make_node("ReduceSum", ["x", "rows"], ["row"], keepdims=0),
        helper.make_node("Add", ["sum", "row"], ["total"]),
    ]
    inputs = {"x": [2, "n", 4], "past": [2, "p", 4], "sum": [2, 4]}
    weights = [constant("scale", np.full(4, scale)), constant("rows", [1], np.int64)]
    return model_of(nodes, inputs, ["y", "present", "total"], weights)


def whole_models() -> dict[str, bytes]:
    return {"perceptron": perceptron(), "images": images(), "shapes": shapes(), "control": control(), "defaults": defaults()}
