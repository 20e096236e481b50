# SPDX-License-Identifier: Apache-2.0
"""tenon.pattern_optimizer: hand-written patterns."""

import numpy as np
import onnx.helper as oh
import pytest
from onnx_models import B, F, model, nots, nots_with_readers, ops
from tenon.pattern_optimizer import (
    FunctionOptions,
    GraphBuilder,
    MatchResult,
    PatternOptimization,
)
from written_patterns import NotNot, applied, optimised


def test_not_not():
    out, rows = optimised(nots(2), [NotNot()])
    assert ops(out) == ["Identity"] and applied(rows) == ["NotNot"] and out.graph.node[0].name.startswith("NotNot--")


@pytest.mark.parametrize("outputs", [("y", "t1"), ("y",)])
def test_a_node_that_is_returned_stays(outputs):
    out, rows = optimised(nots(2, outputs=outputs), [NotNot()])
    assert applied(rows) == ["NotNot"] and ("Not" in ops(out)) == ("t1" in outputs)


def test_what_a_body_reads_stays_although_apply_forgets_it():
    class Forgets(NotNot):
        def apply(self, g, before, node):
            return [g.make_node("Identity", [before.input[0]], [node.output[0]])]

    onx = nots_with_readers()
    out, rows = optimised(onx, [Forgets()])
    assert applied(rows) == ["Forgets"] and sorted(ops(out)) == ["Identity", "If", "Not"]


def test_matches_never_overlap_in_one_iteration():
    seen = []

    class Watching(NotNot):
        def apply(self, g, before, node):
            seen.append((before.name, node.name))
            return super().apply(g, before, node)

    out, rows = optimised(nots(3), [Watching()])
    assert seen == [("not_0", "not_1")] and sorted(ops(out)) == ["Identity", "Not"]
    _, rows = optimised(nots(4), [NotNot()])
    assert {r["iteration"] for r in rows if r["pattern"] == "apply_NotNot"} == {
        next(r["iteration"] for r in rows if r["pattern"] == "apply_NotNot")
    }


def test_none_may_be_among_the_nodes():
    class WithBias(PatternOptimization):
        def match(self, g, node, matched):
            if node.op_type != "MatMul":
                return self.none()
            return MatchResult(self, [None, node, g.next_node(node.output[0])], self.apply)

        def apply(self, g, nothing, matmul, add):
            assert nothing is None and matmul.op_type == "MatMul"
            if add is None:
                return [matmul, g.make_node("Identity", matmul.output, ["never"])]
            bias = next(i for i in add.input if i != matmul.output[0])
            return [g.make_node("Gemm", [*matmul.input, bias], [add.output[0]])]

    nodes = [oh.make_node("MatMul", ["x", "w"], ["t"]), oh.make_node("Add", ["b", "t"], ["y"])]
    onx = model(nodes, {"x": (F, [3, 4])}, {"y": (F, [3, 2])}, {"w": np.ones((4, 2), np.float32), "b": np.ones(2, np.float32)})
    out, rows = optimised(onx, [WithBias()])
    assert ops(out) == ["Gemm"]


def test_new_nodes_may_come_in_any_order_with_initializers_and_constants():
    class Spread(PatternOptimization):
        def match(self, g, node, matched):
            return MatchResult(self, [node], self.apply, insert_at=node) if node.op_type == "Relu" else None

        def apply(self, g, node):
            zero = g.make_initializer("zero", np.zeros(1, np.float32))
            shape, product, out = g.unique_name("shape"), g.unique_name("p"), node.output[0]
            return [
                g.make_node("Reshape", [product, shape], [out]),
                g.make_node("Max", [node.input[0], zero], [product]),
                oh.make_node("Constant", [], [shape], value_ints=[2, 2]),
            ]

    onx = model([oh.make_node("Relu", ["x"], ["y"])], {"x": (F, [2, 2])}, {"y": (F, [2, 2])})
    out, rows = optimised(onx, [Spread()])
    assert ops(out) == ["Max", "Reshape"] and [r["exit_point"] for r in rows if r["pattern"] == "apply_Spread"] == ["insert_at"]


def test_axes_become_an_operand():
    class Drop(PatternOptimization):
        def match(self, g, node, matched):
            return MatchResult(self, [node], self.apply) if node.op_type == "Reshape" else None

        def apply(self, g, node):
            return [g.make_node_check_opset("Squeeze", [node.input[0]], [node.output[0]], axes=[0])]

    onx = model([oh.make_node("Reshape", ["x", "s"], ["y"])], {"x": (F, [1, 4])}, {"y": (F, [4])}, {"s": np.array([4], np.int64)})
    assert ops(optimised(onx, [Drop()])[0]) == ["Squeeze"]


def broken(match=None, apply=None):
    class Broken(PatternOptimization):
        def match(self, g, node, matched):
            if node.op_type != "Not":
                return None
            return match(self, g, node) if match else MatchResult(self, [node], self.apply)

        def apply(self, g, node):
            return apply(g, node)

    return Broken()


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        (broken(match=lambda p, g, n: 1 / 0), "threw while matching: ZeroDivisionError"),
        (broken(match=lambda p, g, n: g.make_initializer("a", np.zeros(1))), "the graph must not be changed here"),
        (broken(match=lambda p, g, n: g.graph.nodes[0].set_operand(0, g.graph.inputs[0])), "the graph must not be changed here"),
        (broken(match=lambda p, g, n: True), "expected a MatchResult or None"),
        (broken(match=lambda p, g, n: MatchResult(p, [GraphBuilder(nots(1)).nodes[0]], p.apply)), "no node of this graph"),
        (broken(apply=lambda g, n: 1 / 0), "threw while rewriting: ZeroDivisionError"),
        (broken(apply=lambda g, n: [7]), "expected nodes that it was given, or onnx.NodeProto"),
        (broken(apply=lambda g, n: [g.make_node("Not", ["nobody"], n.output)]), "nobody makes 'nobody'"),
        (broken(apply=lambda g, n: [n, g.make_node("Not", n.input, n.output)]), "makes 't1' again"),
        (broken(apply=lambda g, n: [g.make_node("Cast", n.input, n.output, to=1)]), "another element type"),
        (broken(apply=lambda g, n: [n]), "nothing has changed"),
        (broken(apply=lambda g, n: [g.make_node("Not", ["p"], ["q"]), g.make_node("Not", ["q"], ["p"])]), "use each other"),
    ],
)
def test_a_broken_pattern_is_named_undone_and_left_out_and_the_others_go_on(pattern, says):
    onx = nots(2)
    with pytest.warns(RuntimeWarning, match="Broken") as seen:
        out, rows = optimised(onx, [pattern, NotNot()])
    assert says in str(seen[0].message) and ops(out) == ["Identity"] and applied(rows) == ["NotNot"]


def test_ctrl_c_ends_it():
    def interrupt(p, g, n):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        optimised(nots(2), [broken(match=interrupt)])


def test_a_pattern_that_does_not_settle_is_named():
    class Swap(PatternOptimization):
        def match(self, g, node, matched):
            return MatchResult(self, [node], self.apply) if node.op_type == "Add" else None

        def apply(self, g, node):
            return [g.make_node("Add", list(reversed(node.input)), node.output)]

    onx = model([oh.make_node("Add", ["a", "b"], ["y"])], {"a": (F, [2]), "b": (F, [2])}, {"y": (F, [2])})
    out, rows = optimised(onx, [Swap()], max_iter=7)
    assert len(applied(rows)) == 7
    with pytest.warns(RuntimeWarning, match="Swap does not settle"):
        optimised(onx, [Swap()])


def test_fast_op_type_selects_where_a_pattern_is_tried():
    asked = []

    class Fast(NotNot):
        @classmethod
        def fast_op_type(cls):
            return {"Not"}

        def match(self, g, node, matched):
            asked.append(node.op_type)
            return super().match(g, node, matched)

    nodes = [oh.make_node("Not", ["x"], ["t"]), oh.make_node("And", ["t", "x"], ["y"])]
    optimised(model(nodes, {"x": (B, [4])}, {"y": (B, [4])}), [Fast()])
    assert set(asked) == {"Not"}


def test_a_lower_priority_number_goes_first():
    class Early(NotNot):
        def __init__(self):
            super().__init__(priority=0)

    class Late(NotNot):
        pass

    assert applied(optimised(nots(2), [Late(), Early()])[1]) == ["Early"]


def test_a_node_of_a_local_function_is_written_with_it():
    class UseIt(PatternOptimization):
        def match(self, g, node, matched):
            return MatchResult(self, [node], self.apply) if node.op_type == "Softplus" else None

        def apply(self, g, node):
            if not g.builder.has_local_function("Plus", domain="mine"):
                inner = GraphBuilder(g.main_opset, as_function=True)
                inner.make_tensor_input("a")
                inner.op.Softplus("a", outputs=["b"])
                inner.make_tensor_output("b")
                g.builder.make_local_function(inner, FunctionOptions(name="Plus", domain="mine"))
            return [g.make_node("Plus", node.input, node.output, domain="mine")]

    nodes = [oh.make_node("Softplus", ["x"], ["a"]), oh.make_node("Softplus", ["a"], ["y"])]
    out = optimised(model(nodes, {"x": (F, [4])}, {"y": (F, [4])}), [UseIt()])[0]
    assert ops(out) == ["Plus", "Plus"] and [f.name for f in out.functions] == ["Plus"]
    assert {o.domain for o in out.opset_import} == {"", "mine"}
