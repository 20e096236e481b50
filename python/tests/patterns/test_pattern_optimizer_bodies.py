# SPDX-License-Identifier: Apache-2.0
"""New nodes with bodies in `apply`."""

import numpy as np
import onnx
import onnx.helper as oh
import onnx.parser
import pytest
from tenon.pattern_optimizer import GraphBuilder, MatchResult, OptimizationOptions, PatternOptimization
from tenon.rewriting import Graph, Rule, rewrite

RELU = '<ir_version: 9, opset_import: ["": 18]> g (float[N,2] x, bool c) => (float[N,2] y) { a = Relu(x) y = Where(c, a, x) }'


def body(nodes, outputs, inputs=()):
    return oh.make_graph(nodes, "body", list(inputs), [oh.make_tensor_value_info(o, onnx.TensorProto.FLOAT, None) for o in outputs])


class WhereIsIf(PatternOptimization):
    """Where of a scalar condition and a Relu: an If whose branches read from outside."""

    def match(self, g, node, matched):
        before = g.node_before(node.input[1]) if node.op_type == "Where" else None
        return MatchResult(self, [before, node], self.apply) if before is not None and before.op_type == "Relu" else self.none()

    def apply(self, g, relu, where):
        zero = g.make_initializer("zero", np.zeros(1, dtype=np.float32))
        made, x = g.make_node("Neg", [relu.input[0]], ["made"]), where.input[2]
        then = body([oh.make_node("Neg", ["made"], ["t"]), oh.make_node("Max", ["t", zero], ["u"])], ["u"])
        other = body([oh.make_node("Identity", [x], ["t"])], ["t"])
        node = g.make_node("If", [where.input[0]], [where.output[0]], name="branch", then_branch=then, else_branch=other)
        return [node, made]  # not in order: the body of one reads the other


class ReluIsLoop(PatternOptimization):
    """Relu, taken twice in a Loop."""

    def match(self, g, node, matched):
        return MatchResult(self, [node], self.apply) if node.op_type == "Relu" else self.none()

    def apply(self, g, node):
        trips = g.make_initializer("", np.array(2, dtype=np.int64))
        inputs = [oh.make_tensor_value_info(n, t, []) for n, t in (("i", onnx.TensorProto.INT64), ("go", onnx.TensorProto.BOOL))]
        inputs.append(oh.make_tensor_value_info("v", onnx.TensorProto.FLOAT, None))
        inner = [oh.make_node("Identity", ["go"], ["on"]), oh.make_node("Relu", ["v"], ["w"])]
        return [g.make_node("Loop", [trips, "", node.input[0]], list(node.output), body=body(inner, ["on", "w"], inputs))]


@pytest.mark.parametrize(("pattern", "left"), [(WhereIsIf, ["Neg", "If"]), (ReluIsLoop, ["Loop", "Where"])])
def test_new_nodes_may_have_bodies(pattern, left):
    model = onnx.parser.parse_model(RELU)
    options = OptimizationOptions(patterns=[pattern()], remove_identity=False, recursive=False)
    builder = GraphBuilder(model, optimization_options=options)
    builder.optimize()
    builder.graph.verify()
    made = builder.to_onnx(optimize=False)
    assert [n.op_type for n in made.graph.node] == left
    onnx.checker.check_model(made)
    x = np.array([[-1, 2], [3, -4]], dtype=np.float32)
    for c, expected in ((True, np.maximum(x, 0)), (False, x)):
        assert (Graph.from_onnx(made.SerializeToString()).evaluate({"x": x, "c": c})["y"] == expected).all()


def test_bodies_are_taken_over_from_another_graph():
    other = Graph.parse(
        "graph main(c: bool[], z: f32[3]) {\n y = If(c) then_branch={ graph(h: f32[3]) { p = Neg(h)\n return p } } captures=[z]"
        " else_branch={ graph(h: f32[3]) { r = Relu(h)\n return r } } captures=[z]\n return y\n}\n"
    )

    def clone_if(m, w):
        like, c = other.nodes[0], m.graph.find("c")
        with pytest.raises(Exception, match="wrong number of operands"):
            w.clone_node(like, [c])
        (made,) = w.clone_node(like, [c, m.root.inputs[0], m.root.inputs[0]])
        w.replace(m.root.outputs[0], made)

    graph = Graph.parse("graph main(c: bool[], x: f32[3]) {\n y = Abs(x)\n return y\n}\n")
    rule = Rule.code("clone_if", {"match": lambda m: True, "rewrite": clone_if}, roots=["Abs"])
    assert rewrite(graph, [rule])["reports"] == []
    graph.verify()
    x = np.array([-1, 0, 2], dtype=np.float32)
    (name,) = graph.output_names
    assert (graph.evaluate({"c": True, "x": x})[name] == -x).all() and (graph.evaluate({"c": False, "x": x})[name] == [0, 0, 2]).all()


def test_a_refused_rewrite_takes_its_bodies_back():
    model = onnx.parser.parse_model(RELU)
    graph = Graph.from_onnx(model.SerializeToString())
    before = str(graph)
    other = Graph.parse(
        "graph main(c: bool[], z: f32[3]) {\n y = If(c) then_branch={ graph() { const p: f32[3] = [1, 2, 3]\n return p } }"
        " else_branch={ graph(h: f32[3]) { r = Relu(h)\n return r } } captures=[z]\n return y\n}\n"
    )

    def clone_if(m, w):
        w.clone_node(other.nodes[0], [m.graph.find("c"), m.graph.find("x")])
        return False

    rewrite(graph, [Rule.code("clone_if", {"match": lambda m: True, "rewrite": clone_if}, roots=["Where"])])
    graph.verify()
    assert str(graph) == before
