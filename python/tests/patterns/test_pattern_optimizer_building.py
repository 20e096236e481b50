# SPDX-License-Identifier: Apache-2.0
"""tenon.pattern_optimizer: GraphBuilder builds, reads and writes models, also with what it does not know."""

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx_models import B, F, model, nots, ops, same
from tenon import TenonError
from tenon.pattern_optimizer import (
    GraphBuilder,
    MatchResult,
    OptimizationOptions,
    PatternOptimization,
    pretty_onnx,
)
from tenon.rewriting import Graph


def test_a_graph_is_built_from_nothing():
    g = GraphBuilder(18, ir_version=9)
    g.make_tensor_input("x", F, ["batch", 4])
    w = g.make_initializer("w", np.eye(4, dtype=np.float32))
    y = g.op.Relu(g.op.MatMul("x", w), name="act")
    a, b = g.op.Split(y, axis=1, num_outputs=2, outputs=2)
    g.make_node("Concat", [b, a], ["z"], axis=1)
    g.make_node("Add", ["z", np.array([1], np.float32)], "out")
    g.make_tensor_output("out", F, ["batch", 4])
    assert g.get_shape("out") == ("batch", 4) and g.main_opset >= 18
    onx = g.to_onnx(optimize=False)
    onnx.checker.check_model(onx)
    assert ops(onx) == ["MatMul", "Relu", "Split", "Concat", "Add"] and onx.ir_version == 9 and onx.opset_import[0].version == 18
    assert {n.name for n in onx.graph.node} >= {"act"}
    with pytest.raises(TenonError, match="shape_mismatch|rank_mismatch|dtype_mismatch|MatMul"):
        g.op.MatMul("x", np.ones((7, 2), np.float32))


def test_two_inputs_or_outputs_of_one_name_are_refused():
    g = GraphBuilder(18)
    g.make_tensor_input("x", F, [4])
    g.make_node("Relu", ["x"], "y")
    g.make_tensor_output("y")
    with pytest.raises(TenonError, match="input 'x'"):
        g.make_tensor_input("x", F, [2])
    with pytest.raises(TenonError, match="output 'y'"):
        g.make_tensor_output("y")
    assert [o.name for o in g.to_onnx().graph.output] == ["y"]


def test_models_come_as_protos_bytes_and_paths(tmp_path):
    onx = nots(2)
    onnx.save(onx, tmp_path / "m.onnx")
    for given in (onx, onx.SerializeToString(), tmp_path / "m.onnx", str(tmp_path / "m.onnx")):
        same(onx, GraphBuilder(given).to_onnx())


def test_what_the_model_says_about_itself_stays():
    onx = nots(2)
    onx.doc_string = "words"
    onx.metadata_props.add(key="a", value="b")
    out = GraphBuilder(onx).to_onnx()
    assert out.doc_string == "words" and out.metadata_props[0].value == "b" and out.graph.name == "g"


def test_text_of_a_model():
    text = pretty_onnx(nots(2))
    assert "Not(x) -> t1" in text and "input: x: bool[4]" in text and "output: y: bool[4]" in text


def test_an_unknown_operator_is_kept():
    nodes = [
        oh.make_node("Not", ["x"], ["a"]),
        oh.make_node("Mystery", ["a", "", "x"], ["b", "", "c"], domain="com.custom", level=2, name="m"),
        oh.make_node("Not", ["b"], ["d"]),
        oh.make_node("Or", ["d", "x"], ["y"]),
    ]
    onx = model(nodes, {"x": (B, [4])}, {"y": (B, [4]), "c": (F, [2])}, domains=["com.custom"])
    builder = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns="default"))
    out = builder.to_onnx()
    assert out.graph.node[1] == onx.graph.node[1] and out.opset_import[1].domain == "com.custom"
    assert builder.get_type("c") == F and builder.get_shape("c") == (2,)
    assert ops(out) == ["Not", "Mystery", "Not", "Or"]


def test_reported_facts_of_results_of_unknown_operators_are_kept():
    class Mysteries(PatternOptimization):
        def match(self, g, node, matched):
            return MatchResult(self, [node], self.apply) if node.op_type == "Exp" else None

        def apply(self, g, node):
            g.builder.set_type("middle", F)
            g.builder.set_shape("middle", ("n", 2))
            return [g.make_node("Mystery", node.input, ["middle"], domain="m"), g.make_node("Relu", ["middle"], node.output)]

    onx = model([oh.make_node("Exp", ["x"], ["y"])], {"x": (F, ["n", 2])}, {"y": (F, ["n", 2])})
    builder = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns=[Mysteries()]))
    assert ops(builder.to_onnx()) == ["Mystery", "Relu"]
    assert builder.get_type("middle") == F and builder.get_shape("middle") == ("n", 2)


def test_a_node_that_breaks_the_rules_of_its_operator_is_kept_with_a_warning():
    nodes = [
        oh.make_node("Identity", ["x"], ["t"]),
        oh.make_node("MatMul", ["t", "z"], ["h"], name="odd"),
        oh.make_node("Relu", ["h"], ["y"]),
    ]
    onx = model(nodes, {"x": (F, [2, 3]), "z": (F, [4, 5])}, {"y": (F, [2, 5])})
    with pytest.warns(UserWarning, match=r"'odd' \(MatMul\) is kept as it is, and not understood: .*inner sizes"):
        builder = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns="default"))
    out = builder.to_onnx()
    assert ops(out) == ["MatMul", "Relu"] and list(out.graph.node[0].input) == ["x", "z"]
    with pytest.raises(TenonError, match="inner sizes"):
        Graph.from_onnx(onx.SerializeToString())


def test_weights_in_files_that_are_not_there_stay_where_they_are():
    onx = model(
        [oh.make_node("Identity", ["x"], ["t"]), oh.make_node("MatMul", ["t", "w"], ["y"])], {"x": (F, [2, 64])}, {"y": (F, [2, 64])}
    )
    weight = onx.graph.initializer.add(name="w", data_type=F, dims=[64, 64], data_location=onnx.TensorProto.EXTERNAL)
    for key, value in (("location", "far.bin"), ("offset", "128"), ("length", str(4 * 64 * 64))):
        weight.external_data.add(key=key, value=value)
    out = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns="default")).to_onnx()
    assert ops(out) == ["MatMul"]
    (written,) = out.graph.initializer
    assert {e.key: e.value for e in written.external_data} == {e.key: e.value for e in weight.external_data} and not written.raw_data


def test_sequences_pass_through():
    nodes = [
        oh.make_node("Identity", ["x"], ["t"]),
        oh.make_node("SequenceConstruct", ["t", "x"], ["s"]),
        oh.make_node("SequenceInsert", ["s", "x"], ["q"]),
    ]
    graph = oh.make_graph(nodes, "g", [oh.make_tensor_value_info("x", F, [4])], [oh.make_tensor_sequence_value_info("q", F, None)])
    onx = oh.make_model(graph, opset_imports=[oh.make_opsetid("", 18)], ir_version=9)
    out = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns="default")).to_onnx()
    assert ops(out) == ["SequenceConstruct", "SequenceInsert"] and out.graph.output[0].type.HasField("sequence_type")
