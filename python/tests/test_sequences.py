# SPDX-License-Identifier: Apache-2.0
"""Sequences are lists of arrays, an optional is its element or None, a map is a dict, texts are strings."""

import numpy as np
import onnx.helper as oh
import pytest
import tenon
from onnx import TensorProto

TENSOR = oh.make_tensor_type_proto(TensorProto.FLOAT, ["n"])
SEQUENCE = oh.make_sequence_type_proto(TENSOR)


def engine_of(tmp_path, nodes, inputs, outputs):
    ports = [[oh.make_value_info(n, t) for n, t in side.items()] for side in (inputs, outputs)]
    path = tmp_path / "m.onnx"
    opsets = [oh.make_opsetid("", 18), oh.make_opsetid("ai.onnx.ml", 3)]
    path.write_bytes(oh.make_model(oh.make_graph(nodes, "g", *ports), opset_imports=opsets, ir_version=9).SerializeToString())
    return tenon.compile(path)


A, B = np.array([1, 2], np.float32), np.array([3, 4, 5], np.float32)


@pytest.fixture
def inserting(tmp_path):
    node = oh.make_node("SequenceInsert", ["s", "x"], ["y"])
    return engine_of(tmp_path, [node], {"s": SEQUENCE, "x": TENSOR}, {"y": SEQUENCE})


def test_a_sequence_is_a_list(inserting):
    assert [(p.kind, p.dtype) for p in inserting.inputs] == [("sequence", "f32"), ("tensor", "f32")]
    assert repr(inserting.outputs[0]) == "<y: seq(f32[?])>"
    for check_memory in (False, True):
        got = inserting.run({"s": [A, B], "x": A}, check_memory=check_memory)["y"]
        assert isinstance(got, list) and len(got) == 3
        for have, want in zip(got, [A, B, A], strict=True):
            np.testing.assert_array_equal(have, want)
    assert len(inserting.run({"s": (), "x": B})["y"]) == 1


def test_results_own_their_memory(inserting):
    given = A.copy()
    got = inserting.run({"s": [given], "x": given})["y"]
    given[:] = 9
    np.testing.assert_array_equal(got[0], A)
    np.testing.assert_array_equal(got[1], A)


def test_what_is_no_list_of_fitting_arrays_is_refused(inserting):
    for wrong in (A, None, "text", [A, "text"], [A.astype(np.int64)], [A.reshape(2, 1)]):
        with pytest.raises(tenon.TenonError) as error:
            inserting.run({"s": wrong, "x": A})
        assert error.value.code == "bad_input" and "'s'" in error.value.place
    with pytest.raises(tenon.TenonError):
        inserting.run({"s": [A], "x": [A]})


def test_an_optional_is_its_element_or_none(tmp_path):
    nodes = [oh.make_node("OptionalHasElement", ["o"], ["has"]), oh.make_node("Identity", ["o"], ["y"])]
    has = oh.make_tensor_type_proto(TensorProto.BOOL, [])
    for inner, value in ((TENSOR, A), (SEQUENCE, [A, B])):
        kind = oh.make_optional_type_proto(inner)
        engine = engine_of(tmp_path, nodes, {"o": kind}, {"has": has, "y": kind})
        assert engine.inputs[0].kind == "optional"
        got = engine.run({"o": value})
        assert got["has"]
        for have, want in zip(got["y"], value, strict=True):
            np.testing.assert_array_equal(have, want)
        got = engine.run({"o": None})
        assert not got["has"] and got["y"] is None


def test_an_engine_file_keeps_them(inserting, tmp_path):
    path = tmp_path / "m.tenon"
    inserting.save(path)
    got = tenon.load(path).run({"s": [A], "x": B})["y"]
    np.testing.assert_array_equal(got[1], B)


def test_maps_are_dicts(tmp_path):
    kind = oh.make_map_type_proto(TensorProto.STRING, oh.make_tensor_type_proto(TensorProto.FLOAT, None))
    nodes = [
        oh.make_node("DictVectorizer", ["m"], ["y"], domain="ai.onnx.ml", string_vocabulary=["b", "a"]),
        oh.make_node("ZipMap", ["y"], ["z"], domain="ai.onnx.ml", classlabels_int64s=[7, 9]),
    ]
    made = oh.make_sequence_type_proto(oh.make_map_type_proto(TensorProto.INT64, oh.make_tensor_type_proto(TensorProto.FLOAT, None)))
    engine = engine_of(tmp_path, nodes, {"m": kind}, {"z": made})
    assert engine.inputs[0].kind == "map" and "m: map(string,f32)" in repr(engine)
    assert engine.run({"m": {"a": 0.5, "b": 2, "c": 3}})["z"] == [{7: 2.0, 9: 0.5}]
    for wrong in (3, {1: 2.0}, {"a": "b"}, [{"a": 1.0}]):
        with pytest.raises(tenon.TenonError, match=r"map\(string,f32\)"):
            engine.run({"m": wrong})


def test_texts_are_strings(tmp_path):
    kind = oh.make_tensor_type_proto(TensorProto.STRING, ["n", 2])
    node = oh.make_node("LabelEncoder", ["x"], ["y"], domain="ai.onnx.ml", keys_strings=["a", "\u00e9"], values_strings=["one", "two"])
    engine = engine_of(tmp_path, [node], {"x": kind}, {"y": kind})
    want = np.array([["one", "two"], ["_Unused", "one"]], object)
    for given in ([["a", "\u00e9"], ["", "a"]], np.array([["a", "\u00e9"], ["", "a"]]), np.array([["a", "\u00e9"], ["", "a"]], object)):
        got = engine.run({"x": given})["y"]
        assert got.dtype == object
        np.testing.assert_array_equal(got, want)
    assert engine.run({"x": np.zeros((0, 2), object)})["y"].shape == (0, 2)
    for wrong in ([["a", 3]], None, [["a", None]]):
        with pytest.raises(tenon.TenonError, match=r"string\[n,2\]"):
            engine.run({"x": wrong})
    with pytest.raises(tenon.TenonError, match="bad_input"):
        engine.run({"x": ["a"]})
