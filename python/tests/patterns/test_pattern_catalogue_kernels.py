# SPDX-License-Identifier: Apache-2.0
"""Constants, casts, scatters and rotations as fused kernels: where each pattern applies, and where it must not."""

import numpy as np
import onnx.helper as oh
import pytest
from catalogue_judge import BOOL, DTYPES, F16, F64, KERNELS, becomes, graph, node, optimised, run, stays
from onnx_models import I64, F, ops
from tenon.pattern_optimizer import get_pattern_list

# --- operands and constants -------------------------------------------------------------------------------------------


def test_mul_sigmoid():
    nodes = [node("Sigmoid", "x", "s"), node("Mul", "s x", "y")]
    becomes(graph(nodes, {"x": [None, None]}, {"y": [None, None]}), "MulSigmoid", ["MulSigmoid"])
    stays(graph(nodes, {"x": [3]}, {"y": [3], "s": [3]}), "MulSigmoid")
    stays(graph(nodes, {"x": (F64, [3])}, {"y": (F64, [3])}), "MulSigmoid")
    stays(graph(nodes, {"x": [3]}, {"y": [3]}), "MulSigmoid", processor="CPU")
    stays(graph([nodes[0], node("Mul", "s z", "y")], {"x": [3], "z": [3]}, {"y": [3]}), "MulSigmoid")


def one_minus(one, shape):
    return graph([node("Sub", "one x", "y")], {"x": shape}, {"y": None}, {"one": np.array(one, np.float32)})


def test_neg_x_plus_1():
    becomes(one_minus([1], [3, 4]), "NegXplus1", ["NegXplus1"])
    becomes(one_minus(1, []), "NegXplus1", ["NegXplus1"])
    stays(one_minus([1], []), "NegXplus1")
    stays(one_minus([[1]], [3]), "NegXplus1")
    stays(one_minus([2], [3]), "NegXplus1")
    stays(graph([node("Sub", "one x", "y")], {"x": (I64, [3])}, {"y": (I64, [3])}, {"one": np.int64(1)}), "NegXplus1")


def where(c, shape=(3, 4), chosen="x", type=F, extra=None):
    nodes = [node("Cast", "x", "b", to=BOOL), node("Where", f"b c {chosen}", "y")]
    ports = {"x": (type, list(shape)), "z": (type, list(shape))}
    outputs = {"y": (type, None), **(extra or {})}
    return graph(nodes, ports, outputs, {"c": np.array(c, DTYPES[type])})


def test_replace_zero():
    by = {"by": float(np.float32(5.67)), "equal": 0}
    becomes(where([5.67]), "ReplaceZero", ["ReplaceZero"], by)
    becomes(where(5.67, ()), "ReplaceZero", ["ReplaceZero"], by)
    becomes(where(-1.5, type=F16), "ReplaceZero", ["ReplaceZero"], {"by": -1.5, "equal": 0})
    stays(where([5.67], ()), "ReplaceZero")
    stays(where([1, 2, 3, 4]), "ReplaceZero")
    stays(where(5.67, chosen="z"), "ReplaceZero")
    stays(where(5, type=I64), "ReplaceZero")
    stays(where(5.67, extra={"b": (BOOL, [3, 4])}), "ReplaceZero")


def tri(n, start=0, less="r c", plus=1, column=None, square=None):
    nodes = [
        node("Range", "start n step", "r"),
        node("Add", "plus r", "a"),
        node("Reshape", "a column", "c"),
        node("Less", less, "l"),
        node("ConstantOfShape", "square", "u", value=oh.make_tensor("v", F, [1], [-5.5])),
        node("Where", "l low u", "y"),
    ]
    weights = {"start": start, "n": n, "step": 1, "plus": [plus], "column": column or [n, 1], "square": square or [n, n]}
    weights = {k: np.array(v, np.int64) for k, v in weights.items()} | {"low": np.array([2], np.float32)}
    return graph(nodes, {}, {"y": [None, None]}, weights)


def test_tri_matrix():
    def got(source):
        return ops(optimised(source, "TriMatrix", constant_folding=False))

    source = tri(5)
    out = optimised(source, "TriMatrix", constant_folding=False)
    assert ops(out) == ["TriMatrix"] and len(out.graph.initializer) == 2
    np.testing.assert_array_equal(run(out, {})[0], run(source, {})[0])
    for other in (tri(5, less="c r"), tri(5, plus=2), tri(5, start=1, column=[4, 1], square=[4, 4]), tri(5, square=[1, 5])):
        assert "TriMatrix" not in got(other)


# --- transposes and casts ---------------------------------------------------------------------------------------------


def transposed_cast(first, before=F, after=F16, perm=(1, 0), extra=None):
    cast = {"to": after}
    steps = [("Cast", cast), ("Transpose", {"perm": list(perm)})][:: 1 if first == "Cast" else -1]
    nodes = [node(op, i, o, **a) for (op, a), i, o in zip(steps, "xh", "hy", strict=True)]
    return graph(nodes, {"x": (before, ["a", "b"])}, {"y": (after, None), **(extra or {})})


@pytest.mark.parametrize("first", ["Cast", "Transpose"])
def test_transpose_cast(first):
    becomes(transposed_cast(first), "TransposeCast", ["Transpose2DCastFP16"])
    becomes(transposed_cast(first, F16, F), "TransposeCast", ["Transpose2DCastFP32"])
    stays(transposed_cast(first, F64, F), "TransposeCast")
    stays(transposed_cast(first, I64, F), "TransposeCast")
    stays(transposed_cast(first, F, F), "TransposeCast")
    stays(transposed_cast(first, perm=(0, 1)), "TransposeCast")
    stays(transposed_cast(first, extra={"h": (F16 if first == "Cast" else F, None)}), "TransposeCast")


@pytest.mark.parametrize("kernel", ["AddMul", "MulAdd"])
def test_add_mul_transpose(kernel):
    def source(perm, extra=(), **attributes):
        nodes = [node(kernel, "x y z", "h", domain=KERNELS, **attributes), node("Transpose", "h", "f", perm=perm)]
        shapes = dict.fromkeys("xyz", [2, 3, 4, 5])
        return graph(nodes, shapes, {"f": None, **dict.fromkeys(extra)}, domains=(KERNELS,))

    middle = [0, 2, 1, 3]
    becomes(source(middle), "AddMulTranspose", [kernel], {"transposeMiddle": 1})
    becomes(source(middle, transposeMiddle=1), "AddMulTranspose", [kernel], {})
    stays(source([0, 1, 3, 2]), "AddMulTranspose")
    stays(source(middle, extra=["h"]), "AddMulTranspose")


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div"])
def test_an_operation_on_what_was_cast_is_done_in_the_narrow_type(op, side):
    operands = "x hc" if side else "hc x"
    source = graph([node("Cast", "h", "hc", to=F), node(op, operands, "f")], {"x": (F, ["d"]), "h": (F16, ["d"])}, {"f": ["d"]})
    out = becomes(source, "ComputationCastOpCast", ["Cast", op, "Cast"], {"to": F16}, x=np.array([0.5, 2, 4, 8]), h=np.array([1, 2, 4, 8]))
    assert list(out.graph.node[1].input)[side] == "h"


def test_an_operation_keeps_its_type():
    half, full = {"x": (F, ["d"]), "h": (F16, ["d"])}, {"f": ["d"]}
    cast, add = node("Cast", "h", "hc", to=F), node("Add", "x hc", "f")
    stays(graph([cast, add], half, {"f": ["d"], "hc": ["d"]}), "ComputationCastOpCast")  # the operand is needed as it is
    stays(graph([cast, node("Add", "hc hc", "f")], half, full), "ComputationCastOpCast")
    stays(graph([cast, node("Pow", "x hc", "f")], half, full), "ComputationCastOpCast")
    stays(graph([cast, add], {**half, "h": (I64, ["d"])}, full), "ComputationCastOpCast")
    stays(graph([cast, add, node("Cast", "f", "g", to=F16)], half, {"g": (F16, ["d"])}), "ComputationCastOpCast")
    for name in ("default", "experimental"):  # less precision is requested by name
        assert "ComputationCastOpCastPattern" not in [p.name for p in get_pattern_list(name)]


# --- scatters ---------------------------------------------------------------------------------------------------------


def scatter(value=0, type=F, extra=(), **attributes):
    zeros = node("ConstantOfShape", "s", "z", value=oh.make_tensor("v", type, [1], [value]))
    nodes = [zeros, node("ScatterND", "z i u", "y", **attributes)]
    inputs = {"s": (I64, [2]), "i": (I64, [3, 1]), "u": (type, [3, 4])}
    return graph(nodes, inputs, {"y": (type, [None, None]), **{name: (type, [None, None]) for name in extra}})


INTO = {"s": np.array([5, 4]), "i": np.array([[0], [2], [3]])}


@pytest.mark.parametrize("reduction", ["add", "max"])
def test_scatter_into_zeros(reduction):
    report = {"reduction": reduction.encode(), "strategy": b"optimize"}
    twice = INTO | {"i": np.array([[0], [2], [0]])}
    becomes(scatter(reduction=reduction), "ConstantOfShapeScatterND", ["ScatterNDOfShape"], report, **twice)


def test_scatter_into_others():
    for source in (scatter(), scatter(1, reduction="add"), scatter(type=I64, reduction="add"), scatter(reduction="add", extra=["z"])):
        stays(source, "ConstantOfShapeScatterND")


def test_scatter_without_a_reduction():
    out = becomes(scatter(), "AddReductionScatterND", ["ConstantOfShape", "ScatterND"], **INTO)
    assert out.graph.node[1].attribute[0].s == b"add"
    inputs = {"i": (I64, [3, 1]), "u": [3, 4]}
    folded = graph([node("ScatterND", "z i u", "y")], inputs, {"y": [5, 4]}, {"z": np.zeros((5, 4), np.float32)})
    out = becomes(folded, "AddReductionScatterND", ["ScatterND"], {"reduction": b"add"}, i=INTO["i"])
    for source in (scatter(1), scatter(reduction="max"), scatter(type=BOOL)):
        assert optimised(source, "AddReductionScatterND").graph.node[1] == source.graph.node[1]


def masked(equal="i m", chosen="o u", reduction="add", extra=(), indices=(6, 3, 1), updates=(6, 3, 4)):
    nodes = [
        node("Equal", equal, "e"),
        node("Where", f"e {chosen}", "w"),
        node("ScatterNDOfShape", "s i w", "y", domain=KERNELS, reduction=reduction),
    ]
    inputs = {"s": (I64, [2]), "i": (I64, list(indices)), "j": (I64, list(indices)), "u": list(updates)}
    weights = {"m": np.array([-1], np.int64), "o": np.array([0], np.float32)}
    return graph(nodes, inputs, {"y": [None, None], **dict.fromkeys(extra)}, weights, domains=(KERNELS,))


def test_masked_scatter():
    rows = np.array([[0, 1, 2], [2, 3, 4], [-1, 5, 6], [-1, 7, 0], [1, 2, -1], [3, -1, 4]])[..., None]
    given = {"s": np.array([8, 4]), "i": rows, "j": rows}
    report = {"reduction": b"add", "maskedValue": -1}
    becomes(masked(), "MaskedShapeScatterND", ["MaskedScatterNDOfShape"], report, **given)
    becomes(masked("m i"), "MaskedShapeScatterND", ["MaskedScatterNDOfShape"], report, **given)
    for source in (masked("j m"), masked(chosen="u o"), masked(reduction="max"), masked(extra=["w"])):
        stays(source, "MaskedShapeScatterND")
    stays(masked(indices=(6, 3, 2), updates=(6, 3, 1)), "MaskedShapeScatterND")


# --- rotary -----------------------------------------------------------------------------------------------------------


def rotary(parts, neg, axis=-1, sizes=(4, 4), last=8, split_axis=-1, extra=(), first=3):
    split = "x sizes" if sizes else "x"
    equal = {} if sizes else {"num_outputs": 2}
    nodes = [node("Split", split, "a b", axis=split_axis, **equal), node("Neg", neg, "n"), node("Concat", parts, "y", axis=axis)]
    weights = {"sizes": np.array(sizes, np.int64)} if sizes else {}
    return graph(nodes, {"x": [first, last]}, {"y": [None, None], **dict.fromkeys(extra)}, weights)


@pytest.mark.parametrize(("parts", "neg", "side"), [("n a", "b", b"right"), ("b n", "a", b"left")])
def test_rotary(parts, neg, side):
    becomes(rotary(parts, neg), "SimpleRotary", ["Rotary"], {"side": side})
    becomes(rotary(parts, neg, sizes=None), "SimpleRotary", ["Rotary"], {"side": side})
    stays(rotary(parts, neg, sizes=(5, 3)), "SimpleRotary")
    stays(rotary(parts, neg, sizes=None, last=7), "SimpleRotary")
    stays(rotary(parts, neg, extra=["a"]), "SimpleRotary")
    stays(rotary(parts, neg, axis=0), "SimpleRotary")
    stays(rotary(parts, neg, axis=0, split_axis=0, sizes=(2, 2), first=4), "SimpleRotary")
    stays(rotary(" ".join(parts.split()[::-1]), neg), "SimpleRotary")
