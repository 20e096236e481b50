# SPDX-License-Identifier: Apache-2.0
"""Declared patterns: what may be written in them, and what is refused."""

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from easy_patterns import NotNot, ReluOfSoftmax, optimised
from onnx_models import I64, B, F, model, nots, ops, same
from tenon.pattern_optimizer import (
    EasyPatternOptimization,
    GraphBuilder,
    GraphBuilderPatternOptimization,
    OnnxEasyPatternOptimization,
    OptimizationOptions,
    make_pattern_from_onnx,
    rule_of_models,
)


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
    class AnyAxis(ReluOfSoftmax):
        def validate_attribute_mapping(self, g, deleted_nodes, pattern_nodes=None):
            self.seen = g.get_axis(deleted_nodes[0])
            return self.seen == 0

    nodes = [oh.make_node("Softmax", ["x"], ["t"], axis=0), oh.make_node("Relu", ["t"], ["y"])]
    builder = GraphBuilder(
        model(nodes, {"x": (F, [4, 3])}, {"y": (F, [4, 3])}), optimization_options=OptimizationOptions(patterns=[AnyAxis()])
    )
    builder.optimize()
    assert [n.op_type for n in builder.nodes] == ["Softmax"]


def test_an_annotation_selects_an_element_type():
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


def test_the_new_side_may_be_an_unknown_operator():
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
