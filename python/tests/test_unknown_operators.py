# SPDX-License-Identifier: Apache-2.0
"""Operators that nobody knows: kept where the caller asks for it, matched, written again, never computed."""

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from onnx_models import F, model
from tenon import TenonError, compile
from tenon.rewriting import Graph, Rule, rewrite, select


def refused(code, function, *args, **kwargs):
    with pytest.raises(TenonError) as raised:
        function(*args, **kwargs)
    assert raised.value.code == code
    return str(raised.value)


def written(graph, **kwargs):
    out = onnx.load_from_string(graph.to_onnx(**kwargs))
    onnx.checker.check_model(out)
    return out


def call_of_three(**attributes):
    nodes = [
        oh.make_node("Relu", ["x"], ["h"]),
        oh.make_node("Three", ["h", "", "x", ""], ["a", "", "b"], name="call", domain="ZZZ", **attributes),
        oh.make_node("Add", ["a", "b"], ["y"]),
    ]
    return model(nodes, {"x": (F, ["n", 4])}, {"y": (F, ["n", 4])}, domains=("ZZZ",))


ATTRIBUTES = {
    "whole": 3,
    "real": 0.1,
    "text": "abc",
    "wholes": [1, -2],
    "reals": [0.5, 1e-3],
    "texts": ["a", "b"],
    "table": onh.from_array(np.array([[1, 2]], np.int16)),
}


def test_an_unknown_operator_is_refused_unless_it_is_requested():
    assert "ZZZ::Three" in refused("not_supported", Graph.from_onnx, call_of_three().SerializeToString())
    assert "no op of this name" in refused("not_supported", Graph().insert, "Three", [], domain="ZZZ")
    assert not Graph().keeps_unknown and Graph(keep_unknown=True).keeps_unknown


def test_it_is_written_as_it_was_read():
    source = call_of_three(**ATTRIBUTES)
    source.opset_import[1].version = 7
    graph = Graph.from_onnx(source.SerializeToString(), keep_unknown=True)
    call = graph.nodes[1]
    assert call.is_unknown and not graph.nodes[0].is_unknown and (call.domain, call.op_type, call.name) == ("ZZZ", "Three", "call")
    assert [v and v.name for v in call.inputs] == ["h", None, "x", None] and [v and v.name for v in call.outputs] == ["a", None, "b"]
    out = written(graph)
    assert out.graph.node[1] == source.graph.node[1] and {o.domain: o.version for o in out.opset_import} == {"": 18, "ZZZ": 7}
    assert str(Graph.parse(str(graph), keep_unknown=True)) == str(graph)


def test_types_are_what_the_model_declares_or_what_is_reported_later():
    source = call_of_three()
    source.graph.value_info.append(oh.make_tensor_value_info("a", F, ["n", 4]))
    graph = Graph.from_onnx(source.SerializeToString(), keep_unknown=True)
    a, b = graph.find("a"), graph.find("b")
    assert (a.dtype, a.shape, b.dtype, b.shape) == ("f32", ("n", 4), None, None)
    b.set_type("f32", ["n", 4])
    graph.infer()
    assert (a.shape, b.dtype, b.shape) == (("n", 4), "f32", ("n", 4))
    assert {v.name for v in written(graph).graph.value_info} == {"h", "a", "b"}


def test_it_is_neither_computed_nor_folded_nor_merged():
    nodes = [
        oh.make_node("Half", ["two"], ["a"], domain="ZZZ"),
        oh.make_node("Half", ["two"], ["b"], domain="ZZZ"),
        oh.make_node("Half", ["two"], ["unused"], domain="ZZZ"),
        oh.make_node("Sum", ["a", "b", "x"], ["y"]),
    ]
    source = model(nodes, {"x": (F, [])}, {"y": (F, [])}, {"two": np.float32(2)}, domains=("ZZZ",))
    graph = Graph.from_onnx(source.SerializeToString(), keep_unknown=True)
    rewrite(graph, select("default"), fold=True, verify="all")
    assert [n.op_type for n in graph.nodes][:2] == ["Half", "Half"] and sum(n.is_unknown for n in graph.nodes) == 2
    assert not graph.nodes[0].outputs[0].is_computable
    assert "ZZZ::Half" in refused("not_supported", graph.evaluate, [np.float32(1)])
    assert "ZZZ::Half" in refused("not_supported", compile, graph)


def test_an_unknown_name_of_the_default_domain():
    source = model([oh.make_node("Foo", ["x"], ["y"], beta=2)], {"x": (F, [2])}, {"y": (F, [2])})
    out = onnx.load_from_string(Graph.from_onnx(source.SerializeToString(), keep_unknown=True).to_onnx())
    assert out.graph.node[0] == source.graph.node[0] and [(o.domain, o.version) for o in out.opset_import] == [("", 18)]


def test_a_function_of_the_model_is_the_definition():
    body = [oh.make_node("Neg", ["x"], ["y"])]
    function = oh.make_function("ZZZ", "Half", ["x"], ["y"], body, [oh.make_opsetid("", 18)])
    nodes = [oh.make_node("Half", ["x"], ["h"], domain="ZZZ"), oh.make_node("Other", ["h"], ["y"], domain="ZZZ")]
    source = model(nodes, {"x": (F, [2])}, {"y": (F, [2])}, functions=[function], domains=("ZZZ",))
    assert [n.op_type for n in Graph.from_onnx(source.SerializeToString(), keep_unknown=True).nodes] == ["Neg", "Other"]


def test_bodies_read_what_they_read_before():
    branch = oh.make_graph(
        [oh.make_node("Mul", ["inner", "h"], ["m"]), oh.make_node("Own", ["m", "w"], ["o"], domain="ZZZ")],
        "branch",
        [oh.make_tensor_value_info("inner", F, [4])],
        [oh.make_tensor_value_info("o", F, [4])],
    )
    nodes = [oh.make_node("Relu", ["x"], ["h"]), oh.make_node("Call", ["x"], ["y"], domain="ZZZ", body=branch, times=2)]
    source = model(nodes, {"x": (F, [4])}, {"y": (F, [4])}, {"w": np.ones(4, np.float32)}, domains=("ZZZ",))
    graph = Graph.from_onnx(source.SerializeToString(), keep_unknown=True)
    call = graph.nodes[1]
    assert [v.name for v in call.captures] == ["h"] and call.bodies[0][1].nodes[1].outputs[0].shape == (4,)
    rewrite(graph, select("default"), fold=True)
    node = written(graph).graph.node[1]
    times, body = node.attribute
    assert [list(n.input) for n in body.g.node] == [["inner", "h"], ["m", "w"]] and times.i == 2


def test_a_node_without_results_stays():
    nodes = [oh.make_node("Print", ["x"], [], domain="ZZZ"), oh.make_node("Relu", ["x"], ["y"])]
    source = model(nodes, {"x": (F, [2])}, {"y": (F, [2])}, domains=("ZZZ",))
    graph = Graph.from_onnx(source.SerializeToString(), keep_unknown=True)
    graph.remove_dead()
    rewrite(graph, select("default"))
    assert [n.op_type for n in written(graph).graph.node] == ["Print", "Relu"] and not written(graph).graph.node[0].output


@pytest.mark.parametrize("kind", ["type", "sparse", "tensors"])
def test_attributes_that_cannot_be_kept_are_refused_by_name(kind):
    source = call_of_three()
    attribute = source.graph.node[1].attribute.add(name="odd")
    if kind == "type":
        attribute.type = onnx.AttributeProto.TYPE_PROTO
        attribute.tp.CopyFrom(oh.make_tensor_type_proto(F, [2]))
    elif kind == "sparse":
        attribute.type = onnx.AttributeProto.SPARSE_TENSOR
        values, indices = onh.from_array(np.ones(1, np.float32), "v"), onh.from_array(np.zeros(1, np.int64), "i")
        attribute.sparse_tensor.CopyFrom(oh.make_sparse_tensor(values, indices, [3]))
    else:
        attribute.type = onnx.AttributeProto.TENSORS
        attribute.tensors.append(onh.from_array(np.ones(2)))
    assert "'odd'" in refused("not_supported", Graph.from_onnx, source.SerializeToString(), keep_unknown=True)


def test_insert_makes_one_where_the_graph_keeps_them():
    graph = Graph(keep_unknown=True)
    graph.opsets = [("", 18), ("ZZZ", 3)]
    x = graph.add_input("x", "f32", [2])
    node = graph.insert("Two", [x, None], {"alpha": 0.5, "axes": [1]}, domain="ZZZ", names=["a", None, "b"])
    graph.add_output(node.outputs[0])
    graph.outputs[0].set_type("f32", [2])
    assert node.is_unknown and [v and v.name for v in node.outputs] == ["a", None, "b"]
    out = written(graph)
    assert out.graph.node[0] == oh.make_node("Two", ["x", ""], ["a", "", "b"], domain="ZZZ", alpha=0.5, axes=[1])
    assert {o.domain: o.version for o in out.opset_import} == {"": 18, "ZZZ": 3}


def pair(pattern, replacement):
    sides = []
    for make in (pattern, replacement):
        side = Graph(keep_unknown=True)
        x = side.add_input("x")
        for value in make(side, x):
            side.add_output(value)
        sides.append(side)
    return Rule.graphs(*sides, name="pair")


def chain(*calls):
    nodes, at = [], "x"
    for k, (op, domain, attributes) in enumerate(calls):
        nodes.append(oh.make_node(op, [at], [f"h{k}"], domain=domain, **attributes))
        at = f"h{k}"
    nodes.append(oh.make_node("Neg", [at], ["y"]))
    return Graph.from_onnx(
        model(nodes, {"x": (F, [4])}, {"y": (F, [4])}, domains={d for _, d, _ in calls if d}).SerializeToString(), keep_unknown=True
    )


def one(side, op, x, domain="", **attributes):
    return side.insert(op, [x], attributes, domain=domain).outputs[0]


def test_a_rule_makes_one():
    rule = pair(lambda g, x: [one(g, "Relu", one(g, "Abs", x))], lambda g, x: [one(g, "ReluAbs", x, "ZZZ", slope=0.25)])
    graph = chain(("Abs", "", {}), ("Relu", "", {}))
    assert rewrite(graph, [rule])["changed"]
    assert [(n.domain, n.op_type, n.attributes) for n in graph.nodes] == [("ZZZ", "ReluAbs", {"slope": 0.25}), ("", "Neg", {})]
    assert (graph.nodes[0].outputs[0].dtype, graph.nodes[0].outputs[0].shape) == ("f32", (4,))
    assert written(graph).graph.node[0].domain == "ZZZ"


def test_a_rule_finds_one_with_exactly_its_attributes():
    rule = pair(lambda g, x: [one(g, "Foo", x, "ZZZ", k=1)], lambda g, x: [one(g, "Relu", x)])
    graph = chain(("Foo", "ZZZ", {"k": 1}), ("Foo", "ZZZ", {"k": 2}), ("Foo", "ZZZ", {"k": 1, "l": 0}), ("Foo", "YYY", {"k": 1}))
    assert rewrite(graph, [rule])["changed"]
    assert [n.op_type for n in graph.nodes] == ["Relu", "Foo", "Foo", "Foo", "Neg"]


def test_a_rule_makes_all_results_of_one():
    def both(g, x):
        return g.insert("Both", [x], domain="ZZZ", outputs=3).outputs[:2]

    rule = pair(lambda g, x: [one(g, "Sin", x), one(g, "Cos", x)], both)
    nodes = [oh.make_node("Sin", ["x"], ["s"]), oh.make_node("Cos", ["x"], ["c"]), oh.make_node("Add", ["s", "c"], ["y"])]
    graph = Graph.from_onnx(model(nodes, {"x": (F, [4])}, {"y": (F, [4])}).SerializeToString(), keep_unknown=True)
    assert rewrite(graph, [rule])["changed"]
    assert [n.op_type for n in graph.nodes] == ["Both", "Add"] and len(graph.nodes[0].outputs) == 3


def test_rules_in_python_start_at_one_and_report_the_type_of_another():
    def apply(match, rewriter):
        (made,) = rewriter.op("Bar", match.root.inputs, match.root.attributes, domain="ZZZ")
        made.set_type("f32", [4])
        rewriter.replace(match.root.outputs[0], made)

    rule = Rule.code("foo", {"match": lambda m: True, "rewrite": apply}, roots=["ZZZ::Foo"])
    graph = chain(("Foo", "ZZZ", {"k": 1}))
    done = rewrite(graph, [rule])
    assert done["changed"] and [n.op_type for n in graph.nodes] == ["Bar", "Neg"] and graph.nodes[0].outputs[0].shape == (4,)
    assert done["inactive"] == ["foo: op ZZZ::Foo"]


def test_while_rules_run_no_other_type_is_reported():
    def apply(match, rewriter):
        match.root.outputs[0].set_type("f32", [5])

    rule = Rule.code("bad", {"match": lambda m: True, "rewrite": apply}, roots=["ZZZ::Foo"])
    graph = chain(("Foo", "ZZZ", {"k": 1}))
    assert [name for name, _ in rewrite(graph, [rule])["errors"]] == ["bad"] and graph.nodes[0].outputs[0].shape is None


def test_what_follows_from_unknown_values_is_unknown():
    graph = Graph(keep_unknown=True)
    x, scale = graph.add_input("x", "f32", [4]), graph.add_input("s", "f32", [])
    any_value = one(graph, "Any", x, "ZZZ")
    assert graph.insert("QuantizeLinear", [x, scale, any_value]).outputs[0].dtype is None
    assert graph.insert("QuantizeLinear", [x, scale]).outputs[0].dtype == "u8"
    shaped = graph.insert("Reshape", [any_value, graph.add_constant(np.array([0, 3, -1]))]).outputs[0]
    assert shaped.dtype is None and len(shaped.shape) == 3 and shaped.shape[1] == 3


def test_unknown_sizes_are_next_to_those_of_the_model():
    text = """graph main(t: f32[8,2], x: f32[n,4], k: i64[]) {
      l: i64[] = ZZZ::Length(x)
      s = Shape(x, start=0, end=1)
      y = com.microsoft::RelativePositionBias(t, s, l, max_distance=20)
      z = com.microsoft::RelativePositionBias(t, s, s, max_distance=20)
      return y, z
    }"""
    graph = Graph.parse(text, keep_unknown=True)
    y, z = graph.outputs
    assert (y.dtype, y.shape[:3]) == ("f32", (1, 2, "n")) and z.shape == (1, 2, "n", "n")
    assert y.shape[3] not in ("n", "k")
