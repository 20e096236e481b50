# SPDX-License-Identifier: Apache-2.0
"""Inputs with a default, and the seed of random nodes."""

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as nh
import pytest
import tenon
from onnx import TensorProto
from tenon.rewriting import Graph


def scaled() -> bytes:
    """y = x * w, w = [1, 2, 3] where the caller gives none."""
    ports = [oh.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in "xwy"]
    weights = [nh.from_array(np.array([1, 2, 3], np.float32), "w")]
    graph = oh.make_graph([oh.make_node("Mul", ["x", "w"], ["y"])], "g", ports[:2], ports[2:], weights)
    return oh.make_model(graph, opset_imports=[oh.make_opsetid("", 18)], ir_version=9).SerializeToString()


def random_model() -> bytes:
    out = oh.make_tensor_value_info("y", TensorProto.FLOAT, [50])
    graph = oh.make_graph([oh.make_node("RandomNormal", [], ["y"], shape=[50])], "g", [], [out])
    return oh.make_model(graph, opset_imports=[oh.make_opsetid("", 18)], ir_version=9).SerializeToString()


X = np.array([1, 1, 2], np.float32)


def test_a_default_may_be_left_out_or_overridden():
    engine = tenon.compile(scaled())
    assert [(p.name, p.has_default) for p in engine.inputs] == [("x", False), ("w", True)]
    np.testing.assert_array_equal(engine.run({"x": X})["y"], X * [1, 2, 3])
    np.testing.assert_array_equal(engine.run({"x": X, "w": X})["y"], X * X)
    np.testing.assert_array_equal(engine.run({"x": X})["y"], X * [1, 2, 3])


def test_frozen_defaults_are_no_inputs():
    engine = tenon.compile(scaled(), freeze_defaults=True)
    assert [p.name for p in engine.inputs] == ["x"]
    with pytest.raises(tenon.TenonError, match="no such input"):
        engine.run({"x": X, "w": X})


def test_rewriting_keeps_defaults():
    graph = Graph.from_onnx(scaled())
    model = onnx.load_from_string(graph.to_onnx())
    assert [i.name for i in model.graph.input] == ["x", "w"]
    assert [i.name for i in model.graph.initializer] == ["w"]
    np.testing.assert_array_equal(graph.evaluate({"x": X})["y"], X * [1, 2, 3])
    np.testing.assert_array_equal(graph.evaluate({"x": X, "w": X})["y"], X * X)


def test_a_seed_repeats_a_run():
    engine = tenon.compile(random_model())
    first, again, other = (engine.run({}, seed=s)["y"] for s in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()
    assert (engine.run({})["y"] != engine.run({})["y"]).any()
