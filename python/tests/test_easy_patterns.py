# SPDX-License-Identifier: Apache-2.0
"""Declared patterns where such matchers have gone wrong before: each case with what is right."""

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx_models import I64, B, F, model, nots, nots_with_readers, ops, same
from tenon.pattern_optimizer import (
    EasyPatternOptimization,
    GraphBuilder,
    GraphBuilderPatternOptimization,
    OnnxEasyPatternOptimization,
    OptimizationOptions,
    make_pattern_from_onnx,
    rule_of_models,
)


class NotNot(EasyPatternOptimization):
    def match_pattern(self, g, x):
        return g.op.Not(g.op.Not(x))

    def apply_pattern(self, g, x):
        return g.op.Identity(x)


def optimised(onx, pattern, **options):
    options.setdefault("remove_identity", False)
    builder = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns=[pattern], **options))
    rows = builder.optimize()
    out = builder.to_onnx(optimize=False)
    same(onx, out)
    return out, sum(r["pattern"].startswith("apply_") for r in rows)


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


class SumOfSoftmax(EasyPatternOptimization):
    def match_pattern(self, g, x):
        return g.op.Relu(g.op.Softmax(x, axis=1))

    def apply_pattern(self, g, x):
        return g.op.Softmax(x, axis=1)


@pytest.mark.parametrize(("axis", "applied"), [(1, 1), (0, 0)])
def test_integer_attributes_compare_on_every_operator(axis, applied):
    nodes = [oh.make_node("Softmax", ["x"], ["t"], axis=axis), oh.make_node("Relu", ["t"], ["y"])]
    onx = model(nodes, {"x": (F, [4, 3])}, {"y": (F, [4, 3])})
    assert optimised(onx, SumOfSoftmax())[1] == applied


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


def test_symmetric_roots_are_separated_by_a_check():
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


# --- beyond the ten ---------------------------------------------------------------------------------------------------


def test_transposes_that_do_not_cancel_stay():
    class TransposeTranspose(EasyPatternOptimization):
        def match_pattern(self, g, x):
            return g.op.Transpose(g.op.Transpose(x))

        def apply_pattern(self, g, x):
            return x

    def pair(p, q):
        nodes = [
            oh.make_node("Transpose", ["x"], ["t"], perm=p),
            oh.make_node("Transpose", ["t"], ["u"], perm=q),
            oh.make_node("Relu", ["u"], ["y"]),
        ]
        return model(nodes, {"x": (F, [2, 2, 2])}, {"y": (F, [2, 2, 2])})

    assert optimised(pair([0, 2, 1], [1, 0, 2]), TransposeTranspose())[1] == 0
    assert optimised(pair([2, 1, 0], [2, 1, 0]), TransposeTranspose())[1] == 1  # the default, written out


def test_integer_constants_compare_element_by_element():
    class Rows(EasyPatternOptimization):
        def match_pattern(self, g, x):
            return g.op.Relu(g.op.Reshape(x, np.array([2, 6], dtype=np.int64)))

        def apply_pattern(self, g, x):
            return g.op.Reshape(g.op.Relu(x), np.array([2, 6], dtype=np.int64))

    for shape, applied in (([2, 6], 1), ([6, 2], 0)):
        nodes = [oh.make_node("Reshape", ["x", "s"], ["t"]), oh.make_node("Relu", ["t"], ["y"])]
        onx = model(nodes, {"x": (F, [3, 4])}, {"y": (F, shape)}, {"s": np.array(shape, np.int64)})
        assert optimised(onx, Rows())[1] == applied


def test_tensors_compare_with_their_shape_and_go_into_the_result():
    w = np.array([[1, 2], [3, 4]], np.float32)

    class Known(EasyPatternOptimization):
        def match_pattern(self, g, x):
            return g.op.Add(x, w)

        def apply_pattern(self, g, x):
            return g.op.Sub(x, -w)

    for given, applied in ((w, 1), (w + 1, 0), (w[:1], 0)):
        onx = model([oh.make_node("Add", ["x", "w"], ["y"])], {"x": (F, [2, 2])}, {"y": (F, [2, 2])}, {"w": given})
        assert optimised(onx, Known())[1] == applied


def test_an_integer_index_keeps_its_type():
    class First(EasyPatternOptimization):
        def match_pattern(self, g, x):
            return g.op.Relu(g.op.Gather(x, np.array(1, dtype=np.int64)))

        def apply_pattern(self, g, x):
            return g.op.Gather(g.op.Relu(x), np.array(1, dtype=np.int64))

    nodes = [oh.make_node("Gather", ["x", "i"], ["t"]), oh.make_node("Relu", ["t"], ["y"])]
    for index, applied in ((1, 1), (0, 0)):
        onx = model(nodes, {"x": (F, [3, 4])}, {"y": (F, [4])}, {"i": np.array(index, np.int64)})
        assert optimised(onx, First())[1] == applied


def test_several_results_of_one_node_are_one_node():
    class SwapHalves(EasyPatternOptimization):
        def match_pattern(self, g, x):
            a, b = g.op.Split(x, axis=1, num_outputs=2, outputs=2)
            return g.op.Concat(b, a, axis=1)

        def apply_pattern(self, g, x):
            a, b = g.op.Split(g.op.Neg(x), axis=1, num_outputs=2, outputs=2)
            return g.op.Neg(g.op.Concat(b, a, axis=1))

    nodes = [oh.make_node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2), oh.make_node("Concat", ["b", "a"], ["y"], axis=1)]
    builder = GraphBuilder(
        model(nodes, {"x": (F, [3, 4])}, {"y": (F, [3, 4])}),
        optimization_options=OptimizationOptions(patterns=[SwapHalves()], stop_after=1),
    )
    before = builder.to_onnx(optimize=False)
    builder.optimize()
    assert [n.op_type for n in builder.nodes] == ["Neg", "Split", "Concat", "Neg"]
    same(before, builder.to_onnx(optimize=False))


def test_what_the_check_finds_out_goes_into_the_result():
    class MulMul(EasyPatternOptimization):
        def match_pattern(self, g, x, a, b):
            return g.op.Mul(g.op.Mul(x, a), b)

        def validate_mapping(self, g, deleted_nodes, pattern_nodes=None):
            inner, outer = deleted_nodes
            assert [n.op_type for n in pattern_nodes] == ["Mul", "Mul"] and g.node_before(outer.input[0]) == inner
            if not (g.is_constant_scalar(inner.input[1]) and g.is_constant_scalar(outer.input[1])):
                return False
            self.add_validate_param("product", g.get_constant_scalar(inner.input[1]) * g.get_constant_scalar(outer.input[1]))
            return True

        def apply_pattern(self, g, x, a, b):
            return g.op.Mul(x, np.array(self.get_validate_param("product"), dtype=np.float32))

        def post_apply_pattern(self, g, *nodes):
            self.made = [n.op_type for n in nodes]

    nodes = [oh.make_node("Mul", ["x", "a"], ["t"]), oh.make_node("Mul", ["t", "b"], ["y"])]
    pattern = MulMul()
    out, applied = optimised(model(nodes, {"x": (F, [4])}, {"y": (F, [4])}, {"a": np.float32(3), "b": np.float32(5)}), pattern)
    assert applied == 1 and ops(out) == ["Mul"] and pattern.made == ["Mul"]
    assert optimised(model(nodes, {"x": (F, [4]), "a": (F, [])}, {"y": (F, [4])}, {"b": np.float32(5)}), pattern)[1] == 0
    with pytest.raises(KeyError):  # what one match found out is not there for the next
        pattern.get_validate_param("product")


def test_a_pattern_may_compare_attributes_itself():
    class AnyAxis(SumOfSoftmax):
        def validate_attribute_mapping(self, g, deleted_nodes, pattern_nodes=None):
            self.seen = g.get_axis(deleted_nodes[0])
            return self.seen == 0

    nodes = [oh.make_node("Softmax", ["x"], ["t"], axis=0), oh.make_node("Relu", ["t"], ["y"])]
    builder = GraphBuilder(
        model(nodes, {"x": (F, [4, 3])}, {"y": (F, [4, 3])}), optimization_options=OptimizationOptions(patterns=[AnyAxis()])
    )
    builder.optimize()
    assert [n.op_type for n in builder.nodes] == ["Softmax"]


def test_an_annotation_asks_for_an_element_type():
    class OnlyDoubles(EasyPatternOptimization):
        def match_pattern(self, g, x: "DOUBLE"):  # noqa: F821
            return g.op.Abs(g.op.Neg(x))

        def apply_pattern(self, g, x):
            return g.op.Abs(x)

    nodes = [oh.make_node("Neg", ["x"], ["t"]), oh.make_node("Abs", ["t"], ["y"])]
    for t, applied in ((onnx.TensorProto.DOUBLE, 1), (F, 0), (I64, 0)):
        assert optimised(model(nodes, {"x": (t, [4])}, {"y": (t, [4])}), OnlyDoubles())[1] == applied


def swish(as_function, opset=18):
    sides = [
        ([oh.make_node("Sigmoid", ["x"], ["s"]), oh.make_node("Mul", ["x", "s"], ["y"])], opset),
        ([oh.make_node("Swish", ["x"], ["y"])], 24),
    ]
    if as_function:
        return [oh.make_function("f", "swish", ["x"], ["y"], nodes, [oh.make_opsetid("", v)]) for nodes, v in sides]
    return [model(nodes, {"x": (F, ["n"])}, {"y": (F, ["n"])}, opset=v) for nodes, v in sides]


@pytest.mark.parametrize("as_function", [False, True])
def test_two_models_or_functions_are_a_pattern(as_function):
    rule = rule_of_models(*swish(as_function), name="swish")
    nodes = [oh.make_node("Sigmoid", ["a"], ["s"]), oh.make_node("Mul", ["s", "a"], ["y"])]
    builder = GraphBuilder(model(nodes, {"a": (F, [2, 3])}, {"y": (F, [2, 3])}), optimization_options=OptimizationOptions(patterns=[rule]))
    builder.optimize()
    assert [n.op_type for n in builder.nodes] == ["Swish"]


def test_inside_bodies():
    body = oh.make_graph(
        [oh.make_node("Not", ["x"], ["a"]), oh.make_node("Not", ["a"], ["b"])], "then", [], [oh.make_tensor_value_info("b", B, [4])]
    )
    other = oh.make_graph([oh.make_node("Not", ["x"], ["c2"])], "else", [], [oh.make_tensor_value_info("c2", B, [4])])
    onx = model([oh.make_node("If", ["c"], ["y"], then_branch=body, else_branch=other)], {"x": (B, [4]), "c": (B, [])}, {"y": (B, [4])})
    assert optimised(onx, NotNot())[1] == 1
    assert optimised(onx, NotNot(), recursive=False)[1] == 0


@pytest.mark.parametrize(
    ("match", "apply", "says"),
    [
        (lambda g, x: x, lambda g, x: x, "must be the result of an op"),
        (lambda g, x: g.op.Not(x), lambda g, x: (g.op.Not(x), g.op.Identity(x)), "another number of outputs"),
        (lambda g, x: g.op.RandomNormalLike(x), lambda g, x: x, "another result each time"),
        (lambda g, x: 1 / 0, lambda g, x: x, "ZeroDivisionError"),
        (lambda g, x: g.op.Not(x), lambda g, x: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_patterns_that_make_no_sense_say_why(match, apply, says):
    class Odd(EasyPatternOptimization):
        def match_pattern(self, g, x):
            return match(g, x)

        def apply_pattern(self, g, x):
            return apply(g, x)

    with pytest.warns(RuntimeWarning, match=f"(?s)pattern Odd was left out.*{says}"):
        GraphBuilder(nots(2), optimization_options=OptimizationOptions(patterns=[Odd()])).optimize()


def test_two_models_are_a_pattern():
    def side(nodes):
        return model(nodes, {"x": (B, [4])}, {"y": (B, [4])})

    match = side([oh.make_node("Not", ["x"], ["t"]), oh.make_node("Not", ["t"], ["y"])])
    apply = side([oh.make_node("Identity", ["x"], ["y"])])
    pattern = make_pattern_from_onnx("NotNotOfModels", match, apply)
    assert isinstance(pattern, OnnxEasyPatternOptimization) and pattern.name == "NotNotOfModels"
    assert optimised(nots(4), pattern)[1] == 2


def test_a_pattern_shows_its_sides():
    g = GraphBuilderPatternOptimization(GraphBuilder(nots(2)))
    pattern = NotNot()
    assert pattern.display_pattern(g, pattern.match_pattern).splitlines()[0].startswith("match_pattern(x) -> ")
    assert pattern.display_pattern(g, pattern.match_pattern).count("Not(") == 2


def test_sides_may_be_built_by_anyop():
    class Anyop(EasyPatternOptimization):
        def match_pattern(self, g, x):
            return g.anyop.Not(g.anyop.Not(x))

        def apply_pattern(self, g, x):
            return g.anyop.Identity(x)

    assert optimised(nots(2), Anyop())[1] == 1


def test_the_new_side_may_be_an_operator_that_nobody_knows():
    class AddAdd(EasyPatternOptimization):
        def match_pattern(self, g, x, y, z):
            return g.op.Add(g.op.Add(x, y), z)

        def apply_pattern(self, g, x, y, z):
            return g.anyop.AddAdd(x, y, z, domain="ZZZ", level=3)

    nodes = [oh.make_node("Add", ["x", "y"], ["t"]), oh.make_node("Add", ["t", "z"], ["w"])]
    builder = GraphBuilder(
        model(nodes, {n: (F, [4]) for n in "xyz"}, {"w": (F, [4])}), optimization_options=OptimizationOptions(patterns=[AddAdd()])
    )
    out = builder.to_onnx()
    (node,) = out.graph.node
    assert (node.domain, node.op_type, len(node.input), list(node.output), node.attribute[0].i) == ("ZZZ", "AddAdd", 3, ["w"], 3)
    assert {o.domain: o.version for o in out.opset_import} == {"": 18, "ZZZ": 1} and builder.get_type("w") == F
    onnx.checker.check_model(out)


def test_results_are_counted_by_what_the_operator_says():
    class Halves(EasyPatternOptimization):
        def match_pattern(self, g, x):
            return g.op.Split(x, axis=-1, num_outputs=2)

        def apply_pattern(self, g, x):
            return g.anyop.Halves(x, domain="mine", outputs=2)

    onx = model([oh.make_node("Split", ["x"], ["a", "b"], axis=-1, num_outputs=2)], {"x": (F, [4])}, {"a": (F, [2]), "b": (F, [2])})
    out = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns=[Halves()])).to_onnx()
    assert [(n.op_type, list(n.output)) for n in out.graph.node] == [("Halves", ["a", "b"])]
