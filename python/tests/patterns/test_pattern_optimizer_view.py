# SPDX-License-Identifier: Apache-2.0
"""What patterns can ask the graph: GraphBuilderPatternOptimization."""

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx_models import B, F, model
from tenon.pattern_optimizer import FunctionOptions, GraphBuilder, GraphBuilderPatternOptimization, MatchResult, PatternOptimization
from tenon.rewriting import Graph, Rule, rewrite


@pytest.fixture
def view():
    body = oh.make_graph([oh.make_node("Neg", ["h"], ["b1"])], "then", [], [oh.make_tensor_value_info("b1", F, None)])
    other = oh.make_graph([oh.make_node("Abs", ["x"], ["b2"])], "else", [], [oh.make_tensor_value_info("b2", F, None)])
    nodes = [
        oh.make_node("MatMul", ["x", "w"], ["h"], name="mm"),
        oh.make_node("Softmax", ["h"], ["s"], axis=1, name="sm"),
        oh.make_node("Mul", ["s", "s"], ["t"]),
        oh.make_node("Transpose", ["w"], ["wt"], perm=[1, 0]),
        oh.make_node("MatMul", ["t", "wt"], ["y"]),
        oh.make_node("If", ["c"], ["z"], then_branch=body, else_branch=other),
    ]
    w = np.arange(8, dtype=np.float32).reshape(4, 2)
    onx = model(nodes, {"x": (F, ["n", 4]), "c": (B, [])}, {"y": (F, ["n", 4]), "z": (F, None)}, {"w": w, "half": np.float32(0.5)})
    builder = GraphBuilder(onx)
    builder.graph.add_constant(np.full(3, 2, np.int64), "twos")
    builder.graph.add_constant(np.float32(0.5), "half")
    return GraphBuilderPatternOptimization(builder)


def test_opsets_are_those_of_the_model(view):
    assert view.main_opset == 18 and view.opsets == {"": 18}


def test_the_view_has_types_shapes_and_ranks(view):
    assert view.has_type("h") and view.get_type("h") == F and view.try_infer_type("h") == F
    assert view.has_shape("h") and view.get_shape("h") == ("n", 2) and view.try_infer_shape("t") == ("n", 2)
    assert view.has_rank("h") and view.get_rank("h") == 2 and not view.has_shape("h", full=True) and view.same_shape("h", "s")


def test_unknown_names_have_no_facts(view):
    for ask in (view.has_type, view.has_rank, view.has_shape, view.is_used, view.is_output, view.is_constant, view.is_used_more_than_once):
        assert ask("nobody") is False
    assert view.try_infer_type("nobody") == 0 and view.try_infer_shape("nobody") is None and view.get_computed_constant("nobody") is None
    assert view.node_before("nobody") is None and view.next_nodes("nobody") == [] and view.get_constant_shape("nobody", exc=False) is None


def test_queries_for_unknown_facts():
    graph = Graph()
    graph.add_input("x")
    view = GraphBuilderPatternOptimization(graph)
    assert not view.has_type("x") and not view.has_rank("x") and view.try_infer_type("x") == 0 and view.try_infer_shape("x") is None
    for ask in (view.get_type, view.get_shape, view.get_rank, view.get_device):
        with pytest.raises(ValueError, match="not known"):
            ask("x")
    for ask in (view.try_infer_type, view.try_infer_shape):
        with pytest.raises(RuntimeError, match="not known"):
            ask("x", exc=True)


def test_the_view_has_reported_devices(view):
    assert not view.has_device("h")
    view.set_device("h", "cpu")
    assert view.has_device("h") and view.get_device("h") == -1


def test_the_view_computes_constants(view):
    assert view.is_constant("w") and view.is_constant("wt") and not view.is_constant("h")
    np.testing.assert_array_equal(view.get_computed_constant("wt"), np.arange(8).reshape(4, 2).T)
    assert view.get_computed_constant("wt", statistics=["min", "max"]) == [0, 7] and view.get_computed_constant("h") is None
    assert view.is_constant_scalar("half") and view.is_constant_scalar("half", 0.5) and not view.is_constant_scalar("half", 0.25)
    assert (
        not view.is_constant_scalar("twos") and not view.is_constant_scalar("twos", 2, broadcast=True) and not view.is_constant_scalar("h")
    )
    assert view.get_constant_scalar("half") == 0.5 and view.get_constant_shape("w") == (4, 2)


def test_the_view_walks(view):
    matmul, softmax = view.nodes[0], view.nodes[1]
    assert (matmul.name, matmul.op_type, matmul.domain, matmul.input, matmul.output) == ("mm", "MatMul", "", ["x", "w"], ["h"])
    assert view.node_before("h") is matmul and view.node_before("x") is None and view.node_before("") is None
    assert view.next_node("h") is softmax and view.next_nodes("h") == [softmax]
    with pytest.raises(ValueError, match="used by 2 nodes"):
        view.next_node("w")
    assert [n.op_type for n in view.next_nodes("w")] == ["MatMul", "Transpose"] and len(view.next_nodes("s")) == 1
    assert view.get_position(softmax) == 1 and view.input_names == ["x", "c"] and view.output_names == ["y", "z"]


def test_the_view_has_users_of_values(view):
    assert view.is_output("y") and not view.is_output("h") and view.is_used("h") and not view.is_used("half")
    assert view.is_used_by_subgraph("h") and not view.is_used_by_subgraph("s")
    # once by a node and once by a body; twice by one node; as an output
    assert view.is_used_more_than_once("h") and not view.is_used_more_than_once("s") and view.is_used_more_than_once("y")
    mul = view.next_node("s")
    assert view.is_used_only_by("s", mul) and not view.is_used_only_by("s", view.nodes[0]) and not view.is_used_only_by("h", view.nodes[1])


def test_the_view_reads_attributes(view):
    softmax = view.nodes[1]
    assert view.get_attribute(softmax, "axis").i == 1 and view.get_attribute(softmax, "nothing", exc=False) is None
    assert view.get_axis(softmax) == 1 and view.get_attribute_with_default(softmax, "nothing", 7) == 7
    assert view.get_attributes_with_default(softmax, axis=0, other=3) == {"axis": 1, "other": 3}
    with pytest.raises(KeyError, match="no attribute"):
        view.get_attribute(softmax, "nothing")
    copied = onnx.NodeProto()
    copied.CopyFrom(softmax)
    assert view.get_axis(copied) == 1 and copied.SerializeToString() == softmax.SerializeToString()
    graphs = {a.name: a.g for a in view.nodes[-1].attribute}
    assert [n.op_type for n in graphs["then_branch"].node] == ["Neg"] and graphs["then_branch"].node[0].input == ["h"]
    assert not graphs["then_branch"].input


def test_the_view_makes_nodes_without_adding_them(view):
    before = len(view.nodes)
    node = view.make_node("Relu", ["h"], name="r", alpha=0.5)
    assert (node.op_type, list(node.input), node.name, len(node.output)) == ("Relu", ["h"], "r", 1) and len(view.nodes) == before
    assert view.unique_name("h") != "h" and view.unique_name("new") != view.unique_name("new")
    assert list(view.make_node("Cast", "h", "k", to=1).output) == ["k"]
    squeeze = view.make_node_check_opset("Squeeze", ["h"], axes=[0])
    assert not squeeze.attribute and view.get_computed_constant(squeeze.input[1]).tolist() == [0]
    with pytest.raises(RuntimeError, match="expected one of Squeeze, Unsqueeze"):
        view.make_node_check_opset("MatMul", ["h"])
    with pytest.raises(AssertionError, match="expected an operator of the default domain"):
        view.make_node_check_opset("Squeeze", ["h"], domain="custom")


def test_nodes_carry_what_the_author_said_of_them_through_a_rewrite():
    nodes = [oh.make_node("Not", ["x"], ["t"]), oh.make_node("Not", ["t"], ["y"])]
    for n in nodes:
        n.metadata_props.add(key="layer", value="7")
    builder = GraphBuilder(model(nodes, {"x": (B, [4])}, {"y": (B, [4])}))
    assert builder.nodes[0].metadata_props[0].value == "7" and builder.graph.nodes[0].provenance is None
    rewrite(builder.graph, [Rule.equation("turn: Not(Not(?x)) => Identity(?x)")])
    assert builder.graph.nodes[0].metadata == {"layer": "7"} and builder.graph.nodes[0].provenance[0] == "turn"


def test_the_view_answers_the_queries_of_the_interface(view):
    assert view.get_shape_renamed("h") == ("n", 2) and view.get_registered_constraints() == {}
    assert view.value_as_shape("twos") == (2, 2, 2) and view.builder.value_as_shape("h") is None
    assert view.get_constant_shape("h", exc=False) is None
    with pytest.raises(ValueError, match="is no constant"):
        view.get_constant_shape("h")
    assert "MatMul(x, w) -> h" in view.pretty_text() and view.pretty_node(view.nodes[0]) == "MatMul(x, w) -> h"
    assert view.ONE.tolist() == [1] and view.MINUS_ONE.tolist() == [-1] and view.ZERO.tolist() == [0]
    assert view.ONE_NO_DIM.shape == view.ZERO_NO_DIM.shape == ()
    assert view.builder._known_shapes["h"] == ("n", 2) and view.builder._known_types["h"] == F


def test_matches_describe_themselves(view):
    matmul, softmax = view.nodes[:2]
    match = MatchResult(PatternOptimization(), [matmul, None, softmax], None)
    assert (
        match.to_string() == "MatchResult: PatternOptimization replaces ['MatMul', 'Softmax']"
        and "inputs: ['x', 'w', 'h']" in match.to_string(False)
    )
    assert match.debug_string().splitlines() == ["0 - MatMul(x, w) -> h", "1 -", "2 - Softmax(h) -> s"]
    assert "h:1:('n', 2)" in match.debug_string(view)


def test_a_builder_becomes_a_function_of_another():
    inner = GraphBuilder(18, as_function=True)
    inner.make_tensor_input("a")
    inner.op.Add(inner.op.Relu("a"), inner.ONE_NO_DIM, outputs=["b"])
    inner.make_tensor_output("b")
    builder = GraphBuilder(model([oh.make_node("Relu", ["x"], ["y"])], {"x": (F, [4])}, {"y": (F, [4])}))
    assert not builder.has_local_function("ReluOne", domain="mine")
    assert builder.make_local_function(inner, FunctionOptions(name="ReluOne", domain="mine")) == ([], ("mine", "ReluOne"))
    function = builder.get_local_function("ReluOne", domain="mine")
    assert builder.has_local_function("ReluOne", domain="mine") and list(function.input) == ["a"] and list(function.output) == ["b"]
    assert [n.op_type for n in function.node] == ["Constant", "Relu", "Add"]
    with pytest.raises(ValueError, match="needs a name and a domain"):
        builder.make_local_function(inner, FunctionOptions())
