# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops."""

from __future__ import annotations

import math
from typing import Any

import torch

from .table import Unsupported, converts

SAME_NAME = {
    "abs": "Abs", "acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "atan": "Atan", "atanh": "Atanh", "ceil": "Ceil",
    "cos": "Cos", "cosh": "Cosh", "erf": "Erf", "exp": "Exp", "floor": "Floor", "log": "Log", "neg": "Neg", "reciprocal": "Reciprocal",
    "relu": "Relu", "round": "Round", "sigmoid": "Sigmoid", "sin": "Sin", "sinh": "Sinh", "sqrt": "Sqrt",
    "tan": "Tan", "tanh": "Tanh",
}  # fmt: skip
COMPARISONS = {"eq": "Equal", "gt": "Greater", "lt": "Less", "ge": "GreaterOrEqual", "le": "LessOrEqual"}


def _enter_unary(name: str, op: str) -> None:
    @converts(f"{name}.default")
    def unary(b: Any, x: Any) -> Any:
        whole = op in ("Ceil", "Floor", "Round") and not b.dtype.is_floating_point
        return b.op("Identity" if whole else op, [b.tensor(x, b.dtype)])


for _name, _op in SAME_NAME.items():
    _enter_unary(_name, _op)


def _enter_comparison(name: str, op: str) -> None:
    @converts(f"{name}.Tensor", f"{name}.Scalar")
    def compare(b: Any, x: Any, y: Any) -> Any:
        return b.op(op, b.promoted(x, y))


for _name, _op in COMPARISONS.items():
    _enter_comparison(_name, _op)


@converts("ne.Tensor", "ne.Scalar")
def not_equal(b: Any, x: Any, y: Any) -> Any:
    return b.op("Not", [b.op("Equal", b.promoted(x, y))])


def _scaled(b: Any, x: Any, alpha: Any) -> Any:
    value = x if b.is_value(x) else b.tensor(x, b.dtype)
    return value if alpha == 1 else b.op("Mul", [value, b.tensor(alpha, b.dtype)])


@converts("add.Tensor", "add.Scalar")
def add(b: Any, x: Any, y: Any, alpha: Any) -> Any:
    if b.dtype == torch.bool:
        return b.op("Or", [b.tensor(x), b.tensor(y, torch.bool)])
    return b.op("Add", [b.tensor(x, b.dtype), _scaled(b, y, alpha)])


@converts("sub.Tensor", "sub.Scalar")
def subtract(b: Any, x: Any, y: Any, alpha: Any) -> Any:
    return b.op("Sub", [b.tensor(x, b.dtype), _scaled(b, y, alpha)])


@converts("rsub.Tensor", "rsub.Scalar")
def subtract_from(b: Any, x: Any, y: Any, alpha: Any) -> Any:
    return b.op("Sub", [b.tensor(y, b.dtype), _scaled(b, x, alpha)])


@converts("mul.Tensor", "mul.Scalar")
def multiply(b: Any, x: Any, y: Any) -> Any:
    op = "And" if b.dtype == torch.bool else "Mul"
    return b.op(op, [b.tensor(x, b.dtype), b.tensor(y, b.dtype)])


@converts("div.Tensor", "div.Scalar")
def divide(b: Any, x: Any, y: Any) -> Any:
    return b.op("Div", [b.tensor(x, b.dtype), b.tensor(y, b.dtype)])


@converts("div.Tensor_mode", "div.Scalar_mode")
def divide_and_round(b: Any, x: Any, y: Any, mode: str | None) -> Any:
    quotient = divide(b, x, y)
    if mode is None:
        return quotient
    if not b.dtype.is_floating_point:
        raise Unsupported("not supported yet: integers divided and rounded")
    if mode == "floor":
        return _floored(b, x, y, quotient)
    return _cut(b, quotient)


def _cut(b: Any, value: Any) -> Any:
    return b.op("Mul", [b.op("Sign", [value]), b.op("Floor", [b.op("Abs", [value])])])


@converts("trunc.default", "fix.default")
def trunc(b: Any, x: Any) -> Any:
    return _cut(b, b.tensor(x)) if b.dtype.is_floating_point else b.op("Identity", [b.tensor(x)])


def _floored(b: Any, x: Any, y: Any, quotient: Any) -> Any:
    """By the remainder, which is exact: 1 / 0.1 is 10, rounded, but 0.1 has room in 1 nine times."""
    first, second = b.tensor(x, b.dtype), b.tensor(y, b.dtype)
    whole = b.op("Round", [b.op("Div", [b.op("Sub", [first, remainder(b, x, y)]), second])])
    return b.op("Where", [b.op("Equal", [second, b.tensor(0.0, b.dtype)]), quotient, whole])


@converts("floor_divide.default", "floor_divide.Scalar")
def floor_divide(b: Any, x: Any, y: Any) -> Any:
    return divide_and_round(b, x, y, "floor")


@converts("pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar")
def power(b: Any, x: Any, y: Any) -> Any:
    if y == 2:
        value = b.tensor(x, b.dtype)
        return b.op("Mul", [value, value])
    if not b.dtype.is_floating_point:
        raise Unsupported("not supported yet: powers of integers")
    return b.op("Pow", [b.tensor(x, b.dtype), b.tensor(y, b.dtype)])


@converts("maximum.default", "max.other")
def maximum(b: Any, x: Any, y: Any) -> Any:
    return b.op("Max", [b.tensor(x, b.dtype), b.tensor(y, b.dtype)])


@converts("minimum.default", "min.other")
def minimum(b: Any, x: Any, y: Any) -> Any:
    return b.op("Min", [b.tensor(x, b.dtype), b.tensor(y, b.dtype)])


@converts("clamp.default", "clamp.Tensor", "clip.default", "clip.Tensor", "hardtanh.default")
def clamp(b: Any, x: Any, low: Any, high: Any) -> Any:
    value = b.tensor(x, b.dtype)
    if low is not None:
        value = b.op("Max", [value, b.tensor(low, b.dtype)])
    return value if high is None else b.op("Min", [value, b.tensor(high, b.dtype)])


@converts("clamp_min.default", "clamp_min.Tensor")
def clamp_below(b: Any, x: Any, low: Any) -> Any:
    return clamp(b, x, low, None)


@converts("clamp_max.default", "clamp_max.Tensor")
def clamp_above(b: Any, x: Any, high: Any) -> Any:
    return clamp(b, x, None, high)


@converts("relu6.default")
def relu6(b: Any, x: Any) -> Any:
    return clamp(b, x, 0, 6)


@converts("rsqrt.default")
def reciprocal_root(b: Any, x: Any) -> Any:
    return b.op("Reciprocal", [b.op("Sqrt", [b.tensor(x, b.dtype)])])


@converts("log1p.default")
def log_of_sum(b: Any, x: Any) -> Any:
    return b.op("Log", [b.op("Add", [b.tensor(x, b.dtype), b.tensor(1, b.dtype)])])


@converts("expm1.default")
def exp_less_one(b: Any, x: Any) -> Any:
    """tanh(x / 2) * (exp(x) + 1), which loses no digits where x is small."""
    value = b.tensor(x, b.dtype)
    half = b.op("Mul", [value, b.tensor(0.5, b.dtype)])
    return b.op("Mul", [b.op("Tanh", [half]), b.op("Add", [b.op("Exp", [value]), b.tensor(1, b.dtype)])])


def _is_negative(b: Any, value: Any) -> Any:
    """-0 too."""
    below, turned = b.tensor(0, b.dtype), b.op("Reciprocal", [value])
    return b.op("Or", [b.op("Less", [value, below]), b.op("Less", [turned, below])])


@converts("atan2.default", "arctan2.default")
def angle(b: Any, y: Any, x: Any) -> Any:
    """As IEEE 754 has it: that of |x| and |y|, mirrored by the signs, those of zeros too."""
    across, up = b.tensor(x, b.dtype), b.tensor(y, b.dtype)
    width, height = b.op("Abs", [across]), b.op("Abs", [up])
    acute = b.op("Atan", [b.op("Div", [height, width])])
    for both, angle_then in ((0.0, 0.0), (math.inf, math.pi / 4)):  # the quotient says nothing
        edge = b.tensor(both, b.dtype)
        alike = b.op("And", [b.op("Equal", [width, edge]), b.op("Equal", [height, edge])])
        acute = b.op("Where", [alike, b.tensor(angle_then, b.dtype), acute])
    wide = b.op("Where", [_is_negative(b, across), b.op("Sub", [b.tensor(math.pi, b.dtype), acute]), acute])
    return b.op("Where", [_is_negative(b, up), b.op("Neg", [wide]), wide])


@converts("exp2.default")
def power_of_two(b: Any, x: Any) -> Any:
    return b.op("Exp", [b.op("Mul", [b.tensor(x, b.dtype), b.tensor(math.log(2), b.dtype)])])


@converts("softplus.default")
def softplus(b: Any, x: Any, beta: Any, threshold: Any) -> Any:
    value = b.tensor(x)
    scaled = value if beta == 1 else b.op("Mul", [value, b.tensor(beta, b.dtype)])
    soft = b.op("Softplus", [scaled])
    soft = soft if beta == 1 else b.op("Div", [soft, b.tensor(beta, b.dtype)])
    return b.op("Where", [b.op("Greater", [scaled, b.tensor(threshold, b.dtype)]), value, soft])


@converts("log_sigmoid.default", "log_sigmoid_forward.default")
def log_sigmoid(b: Any, x: Any) -> Any:
    """-log(1 + exp(-x))"""
    value = b.op("Neg", [b.op("Softplus", [b.op("Neg", [b.tensor(x)])])])
    return value if b.node.target is torch.ops.aten.log_sigmoid.default else (value, None)


@converts("glu.default")
def glu(b: Any, x: Any, dim: int) -> Any:
    half = b.shape_of(b.node)[dim]
    if not isinstance(half, int):
        raise Unsupported("not supported yet: half of a symbolic size")
    first, second = b.sliced(b.tensor(x), dim, 0, half, 1), b.sliced(b.tensor(x), dim, half, 2 * half, 1)
    return b.op("Mul", [first, b.op("Sigmoid", [second])])


@converts("remainder.Tensor", "remainder.Scalar")
def remainder(b: Any, x: Any, y: Any) -> Any:
    """The remainder with the sign of the divisor."""
    first, second = b.tensor(x, b.dtype), b.tensor(y, b.dtype)
    if not b.dtype.is_floating_point:
        return b.op("Mod", [first, second])
    left, zero = b.op("Mod", [first, second], {"fmod": 1}), b.tensor(0.0, b.dtype)
    against = b.op("Less", [b.op("Mul", [b.op("Sign", [left]), b.op("Sign", [second])]), zero])
    return b.op("Where", [against, b.op("Add", [left, second]), left])


@converts("fmod.Tensor", "fmod.Scalar")
def remainder_of_dividend(b: Any, x: Any, y: Any) -> Any:
    return b.op("Mod", [b.tensor(x, b.dtype), b.tensor(y, b.dtype)], {"fmod": 1})


@converts("sign.default", "sgn.default")
def sign(b: Any, x: Any) -> Any:
    """(0 < x) - (x < 0), which is 0 for NaN and for -0. ONNX's Sign keeps both."""
    value = b.tensor(x, b.dtype)
    if not b.dtype.is_floating_point:
        return b.op("Identity" if b.dtype == torch.bool else "Sign", [value])
    zero = b.tensor(0, b.dtype)
    return b.op("Sub", [b.cast(b.op("Less", [zero, value]), b.dtype), b.cast(b.op("Less", [value, zero]), b.dtype)])


@converts("square.default")
def square(b: Any, x: Any) -> Any:
    return power(b, x, 2)


@converts("log2.default")
def log2(b: Any, x: Any) -> Any:
    return b.op("Mul", [b.op("Log", [b.tensor(x, b.dtype)]), b.tensor(1 / math.log(2), b.dtype)])


@converts("silu.default")
def silu(b: Any, x: Any) -> Any:
    value = b.tensor(x)
    return b.op("Mul", [value, b.op("Sigmoid", [value])])


@converts("gelu.default")
def gelu(b: Any, x: Any, approximate: str) -> Any:
    return b.op("Gelu", [b.tensor(x)], {"approximate": approximate})


@converts("mish.default")
def mish(b: Any, x: Any) -> Any:
    return b.op("Mish", [b.tensor(x)])


@converts("leaky_relu.default")
def leaky_relu(b: Any, x: Any, slope: float) -> Any:
    return b.op("LeakyRelu", [b.tensor(x)], {"alpha": float(slope)})


@converts("elu.default")
def elu(b: Any, x: Any, alpha: float, scale: float, input_scale: float) -> Any:
    if scale != 1 or input_scale != 1:
        raise Unsupported("not supported yet: an elu with scales")
    return b.op("Elu", [b.tensor(x)], {"alpha": float(alpha)})


@converts("selu.default")
def selu(b: Any, x: Any) -> Any:
    return b.op("Selu", [b.tensor(x)])


@converts("hardsigmoid.default")
def hardsigmoid(b: Any, x: Any) -> Any:
    return b.op("HardSigmoid", [b.tensor(x)], {"alpha": 1 / 6, "beta": 0.5})


@converts("hardswish.default")
def hardswish(b: Any, x: Any) -> Any:
    return b.op("HardSwish", [b.tensor(x)])


@converts("prelu.default", "_prelu_kernel.default")
def prelu(b: Any, x: Any, weight: Any) -> Any:
    sizes, of_weight = b.shape_of(x), b.shape_of(weight)
    if len(of_weight) == 1 and len(sizes) > 2:
        return b.op("PRelu", [b.tensor(x), b.reshaped(b.tensor(weight), [of_weight[0]] + [1] * (len(sizes) - 2))])
    return b.op("PRelu", [b.tensor(x), b.tensor(weight)])


@converts("logical_not.default", "bitwise_not.default")
def negation(b: Any, x: Any) -> Any:
    if b.dtype != torch.bool:
        raise Unsupported("not supported yet: bits of integers")
    return b.op("Not", [b.tensor(x, torch.bool)])


def _enter_logical(name: str, op: str) -> None:
    def logical(b: Any, x: Any, y: Any) -> Any:
        if b.dtype != torch.bool:
            raise Unsupported("not supported yet: bits of integers")
        return b.op(op, [b.tensor(x, torch.bool), b.tensor(y, torch.bool)])

    converts(f"logical_{name}.default", f"bitwise_{name}.Tensor", f"bitwise_{name}.Scalar", f"__{name}__.Tensor")(logical)


for _name, _op in {"and": "And", "or": "Or", "xor": "Xor"}.items():
    _enter_logical(_name, _op)


@converts("where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar")
def where(b: Any, condition: Any, x: Any, y: Any) -> Any:
    return b.op("Where", [b.tensor(condition, torch.bool), b.tensor(x, b.dtype), b.tensor(y, b.dtype)])


@converts("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(b: Any, x: Any, mask: Any, value: Any) -> Any:
    return b.op("Where", [b.tensor(mask, torch.bool), b.tensor(value, b.dtype), b.tensor(x)])


@converts("isnan.default")
def is_nan(b: Any, x: Any) -> Any:
    return b.op("IsNaN", [b.tensor(x)])


@converts("_to_copy.default", "to.dtype", "to.dtype_layout", "type_as.default")
def to(b: Any, x: Any, *_: Any) -> Any:
    return b.tensor(x, b.dtype)


@converts("addcmul.default")
def add_product(b: Any, x: Any, y: Any, z: Any, value: Any) -> Any:
    return b.op("Add", [b.tensor(x, b.dtype), _scaled(b, b.op("Mul", [b.tensor(y, b.dtype), b.tensor(z, b.dtype)]), value)])


@converts("fill.Scalar", "fill.Tensor")
def fill(b: Any, x: Any, value: Any) -> Any:
    return b.op("Expand", [b.tensor(value, b.dtype), b.sizes(b.shape_of(x))])
