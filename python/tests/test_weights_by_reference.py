# SPDX-License-Identifier: Apache-2.0
"""Weights whose file is not there: known by type, shape and place alone."""

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx_models import I64, F, model
from tenon import TenonError, compile
from tenon.rewriting import Graph, rewrite, select


def refused(code, function, *args, **kwargs):
    with pytest.raises(TenonError) as raised:
        function(*args, **kwargs)
    assert raised.value.code == code
    return str(raised.value)


def elsewhere(name, shape, dtype=F, file="weights.bin", **entries):
    tensor = onnx.TensorProto(name=name, data_type=dtype, dims=shape, data_location=onnx.TensorProto.EXTERNAL)
    for key, value in {"location": file, **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    return tensor


def with_weights(nodes, weights, inputs=None, initializers=()):
    out = model(nodes, inputs or {"x": (F, [2, 4])}, {"y": (F, None)}, initializers)
    out.graph.initializer.extend(weights)
    return out


def read(source, **kwargs):
    return Graph.from_onnx(source.SerializeToString(), weights_by_reference=True, **kwargs)


WEIGHT = elsewhere("w", [4, 3], offset=4096, length=48)
PRODUCT = [oh.make_node("MatMul", ["x", "w"], ["y"])]


def test_without_the_option_a_missing_file_is_an_error(tmp_path):
    source = with_weights(PRODUCT, [WEIGHT])
    refused("file_missing", Graph.from_onnx, source.SerializeToString())
    path = tmp_path / "m.onnx"
    path.write_bytes(source.SerializeToString())
    refused("file_missing", Graph.from_onnx, path)
    assert Graph.from_onnx(path, weights_by_reference=True).find("w").reference == ("weights.bin", 4096, 48)


def test_a_constant_has_its_type_and_its_place():
    graph = read(with_weights(PRODUCT, [WEIGHT]))
    w = graph.find("w")
    assert w.is_constant and (w.dtype, w.shape, w.byte_size, w.reference) == ("f32", (4, 3), 48, ("weights.bin", 4096, 48))
    assert graph.outputs[0].shape == (2, 3) and not w.is_computable and w.compute() is None and w.elements is None
    assert "'w'" in refused("file_missing", w.array) and "weights.bin" in refused("file_missing", w.array)
    refused("file_missing", graph.evaluate, [np.zeros((2, 4), np.float32)])
    assert "'w'" in refused("file_missing", compile, graph)
    assert "not read" in str(graph) and graph.clone().find("w").reference == w.reference


@pytest.mark.parametrize("entries", [{"offset": 4096, "length": 48, "checksum": "abc"}, {}, {"length": 48, "offset": 0}])
def test_the_place_is_written_as_it_was_read(entries):
    source = with_weights(PRODUCT, [elsewhere("w", [4, 3], **entries)])
    (weight,) = onnx.load_from_string(read(source).to_onnx()).graph.initializer
    assert weight.data_location == onnx.TensorProto.EXTERNAL and not weight.HasField("raw_data")
    assert {e.key: e.value for e in weight.external_data} == {"location": "weights.bin", **{k: str(v) for k, v in entries.items()}}
    assert (list(weight.dims), weight.data_type, weight.name) == ([4, 3], F, "w")


def test_a_file_that_is_there_is_read(tmp_path):
    values = np.arange(12, dtype=np.float32)
    (tmp_path / "weights.bin").write_bytes(values.tobytes())
    path = tmp_path / "m.onnx"
    path.write_bytes(with_weights(PRODUCT, [elsewhere("w", [4, 3])]).SerializeToString())
    w = Graph.from_onnx(path, weights_by_reference=True).find("w")
    assert w.reference is None and np.array_equal(w.array(), values.reshape(4, 3))


def test_new_data_does_not_take_the_name_of_the_old(tmp_path):
    big = elsewhere("w", [1024, 64], file="m.onnx.data")
    graph = read(with_weights([oh.make_node("MatMul", ["x", "w"], ["y"])], [big], {"x": (F, [2, 1024])}))
    refused("bad_usage", graph.save_onnx, tmp_path / "m.onnx", external_data=True)
    graph.save_onnx(tmp_path / "n.onnx", external_data=True)
    assert list(onnx.load(tmp_path / "n.onnx", load_external_data=False).graph.initializer[0].external_data)[0].value == "m.onnx.data"


def test_a_length_that_does_not_fit_is_an_error():
    refused("bad_file", read, with_weights(PRODUCT, [elsewhere("w", [4, 3], length=5)]))


def test_huge_ones_take_no_memory():
    graph = read(with_weights([oh.make_node("MatMul", ["x", "w"], ["y"])], [elsewhere("w", [1 << 19, 1 << 16])], {"x": (F, [2, 1 << 19])}))
    refused("file_missing", graph.find("w").array)
    rewrite(graph, select("default+onnxruntime+canonical"), fold=True)
    assert graph.outputs[0].shape == (2, 1 << 16) and len(graph.to_onnx()) < 1000


def test_a_reshape_keeps_the_place():
    nodes = [oh.make_node("Reshape", ["w", "s"], ["v"]), oh.make_node("MatMul", ["x", "v"], ["y"])]
    graph = read(with_weights(nodes, [elsewhere("w", [12], offset=64)], initializers={"s": np.array([4, 3])}))
    rewrite(graph, select("default"), fold=True)
    written = onnx.load_from_string(graph.to_onnx())
    assert [n.op_type for n in written.graph.node][-1] == "MatMul"
    for weight in written.graph.initializer:
        if weight.data_location == onnx.TensorProto.EXTERNAL:
            assert weight.external_data[0].value == "weights.bin"


def unread(name, shape, dtype=F):
    return elsewhere(name, shape, dtype)


#: What rules like to fold, join, compare or turn.
CASES = {
    "transpose": ([oh.make_node("Transpose", ["w"], ["t"]), oh.make_node("MatMul", ["x", "t"], ["y"])], [unread("w", [3, 4])]),
    "twins": (
        [oh.make_node("MatMul", ["x", "w"], ["a"]), oh.make_node("MatMul", ["x", "v"], ["b"]), oh.make_node("Add", ["a", "b"], ["y"])],
        [unread("w", [4, 3]), unread("v", [4, 3])],
    ),
    "bias": ([oh.make_node("MatMul", ["x", "w"], ["a"]), oh.make_node("Add", ["a", "b"], ["y"])], [unread("w", [4, 3]), unread("b", [3])]),
    "gemm": (
        [oh.make_node("Transpose", ["w"], ["t"], perm=[1, 0]), oh.make_node("Gemm", ["x", "t", "b"], ["y"], transB=0)],
        [unread("w", [3, 4]), unread("b", [3])],
    ),
    "numbers": (
        [
            oh.make_node("Mul", ["x", "one"], ["a"]),
            oh.make_node("Add", ["a", "zero"], ["b"]),
            oh.make_node("Clip", ["b", "zero", "one"], ["y"]),
        ],
        [unread("one", []), unread("zero", [])],
    ),
    "casts": ([oh.make_node("Cast", ["w"], ["c"], to=10), oh.make_node("Cast", ["c"], ["y"], to=1)], [unread("w", [4, 3])]),
    "shape": ([oh.make_node("Reshape", ["x", "s"], ["y"])], [unread("s", [1], I64)]),
    "slice": ([oh.make_node("Slice", ["x", "s", "e"], ["y"])], [unread("s", [2], I64), unread("e", [2], I64)]),
    "slices": ([oh.make_node("Split", ["w"], ["a", "b"], num_outputs=2), oh.make_node("MatMul", ["x", "a"], ["y"])], [unread("w", [8, 3])]),
    "gather": (
        [oh.make_node("Gather", ["w", "i"], ["a"]), oh.make_node("Gather", ["a", "j"], ["y"])],
        [unread("w", [9, 3]), unread("i", [4], I64), unread("j", [2], I64)],
    ),
    "expand": ([oh.make_node("Expand", ["x", "s"], ["y"])], [unread("s", [3], I64)]),
    "pads": ([oh.make_node("Pad", ["x", "p"], ["y"])], [unread("p", [4], I64)]),
    "concat": (
        [oh.make_node("Concat", ["w", "v"], ["c"], axis=0), oh.make_node("MatMul", ["x", "c"], ["y"])],
        [unread("w", [2, 3]), unread("v", [2, 3])],
    ),
    "scales": (
        [oh.make_node("Mul", ["w", "v"], ["c"]), oh.make_node("MatMul", ["x", "c"], ["y"])],
        [unread("w", [4, 3]), unread("v", [3])],
    ),
    "norm": ([oh.make_node("LayerNormalization", ["x", "g", "b"], ["y"])], [unread("g", [4]), unread("b", [4])]),
    "sequence": (
        [oh.make_node("SplitToSequence", ["x", "s"], ["q"]), oh.make_node("SequenceAt", ["q", "i"], ["y"])],
        [unread("s", [2], I64), unread("i", [], I64)],
    ),
    "axes": (
        [
            oh.make_node("ReduceSum", ["x", "a"], ["y"]),
        ],
        [unread("a", [1], I64)],
    ),
    "top": ([oh.make_node("TopK", ["x", "k"], ["y", "i"])], [unread("k", [1], I64)]),
    "where": ([oh.make_node("Where", ["c", "x", "w"], ["y"])], [unread("c", [2, 4], onnx.TensorProto.BOOL), unread("w", [2, 4])]),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rules", ["default", "tenon", "onnxruntime", "canonical", "default+onnxruntime+onnxruntime_cuda"])
def test_no_rule_needs_what_is_not_there(case, rules):
    nodes, weights = CASES[case]
    graph = read(with_weights(nodes, weights))
    done = rewrite(graph, select(rules), fold=True, verify="all")
    assert not done["errors"] and not done["reports"], done["reports"]
    graph.verify()
    written = onnx.load_from_string(graph.to_onnx())
    assert all(w.data_location != onnx.TensorProto.EXTERNAL or w.external_data[0].value == "weights.bin" for w in written.graph.initializer)


def test_rules_fold_convolutions_only_where_they_can():
    nodes = [
        oh.make_node("Conv", ["x", "w"], ["c"]),
        oh.make_node("BatchNormalization", ["c", "s", "b", "m", "v"], ["n"]),
        oh.make_node("Mul", ["n", "k"], ["y"]),
    ]
    small = {n: np.ones(3, np.float32) for n in "sbmv"} | {"k": np.full((1, 3, 1, 1), 2, np.float32)}
    source = with_weights(nodes, [unread("w", [3, 2, 1, 1])], {"x": (F, [1, 2, 5, 5])}, small)
    graph = read(source)
    done = rewrite(graph, select("default+onnxruntime"), fold=True)
    assert not done["reports"] and graph.nodes[0].op_type == "Conv"
    (weight,) = (w for w in onnx.load_from_string(graph.to_onnx()).graph.initializer if w.data_location == onnx.TensorProto.EXTERNAL)
    assert weight.name == "w"


def test_bodies_refer_too():
    branch = oh.make_graph([oh.make_node("Neg", ["small"], ["o"])], "b", [], [oh.make_tensor_value_info("o", F, [2])])
    branch.initializer.append(unread("small", [2]))
    other = oh.make_graph([oh.make_node("Abs", ["w"], ["p"])], "c", [], [oh.make_tensor_value_info("p", F, [2])])
    nodes = [oh.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=other)]
    graph = read(with_weights(nodes, [unread("w", [2])], {"c": (onnx.TensorProto.BOOL, [])}))
    rewrite(graph, select("default"), fold=True)
    written = onnx.load_from_string(graph.to_onnx())
    then, otherwise = (a.g for a in written.graph.node[0].attribute)
    everywhere = [*written.graph.initializer, *then.initializer, *otherwise.initializer]
    assert len(everywhere) == 2 and all(t.external_data[0].value == "weights.bin" for t in everywhere)
