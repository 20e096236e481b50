# SPDX-License-Identifier: Apache-2.0
"""Every way to give a model to tenon.compile makes the same engine."""

import gc
import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import tenon
from tenon.graph_rewriting import Network, Tensor, functional, net_guard, trt
from tenon.rewriting import Graph

ROOT = Path(__file__).resolve().parent.parent.parent
MODEL = ROOT / "examples/mlp.onnx"
X = {"x": np.random.default_rng(0).normal(size=(5, 16)).astype(np.float32)}


class Proto:
    """What onnx.ModelProto has."""

    def __init__(self, model: object):
        self.model = model

    def SerializeToString(self) -> object:
        return self.model


def saved(engine: tenon.Engine, folder: Path, portable: bool = False) -> bytes:
    engine.save(folder / "saved.tenon", portable=portable)
    return (folder / "saved.tenon").read_bytes()


def refused(model: object, **options: object) -> tenon.TenonError:
    with pytest.raises(tenon.TenonError) as raised:
        tenon.compile(model, **options)
    return raised.value


BYTES = MODEL.read_bytes()
WAYS = {
    "text": str(MODEL),
    "bytes": BYTES,
    "bytearray": bytearray(BYTES),
    "view": memoryview(BYTES),
    "array": np.frombuffer(BYTES, np.uint8),
    "proto": Proto(BYTES),
    "graph": Graph.from_onnx(MODEL),
    "graph of bytes": Graph.from_onnx(BYTES),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("opt", [0, 3])
@pytest.mark.parametrize("portable", [False, True])
def test_all_ways_make_one_engine(way, opt, portable, tmp_path):
    expected = saved(tenon.compile(MODEL, opt=opt), tmp_path, portable)
    assert saved(tenon.compile(WAYS[way], opt=opt), tmp_path, portable) == expected


def test_a_model_of_the_onnx_package(tmp_path):
    onnx = pytest.importorskip("onnx")
    assert saved(tenon.compile(onnx.load(MODEL)), tmp_path) == saved(tenon.compile(MODEL), tmp_path)


def test_sizes_that_depend_on_data_promises_and_metadata_stay(tmp_path):
    """What reading finds out beside the graph's text, and what only the graphs of tools keep."""
    onnx = pytest.importorskip("onnx")
    make, float32, int64 = onnx.helper.make_node, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    nodes = [
        make("NonZero", ["x"], ["places"], name="find", doc_string="where"),
        make("Add", ["x", "w"], ["sum"], name="add"),
        make("Concat", ["x", "sum"], ["both"], axis=0),
        make("MatMul", ["v", "both"], ["y"]),
    ]
    nodes[1].metadata_props.add(key="namespace", value="layer.0")
    info = onnx.helper.make_tensor_value_info
    inputs = [info("x", float32, ["a", 4]), info("w", float32, ["b", 4]), info("v", float32, [2, "c"])]
    outputs = [info("y", float32, [2, 4]), info("places", int64, [2, "found"])]
    graph = onnx.helper.make_graph(nodes, "promises", inputs, outputs, value_info=[info("both", float32, ["c", 4])])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, tmp_path / "promises.onnx")
    for opt in (0, 3):
        expected = saved(tenon.compile(tmp_path / "promises.onnx", opt=opt), tmp_path)
        for way in (model, model.SerializeToString(), Graph.from_onnx(tmp_path / "promises.onnx")):
            assert saved(tenon.compile(way, opt=opt), tmp_path) == expected


def test_shapes_and_external_data_go_with_bytes(tmp_path):
    Graph.from_onnx(MODEL).save_onnx(tmp_path / "big.onnx", external_data=True)
    assert len(list(tmp_path.iterdir())) == 2, "its weights are beside it"
    model = (tmp_path / "big.onnx").read_bytes()
    expected = saved(tenon.compile(tmp_path / "big.onnx", shapes={"x": [3, -1]}), tmp_path)
    assert saved(tenon.compile(model, external_data=tmp_path, shapes={"x": [3, -1]}), tmp_path) == expected
    error = refused(model)
    assert (error.code, error.place) == ("file_missing", "tensor 'w1'") and error.advice


def test_selected_outputs(tmp_path):
    text = "graph g(x: f32[n,4]) {\n  y = Relu(x)\n  z = Exp(x)\n  return y, z\n}"
    Graph.parse(text).save_onnx(tmp_path / "two.onnx")
    engine = tenon.compile(tmp_path / "two.onnx", outputs=["z"])
    assert [o.name for o in engine.outputs] == ["z"]
    assert list(engine.run({"x": np.zeros((2, 4), np.float32)})) == ["z"]
    error = refused(tmp_path / "two.onnx", outputs=["w"])
    assert (error.code, error.place, error.expected) == ("bad_input", "output 'w'", "y, z")


def test_a_graph_stays_as_it_is_and_may_go():
    graph = Graph.from_onnx(MODEL)
    before = str(graph)
    engine = tenon.compile(graph)
    assert str(graph) == before
    del graph
    gc.collect()
    np.testing.assert_array_equal(engine.run(X)["y"], tenon.compile(MODEL).run(X)["y"])


def test_a_declared_network():
    network = Network()
    with net_guard(network):
        functional.relu(Tensor(name="x", dtype=trt.float32, shape=(1, 4))).mark_output("y")
    before = str(network.graph)
    given = np.array([[1, -2, 3, -4]], np.float32)
    np.testing.assert_array_equal(tenon.compile(network).run({"x": given})["y"], np.maximum(given, 0))
    assert str(network.graph) == before


def test_a_graph_in_text_and_one_made_by_hand():
    text = "graph g(x: f32[n,4]) {\n  const two: f32[] = [2]\n  y = Mul(x, two)\n  return y\n}"
    graph = Graph()
    x = graph.add_input("x", "f32", ["n", 4])
    graph.add_output(graph.insert("Mul", [x, graph.add_constant(np.float32(2))], names=["y"]).outputs[0])
    for made in (Graph.parse(text), graph):
        y = tenon.compile(made).run({"x": np.ones((3, 4), np.float32)})["y"]
        np.testing.assert_array_equal(y, np.full((3, 4), 2, np.float32))


def test_types_of_a_graph_are_inferred_again():
    """A claim of a result's size is no more than a claim."""
    graph = Graph.parse("graph g(x: f32[4]) {\n  y = Relu(x)\n  z = Neg(y)\n  return z\n}")
    graph.find("y").set_type("f64", [4000])
    z = tenon.compile(graph).run({"x": np.ones(4, np.float32)})["z"]
    np.testing.assert_array_equal(z, -np.ones(4, np.float32))


def test_a_graph_that_changed_compiles_as_changed():
    graph = Graph.parse("graph g(x: f32[n]) {\n  y = Relu(x)\n  return y\n}")
    graph.find("x").set_type("f32", [2])
    assert tenon.compile(graph).inputs[0].dimensions == ["2"]
    graph.set_output(0, graph.insert("Neg", [graph.find("y")], names=["z"]).outputs[0])
    np.testing.assert_array_equal(tenon.compile(graph).run({"x": np.ones(2, np.float32)})["y"], [-1, -1])


def test_what_a_graph_must_have():
    graph = Graph()
    x = graph.add_input("x")
    graph.add_output(graph.insert("Relu", [x], names=["y"], infer=False).outputs[0])
    error = refused(graph)
    assert (error.code, error.place) == ("bad_usage", "input 'x'") and error.expected and error.advice
    x.set_type("f32")
    assert refused(graph).place == "input 'x'"
    x.set_type("f32", [2])
    np.testing.assert_array_equal(tenon.compile(graph).run({"x": np.ones(2, np.float32)})["y"], [1, 1])
    graph.insert("MatMul", [x, x, x], infer=False)
    assert refused(graph).what


def test_options_of_models_are_refused_next_to_a_graph(tmp_path):
    graph = Graph.from_onnx(MODEL)
    for options in ({"shapes": {"x": [2, 16]}}, {"external_data": tmp_path}, {"outputs": ["y"]}):
        error = refused(graph, **options)
        assert error.code == "bad_usage" and error.place in options and error.advice


def test_bodies_are_refused():
    text = """graph g(c: bool[], x: f32[2]) {
      y = If(c) then_branch={ graph(h) { a = Relu(h) return a } } captures=[x] else_branch={ graph(h) { b = Neg(h) return b } } captures=[x]
      return y
    }"""
    graph = Graph.parse(text)
    tenon.compile(graph)
    error = refused(graph.nodes[0].bodies[0][1])
    assert error.code == "bad_usage" and error.expected == "a root graph"


@pytest.mark.parametrize("model", [None, 3, object(), ["model.onnx"], Proto("text"), Proto(None)])
def test_what_is_no_model_is_refused(model):
    error = refused(model)
    assert (error.code, error.place) == ("bad_usage", "model")
    assert error.expected and error.found and error.advice


def test_bytes_that_are_no_model_are_refused():
    for bad in (b"", b"\xff" * 100, b"mlp.onnx", np.ones(9, np.float32)):
        assert refused(bad).place.startswith("model in memory")


def test_convolutions_take_the_plain_sum_on_request(tmp_path):
    random = np.random.default_rng(1)
    graph = Graph()
    x = graph.add_input("x", "f32", ["n", 32, 28, 28])
    w = graph.add_constant(random.normal(size=(32, 32, 3, 3)).astype(np.float32))
    graph.add_output(graph.insert("Conv", [x, w], {"pads": [1, 1, 1, 1]}, names=["y"]).outputs[0])
    fewer, plain = tenon.compile(graph), tenon.compile(graph, winograd=False)
    transformed = 4 * 36 * 32 * 32  # bytes of weights; the plain engine has 3x3 in place of 6x6
    assert len(saved(fewer, tmp_path)) > len(saved(plain, tmp_path)) + transformed // 2
    given = {"x": random.normal(size=(2, 32, 28, 28)).astype(np.float32)}
    np.testing.assert_allclose(fewer.run(given)["y"], plain.run(given)["y"], atol=1e-4)


def test_large_products_take_bf16_on_request():
    random = np.random.default_rng(1)
    graph = Graph()
    x = graph.add_input("x", "f32", ["n", 64])
    w = graph.add_constant(random.normal(size=(64, 96)).astype(np.float32))
    graph.add_output(graph.insert("MatMul", [x, w], names=["y"]).outputs[0])
    for use in (tenon.compile, tenon.partition):
        with pytest.raises(tenon.TenonError, match="there is no such precision"):
            use(graph, precision="bf8")
    given = {"x": random.normal(size=(3, 64)).astype(np.float32)}
    plain = tenon.compile(graph).run(given)["y"]
    if "avx512_bf16" not in Path("/proc/cpuinfo").read_text():
        for use in (tenon.compile, tenon.partition):
            with pytest.raises(tenon.TenonError, match="AVX512_BF16"):
                use(graph, precision="bf16")
        return
    rounded = tenon.compile(graph, precision="bf16").run(given)["y"]
    assert not np.array_equal(plain, rounded)
    np.testing.assert_allclose(rounded, plain, rtol=0.016, atol=0.1)


def test_saved_engines_show_their_kernels(tmp_path):
    saved(tenon.compile(MODEL), tmp_path)
    page = tmp_path / "page.html"
    subprocess.run([ROOT / "build/bin/tenon", "inspect", tmp_path / "saved.tenon", "--html", page], capture_output=True, check=True)
    data = re.search(r'<script id="data" type="application/json">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    (graph,) = json.loads(data[1])["graphs"]
    assert "contraction" in [group["kind"] for group in graph["groups"]]
    report = subprocess.run([ROOT / "build/bin/tenon", "inspect", tmp_path / "saved.tenon", "--json"], capture_output=True, check=True)
    assert all(kernel["tactic"] for kernel in json.loads(report.stdout)["kernels"])
