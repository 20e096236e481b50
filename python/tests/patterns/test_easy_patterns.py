# SPDX-License-Identifier: Apache-2.0
"""Declared patterns where such matchers have gone wrong before: each case with what is right."""

import numpy as np
import onnx.helper as oh
import pytest
from easy_patterns import NotNot, ReluOfSoftmax, optimised
from onnx_models import B, F, model, nots, nots_with_readers, ops
from tenon.pattern_optimizer import (
    EasyPatternOptimization,
)


def test_the_middle_value_is_an_output_of_the_graph():
    onx = nots(2, outputs=("y", "t1"))
    out, applied = optimised(onx, NotNot())
    assert applied == 0 and ops(out) == ["Not", "Not"] and [o.name for o in out.graph.output] == ["y", "t1"]


def test_the_middle_value_is_read_by_a_body():
    onx = nots_with_readers()
    out, applied = optimised(onx, NotNot())
    assert applied == 0 and sorted(ops(out)) == ["If", "Not", "Not"]


def test_the_same_names_in_another_domain():
    # com.custom::Not is no Not: it negates numbers.
    function = oh.make_function("com.custom", "Not", ["a"], ["b"], [oh.make_node("Neg", ["a"], ["b"])], [oh.make_opsetid("", 18)])
    nodes = [
        oh.make_node("Not", ["x"], ["t"], domain="com.custom"),
        oh.make_node("Abs", ["t"], ["u"]),
        oh.make_node("Not", ["u"], ["y"], domain="com.custom"),
    ]
    onx = model(nodes, {"x": (F, [4])}, {"y": (F, [4])}, functions=[function], domains=["com.custom"])
    out, applied = optimised(onx, NotNot())
    assert applied == 0 and "Abs" in ops(out)


class Halve(EasyPatternOptimization):
    def match_pattern(self, g, x):
        return g.op.Mul(x, np.array([0.5], dtype=np.float32))

    def apply_pattern(self, g, x):
        return g.op.Div(x, np.array(2, dtype=np.float32))


@pytest.mark.parametrize(("constant", "applied"), [(0.5, 1), (0.25, 0), (0.50000003, 1), (0.501, 0)])
def test_constants_compare_by_value(constant, applied):
    onx = model([oh.make_node("Mul", ["x", "c"], ["y"])], {"x": (F, [4])}, {"y": (F, [4])}, {"c": np.array([constant], np.float32)})
    assert optimised(onx, Halve())[1] == applied


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_constants_follow_the_type_of_the_model(dtype):
    t = oh.np_dtype_to_tensor_dtype(np.dtype(dtype))
    onx = model([oh.make_node("Mul", ["x", "c"], ["y"])], {"x": (t, [4])}, {"y": (t, [4])}, {"c": np.array([0.5], dtype)})
    out, applied = optimised(onx, Halve())
    assert applied == 1 and {i.data_type for i in out.graph.initializer} == {t}


@pytest.mark.parametrize(("axis", "applied"), [(1, 1), (0, 0)])
def test_integer_attributes_compare_on_every_operator(axis, applied):
    nodes = [oh.make_node("Softmax", ["x"], ["t"], axis=axis), oh.make_node("Relu", ["t"], ["y"])]
    onx = model(nodes, {"x": (F, [4, 3])}, {"y": (F, [4, 3])})
    assert optimised(onx, ReluOfSoftmax())[1] == applied


class LastSoftmax(EasyPatternOptimization):
    axis = -1

    def match_pattern(self, g, x):
        return g.op.Relu(g.op.Softmax(x, **({} if self.axis is None else {"axis": self.axis})))

    def apply_pattern(self, g, x):
        return g.op.Softmax(x, axis=-1)


@pytest.mark.parametrize("in_pattern", [-1, None])
@pytest.mark.parametrize(("in_model", "applied"), [({}, 1), ({"axis": -1}, 1), ({"axis": 0}, 0)])
def test_an_attribute_that_is_left_out_means_its_default_on_both_sides(in_pattern, in_model, applied):
    pattern = LastSoftmax()
    pattern.axis = in_pattern
    nodes = [oh.make_node("Softmax", ["x"], ["t"], **in_model), oh.make_node("Relu", ["t"], ["y"])]
    assert optimised(model(nodes, {"x": (F, [4, 3])}, {"y": (F, [4, 3])}), pattern)[1] == applied


class MulAdd(EasyPatternOptimization):
    def match_pattern(self, g, x, y, z):
        return g.op.Add(g.op.Mul(x, y), z)

    def apply_pattern(self, g, x, y, z):
        return g.op.Sum(g.op.Mul(x, y), z)


@pytest.mark.parametrize("operands", [["m", "c"], ["c", "m"]])
def test_operands_of_commutative_operators_come_in_any_order(operands):
    nodes = [oh.make_node("Mul", ["a", "b"], ["m"]), oh.make_node("Add", operands, ["y"])]
    out, applied = optimised(model(nodes, {n: (F, [4]) for n in "abc"}, {"y": (F, [4])}), MulAdd())
    assert applied == 1 and ops(out) == ["Mul", "Sum"]


def test_operands_of_others_do_not():
    class SubMul(MulAdd):
        def match_pattern(self, g, x, y, z):
            return g.op.Sub(g.op.Mul(x, y), z)

    nodes = [oh.make_node("Mul", ["a", "b"], ["m"]), oh.make_node("Sub", ["c", "m"], ["y"])]
    assert optimised(model(nodes, {n: (F, [4]) for n in "abc"}, {"y": (F, [4])}), SubMul())[1] == 0


class TwoRoots(EasyPatternOptimization):
    """Both roots are a Mul of x and something: only the other operand says which is which."""

    def match_pattern(self, g, x, y, z):
        return g.op.Neg(g.op.Mul(x, y)), g.op.Abs(g.op.Mul(x, z))

    def apply_pattern(self, g, x, y, z):
        return g.op.Mul(g.op.Neg(x), y), g.op.Mul(g.op.Abs(x), g.op.Abs(z))


@pytest.mark.parametrize("swapped", [False, True])
def test_two_roots_keep_their_outputs_apart(swapped):
    nodes = [
        oh.make_node("Mul", ["x", "a"], ["m1"]),
        oh.make_node("Mul", ["x", "b"], ["m2"]),
        oh.make_node("Neg", ["m1"], ["p"]),
        oh.make_node("Abs", ["m2"], ["q"]),
    ]
    nodes = [nodes[k] for k in ((1, 0, 3, 2) if swapped else (0, 1, 2, 3))]
    out, applied = optimised(model(nodes, {n: (F, [4]) for n in "xab"}, {"p": (F, [4]), "q": (F, [4])}), TwoRoots())
    assert applied == 1 and sorted(ops(out)) == ["Abs", "Abs", "Mul", "Mul", "Neg"]


def test_a_check_distinguishes_symmetric_roots():
    class Symmetric(EasyPatternOptimization):
        def match_pattern(self, g, x, y, z):
            return g.op.Sub(x, y), g.op.Sub(x, z)

        def apply_pattern(self, g, x, y, z):
            n = g.op.Neg(x)
            return g.op.Neg(g.op.Add(n, y)), g.op.Neg(g.op.Add(n, z))

    nodes = [oh.make_node("Sub", ["x", "a"], ["p"]), oh.make_node("Sub", ["x", "b"], ["q"])]
    out, applied = optimised(model(nodes, {n: (F, [4]) for n in "xab"}, {"p": (F, [4]), "q": (F, [4])}), Symmetric())
    assert applied == 1 and ops(out).count("Neg") == 3


def test_more_users_of_one_type_than_the_pattern_has():
    """x has three Abs users: the pattern's two are found among them, and the third is none of its business."""

    class TwoAbs(EasyPatternOptimization):
        def match_pattern(self, g, x):
            e = g.op.Exp(x)
            return g.op.Add(g.op.Abs(e), g.op.Neg(g.op.Abs(x)))

        def apply_pattern(self, g, x):
            return g.op.Sub(g.op.Exp(x), g.op.Abs(x))

    nodes = [
        oh.make_node("Exp", ["x"], ["e"]),
        oh.make_node("Abs", ["e"], ["a1"]),
        oh.make_node("Abs", ["x"], ["a2"]),
        oh.make_node("Abs", ["x"], ["a3"]),
        oh.make_node("Neg", ["a2"], ["n"]),
        oh.make_node("Add", ["a1", "n"], ["y"]),
    ]
    out, applied = optimised(model(nodes, {"x": (F, [4])}, {"y": (F, [4]), "a3": (F, [4])}), TwoAbs())
    assert applied == 1 and sorted(ops(out)) == ["Abs", "Abs", "Exp", "Sub"]


def test_four_nots_leave_nothing_but_identities():
    out, applied = optimised(nots(4), NotNot())
    assert applied == 2 and set(ops(out)) == {"Identity"}
    assert ops(optimised(nots(4), NotNot(), remove_identity=True)[0]) in ([], ["Identity"])


def test_a_shared_middle_value_with_another_user_is_no_match():
    nodes = [oh.make_node("Not", ["x"], ["t"]), oh.make_node("Not", ["t"], ["y"]), oh.make_node("And", ["t", "x"], ["z"])]
    assert optimised(model(nodes, {"x": (B, [4])}, {"y": (B, [4]), "z": (B, [4])}), NotNot())[1] == 0
