# SPDX-License-Identifier: Apache-2.0
"""Handles on graphs, nodes and values; edits; models in and out."""

import gc

import numpy as np
import pytest
from tenon import TenonError
from tenon.rewriting import Graph

TEXT = "graph main(x: f32[n,4], c: bool[]) {\n h = Relu(x)\n y = Softmax(h, axis=1)\n return y\n}\n"


@pytest.fixture
def graph():
    return Graph.parse(TEXT)


def refused(code, function, *args, **kwargs):
    with pytest.raises(TenonError) as raised:
        function(*args, **kwargs)
    assert raised.value.code == code
    return str(raised.value)


def test_nodes_and_values_report_what_they_are(graph):
    relu, softmax = graph.nodes
    assert (relu.op_type, relu.domain, relu.name, softmax.attributes) == ("Relu", "", "", {"axis": 1})
    assert relu.inputs == [graph.inputs[0]] and softmax.outputs == graph.outputs and relu.next == softmax and softmax.previous == relu
    h = graph.find("h")
    assert (h.name, h.kind, h.dtype, h.shape, h.producer, h.index) == ("h", "result", "f32", ("n", 4), relu, 0)
    assert h.users == [softmax] and h.uses == [(softmax, 0)] and not h.is_output and graph.find("y").is_output
    assert graph.find("y").uses == [(None, 0)] and graph.find("nobody") is None and graph.output_names == ["y"]
    assert relu.is_before(softmax) and relu.provenance is None and len(graph) == 2 and "Relu" in repr(relu)


def test_handles_are_equal_where_they_mean_the_same(graph):
    assert graph.nodes[0] == graph.nodes[0] and hash(graph.nodes[0]) == hash(graph.nodes[0]) and graph.nodes[0] != graph.nodes[1]
    assert graph.nodes[0] != graph.clone().nodes[0] and graph.nodes[0] != "Relu" and graph.nodes[0] is not None
    assert {graph.inputs[0]: 1}[graph.find("x")] == 1 and graph.nodes[0].graph is graph


def test_handles_keep_their_graph_alive(graph):
    node = graph.clone().nodes[0]
    gc.collect()
    assert node.op_type == "Relu"


def test_a_node_that_is_gone_raises(graph):
    node = graph.insert("Neg", [graph.inputs[0]])
    value = node.outputs[0]
    graph.erase(node)
    assert not node.alive and not value.alive and repr(node) == "<Node: gone>"
    assert "gone" in refused("bad_usage", lambda: node.op_type) and "gone" in refused("bad_usage", lambda: value.name)
    graph.insert("Abs", [graph.inputs[0]])  # its slot is taken anew
    assert not node.alive


def test_handles_of_another_graph_raise(graph):
    other = graph.clone()
    assert "another graph" in refused("bad_usage", graph.insert, "Neg", [other.inputs[0]])
    assert "another graph" in refused("bad_usage", graph.replace_all_uses, graph.find("h"), other.find("x"))
    assert "no value" in refused("bad_usage", graph.insert, "Neg", ["x"])


def test_inserting_infers_and_leaves_no_trace_where_it_cannot(graph):
    relu = graph.nodes[0]
    node = graph.insert("Concat", [graph.find("h"), graph.find("h")], {"axis": 0}, after=relu, name="cat", names=["joined"])
    assert (node.name, node.outputs[0].name, node.outputs[0].shape, node.previous) == ("cat", "joined", ("2*n", 4), relu)
    before = str(graph)
    refused("bad_attribute", graph.insert, "Concat", [graph.find("h")], {"axis": "zero"})
    refused("bad_graph", graph.insert, "Relu", [])
    refused("not_supported", graph.insert, "NoSuch", [])
    refused("bad_graph", graph.insert, "Neg", [graph.find("h")], before=relu)
    assert str(graph) == before
    graph.verify()


def test_edits(graph):
    relu, softmax = graph.nodes
    relu.name = "first"
    graph.find("h").name = "hidden"
    two = graph.add_constant(np.float32(2), "two")
    softmax.set_attribute("axis", 0)
    scaled = graph.insert("Mul", [relu.outputs[0], two], before=softmax).outputs[0]
    softmax.set_operand(0, scaled)
    assert softmax.attributes == {"axis": 0} and scaled.users == [softmax] and graph.find("hidden") == relu.outputs[0]
    softmax.set_attribute("axis", None)
    assert softmax.attributes == {}
    graph.set_output(0, scaled)
    assert graph.outputs == [scaled] and graph.output_names == ["y"] and graph.remove_dead() == 1
    graph.add_output(relu.outputs[0], "other")
    assert graph.output_names == ["y", "other"]
    graph.erase_output(0)
    refused("index_out_of_range", graph.erase_output, 5)
    graph.verify()


def test_two_inputs_or_outputs_of_one_name_are_refused(graph):
    """Callers know them by name: one of the two would be lost."""
    text = str(graph)
    assert "output 'y'" in refused("bad_graph", graph.add_output, graph.find("h"), "y")
    assert "output 'y'" in refused("bad_graph", graph.add_output, graph.find("y"))
    assert "input 'x'" in refused("bad_graph", graph.add_input, "x", "f32", [2])
    assert "input 'h'" in refused("bad_graph", graph.add_input, "h", "f32", [2])
    assert "input 'c'" in refused("bad_graph", setattr, graph.inputs[0], "name", "c")
    assert str(graph) == text
    graph.add_output(graph.find("y"), "other")
    assert "output 'y'" in refused("bad_graph", graph.set_output_name, 1, "y")
    graph.set_output_name(1, "other")
    graph.inputs[0].name = "x"
    assert list(graph.evaluate({"x": np.zeros((2, 4), np.float32), "c": np.array(True)})) == ["y", "other"]


def test_outputs_without_a_name_get_one():
    graph = Graph()
    x = graph.add_input("x", "f32", [2])
    for op in ("Neg", "Neg", "Abs"):
        graph.add_output(graph.insert(op, [x]).outputs[0])
    assert len(set(graph.output_names)) == 3 and all(graph.output_names)
    assert len(graph.evaluate({"x": np.ones(2, np.float32)})) == 3


def test_outputs_of_a_body_go_by_position():
    branch = "{ graph(a) { return a, a } } captures=[x]"
    graph = Graph.parse(f"graph(x: f32[2], c: bool[]) {{ p, q = If(c) then_branch={branch} else_branch={branch} return p, q }}")
    body = graph.nodes[0].bodies[0][1]
    body.add_output(body.inputs[0], body.output_names[0])
    assert len(body.outputs) == 3


def test_replacing_moves_what_has_to_move_and_refuses_cycles(graph):
    late = graph.insert("Neg", [graph.inputs[0]]).outputs[0]
    assert graph.replace_all_uses(graph.find("h"), late) and graph.nodes[-1].op_type == "Softmax"
    assert not graph.replace_all_uses(graph.find("x"), graph.find("y"))
    graph.verify()


@pytest.mark.parametrize(
    "dtype", "float32 float64 float16 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128".split()
)
def test_arrays_go_in_and_out(graph, dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    value = graph.add_constant(array.T)
    np.testing.assert_array_equal(value.array(), array.T)
    assert value.array().dtype == array.dtype and value.shape == (3, 2) and not value.array().flags.writeable


@pytest.mark.parametrize("dtype", "bfloat16 float8_e4m3fn float8_e5m2 float8_e8m0fnu int4 uint4 float4_e2m1fn".split())
def test_arrays_of_types_that_numpy_lacks(graph, dtype):
    array = np.array([[1, 2, 4], [0.5 if "float" in dtype and dtype != "float8_e8m0fnu" else 1, 1, 2]]).astype(
        getattr(pytest.importorskip("ml_dtypes"), dtype)
    )
    np.testing.assert_array_equal(graph.add_constant(array).array().astype(np.float32), array.astype(np.float32))


def test_texts(graph):
    value = graph.add_constant(np.array([["a", "ü"]]))
    assert value.dtype == "string" and value.array().tolist() == [["a", "ü"]]


def test_attributes_get_the_kind_of_the_operators_schema(graph):
    h = graph.find("h")
    node = graph.insert("LeakyRelu", [h], {"alpha": 1})
    assert node.attributes == {"alpha": 1.0} and isinstance(node.attributes["alpha"], float)
    assert graph.insert("Transpose", [h], {"perm": np.array([1, 0])}).attributes == {"perm": [1, 0]}
    assert graph.insert("Gelu", [h], {"approximate": b"tanh"}).attributes == {"approximate": "tanh"}
    shape = graph.add_constant(np.array([2, 3]))
    np.testing.assert_array_equal(graph.insert("ConstantOfShape", [shape], {"value": np.array([7.0])}).attributes["value"], [7.0])


def test_a_graph_runs_by_reference(graph):
    x = np.array([[-1, 2, 0, 3]], dtype=np.float32)
    e = np.exp(np.maximum(x, 0))
    for given in ({"x": x, "c": np.array(True)}, [x, np.array(True)]):
        np.testing.assert_allclose(graph.evaluate(given)["y"], e / e.sum(), rtol=1e-6)
    assert "missing" in refused("bad_input", graph.evaluate, {"x": x})


def test_a_model_goes_out_and_comes_back(graph, tmp_path):
    again = Graph.from_onnx(graph.to_onnx())
    assert [n.op_type for n in again.nodes] == ["Relu", "Softmax"]
    assert graph.save_onnx(tmp_path / "m.onnx", opset=18) == 18
    assert Graph.from_onnx(tmp_path / "m.onnx").opsets == [("", 18)]
    refused("file_missing", Graph.from_onnx, tmp_path / "none.onnx")
    refused("bad_file", Graph.from_onnx, b"\xff\xff\xff")


def test_bodies_are_graphs_whose_handles_end_with_their_node():
    graph = Graph.parse(
        "graph main(c: bool[], x: f32[4]) {\n y = If(c) then_branch={ graph(h: f32[4]) { a = Neg(h)\n return a } } captures=[x]"
        " else_branch={ graph(h: f32[4]) { d = Abs(h)\n return d } } captures=[x]\n z = Neg(x)\n return y, z\n}\n"
    )
    node = graph.nodes[0]
    (name, body, captures), _ = node.bodies
    assert (name, captures, [n.op_type for n in body.nodes]) == ("then_branch", 1, ["Neg"]) and body.outer is graph
    assert node.captures == [graph.find("x")] * 2 and graph.find("x").is_captured and body == node.bodies[0][1] and body != graph
    inner = body.nodes[0]
    graph.set_output(0, graph.find("z"))
    graph.remove_dead()
    assert "gone" in refused("bad_usage", lambda: body.nodes) and "gone" in refused("bad_usage", lambda: inner.op_type)


def test_what_follows_from_constants_is_computed(graph):
    a = graph.add_constant(np.array([1.0, 2.0], np.float32))
    b = graph.insert("Add", [a, a]).outputs[0]
    assert b.is_computable and not graph.find("h").is_computable and graph.find("h").compute() is None
    np.testing.assert_array_equal(graph.insert("Mul", [b, b]).outputs[0].compute(), [4, 16])


def test_values_without_a_name_get_one_on_request():
    graph = Graph()
    value = graph.insert("Relu", [graph.add_input("x", "f32", [2])]).outputs[0]
    assert value.name == "" and value.ensure_name() != "" and graph.find(value.name) == value


def test_types_that_make_no_sense_are_refused():
    graph = Graph()
    refused("bad_usage", graph.add_input, "x", "f33")
    refused("bad_usage", graph.add_input, "x", "f32", [-1])
    assert graph.add_input("x", np.float16, ["a", None, 3]).shape[0] == "a" and graph.add_input("y", 7).dtype == "i64"


def results_of(op_type, operands, attributes, **kwargs):
    graph = Graph()
    inputs = [graph.add_constant(o) if isinstance(o, np.ndarray) else graph.add_input(f"x{k}", *o) for k, o in enumerate(operands)]
    return len(graph.insert(op_type, inputs, attributes, **kwargs).outputs)


def test_how_many_results_a_node_has_follows_from_what_it_says():
    x, rates = ("f32", [4, 6]), [("f32", []), ("i64", [])]
    assert results_of("Split", [x], {"axis": -1, "num_outputs": 2}) == 2
    assert results_of("Split", [x, np.array([1, 2, 3])], {"axis": 1}) == 3
    assert results_of("Split", [x], {}) == 1
    assert results_of("Split", [x], {}, names=["a", "b"]) == 2
    assert results_of("Split", [x, ("i64", [2])], {"axis": 1}, outputs=2) == 2
    assert results_of("Adam", [*rates, *[("f32", [3])] * 8], {}, domain="ai.onnx.preview.training") == 6
    heads = {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear"}
    assert results_of("LinearAttention", [("f32", [1, 2, 4])] * 3, heads, domain="com.microsoft", outputs=1) == 2
    assert results_of("Relu", [x], {}) == 1
    refused("bad_attribute", results_of, "Split", [x], {"num_outputs": 1 << 40})


def test_results_that_are_left_out():
    graph = Graph()
    x, g = graph.add_input("x", "f32", [2, 4]), graph.add_input("g", "f32", [4])
    node = graph.insert("SkipLayerNormalization", [x, x, g], {"epsilon": 1e-5}, domain="com.microsoft", names=["y", None, None, "sum"])
    assert [v and v.name for v in node.outputs] == ["y", None, None, "sum"]
    for value in (node.outputs[0], node.outputs[3]):
        graph.add_output(value)
    again = Graph.from_onnx(graph.to_onnx())
    assert [v.name for v in again.nodes[0].outputs] == ["y", "", "", "sum"] and again.output_names == ["y", "sum"]


def branch(op_type):
    body = Graph()
    body.add_output(body.insert(op_type, [body.add_input("v")]).outputs[0])
    return body


def test_nodes_with_bodies():
    graph = Graph()
    c, x = graph.add_input("c", "bool", []), graph.add_input("x", "f32", ["n", 4])
    node = graph.insert("If", [c], bodies={"else_branch": (branch("Neg"), [x]), "then_branch": (branch("Relu"), [x])}, names=["y"])
    assert [name for name, _, _ in node.bodies] == ["then_branch", "else_branch"] and node.captures == [x, x]
    assert len(node.outputs) == 1 and node.outputs[0].shape == ("n", 4)
    graph.add_output(node.outputs[0])
    again = Graph.from_onnx(graph.to_onnx())
    data = np.array([[-1, 2, 3, 4]], np.float32)
    for condition, wanted in ((True, np.maximum(data, 0)), (False, -data)):
        assert np.array_equal(again.evaluate({"c": np.array(condition), "x": data})["y"], wanted)


def test_a_body_says_how_many_results_there_are():
    body = Graph()
    turn, go, v = body.add_input("turn", "i64", []), body.add_input("go", "bool", []), body.add_input("v", "f32", [2])
    twice = body.insert("Add", [v, v]).outputs[0]
    for value in (go, twice, turn):
        body.add_output(value)
    graph = Graph()
    count, x = graph.add_constant(np.array(3)), graph.add_input("x", "f32", [2])
    loop = graph.insert("Loop", [count, None, x], bodies={"body": body})
    assert [v.shape for v in loop.outputs] == [(2,), (3,)]


def test_bodies_that_make_no_sense():
    graph = Graph()
    c = graph.add_input("c", "bool", [])
    body = branch("Relu")
    refused("bad_attribute", graph.insert, "If", [c])
    refused("bad_attribute", graph.insert, "If", [c], bodies={"then_branch": body})
    refused("bad_attribute", graph.insert, "Relu", [c], bodies={"body": body})
    refused("bad_usage", graph.insert, "If", [c], bodies={"then_branch": 3})
    refused("bad_usage", graph.insert, "If", [c], bodies={"then_branch": (body, [c, c]), "else_branch": (body, [c])})
    refused("bad_usage", graph.insert, "If", [c], bodies={"then_branch": (body, [None]), "else_branch": (body, [c])})
    assert len(graph) == 0 and len(body) == 1
