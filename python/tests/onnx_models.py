# SPDX-License-Identifier: Apache-2.0
"""Small ONNX models for the tests, and the judge: Tenon's reference, before and after."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
from tenon.rewriting import Graph

F, B, I64 = onnx.TensorProto.FLOAT, onnx.TensorProto.BOOL, onnx.TensorProto.INT64


def model(nodes, inputs, outputs, initializers=(), opset=18, functions=(), domains=()):
    """inputs, outputs: {name: (type, shape)}; initializers: {name: array}."""
    ports = [[oh.make_tensor_value_info(n, t, s) for n, (t, s) in side.items()] for side in (inputs, outputs)]
    weights = [onh.from_array(np.asarray(v), n) for n, v in dict(initializers).items()]
    graph = oh.make_graph(nodes, "g", *ports, weights)
    opsets = [oh.make_opsetid("", opset), *[oh.make_opsetid(d, 1) for d in domains]]
    return oh.make_model(graph, opset_imports=opsets, ir_version=9, functions=list(functions))


def nots(count, outputs=("y",)):
    """x -> Not -> t1 -> Not -> ... -> y"""
    names = ["x", *[f"t{k}" for k in range(1, count)], "y"]
    nodes = [oh.make_node("Not", [a], [b], name=f"not_{k}") for k, (a, b) in enumerate(zip(names, names[1:], strict=False))]
    return model(nodes, {"x": (B, [4])}, {o: (B, [4]) for o in outputs})


def nots_with_readers():
    """Two Nots; bodies of an If read the value between them."""
    reads, other = (
        oh.make_graph([oh.make_node(op, ["t1"], [n])], n, [], [oh.make_tensor_value_info(n, B, [4])])
        for op, n in (("Identity", "a"), ("Not", "b"))
    )
    nodes = [
        oh.make_node("Not", ["x"], ["t1"]),
        oh.make_node("Not", ["t1"], ["y"]),
        oh.make_node("If", ["c"], ["z"], then_branch=reads, else_branch=other),
    ]
    return model(nodes, {"x": (B, [4]), "c": (B, [])}, {"y": (B, [4]), "z": (B, [4])})


def inputs_of(graph, seed=0):
    rng = np.random.default_rng(seed)
    out = {}
    for value in graph.inputs:
        shape = [d if isinstance(d, int) else 3 for d in value.shape]
        if value.dtype == "bool":
            out[value.name] = rng.integers(0, 2, shape).astype(bool)
        elif value.dtype.startswith(("i", "u")):
            out[value.name] = rng.integers(0, 3, shape)
        else:
            out[value.name] = rng.normal(size=shape)
    return out


def same(before, after, tolerance=1e-6):
    """Both models say the same, judged by Tenon's reference."""
    a, b = (Graph.from_onnx(m.SerializeToString()) for m in (before, after))
    given = inputs_of(a)
    old, new = a.evaluate(given), b.evaluate(given)
    assert list(old) == list(new)
    for name, expected in old.items():
        np.testing.assert_allclose(new[name], expected, rtol=tolerance, atol=tolerance)


def ops(m):
    return [n.op_type for n in m.graph.node]
