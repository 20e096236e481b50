# SPDX-License-Identifier: Apache-2.0
"""Elementwise ops that are composed of several ONNX ops."""

from __future__ import annotations

import math
from typing import Any

import torch

from .pointwise import trunc
from .table import Unsupported, converts


@converts("addcdiv.default")
def add_quotient(b: Any, x: Any, y: Any, z: Any, value: Any) -> Any:
    if not b.dtype.is_floating_point:
        raise Unsupported("not supported yet: quotients of integers")
    quotient = b.op("Div", [b.tensor(y, b.dtype), b.tensor(z, b.dtype)])
    return b.op("Add", [b.tensor(x, b.dtype), quotient if value == 1 else b.op("Mul", [quotient, b.tensor(value, b.dtype)])])


@converts("lerp.Scalar", "lerp.Tensor")
def interpolate(b: Any, start: Any, end: Any, weight: Any) -> Any:
    """From the nearer end, so that both ends are exact."""
    first, last, share = b.tensor(start, b.dtype), b.tensor(end, b.dtype), b.tensor(weight, b.dtype)
    span = b.op("Sub", [last, first])
    near_first = b.op("Add", [first, b.op("Mul", [span, share])])
    near_last = b.op("Sub", [last, b.op("Mul", [span, b.op("Sub", [b.tensor(1, b.dtype), share])])])
    return b.op("Where", [b.op("Less", [b.op("Abs", [share]), b.tensor(0.5, b.dtype)]), near_first, near_last])


@converts("celu.default")
def celu(b: Any, x: Any, alpha: float) -> Any:
    return b.op("Celu", [b.tensor(x)], {"alpha": float(alpha)})


@converts("threshold.default")
def threshold(b: Any, x: Any, limit: Any, value: Any) -> Any:
    given = b.tensor(x)
    return b.op("Where", [b.op("LessOrEqual", [given, b.tensor(limit, b.dtype)]), b.tensor(value, b.dtype), given])


@converts("log10.default")
def log10(b: Any, x: Any) -> Any:
    return b.op("Mul", [b.op("Log", [b.tensor(x, b.dtype)]), b.tensor(1 / math.log(10), b.dtype)])


@converts("deg2rad.default")
def to_radians(b: Any, x: Any) -> Any:
    return b.op("Mul", [b.tensor(x, b.dtype), b.tensor(math.pi / 180, b.dtype)])


@converts("rad2deg.default")
def to_degrees(b: Any, x: Any) -> Any:
    return b.op("Mul", [b.tensor(x, b.dtype), b.tensor(180 / math.pi, b.dtype)])


@converts("frac.default")
def fraction(b: Any, x: Any) -> Any:
    return b.op("Sub", [b.tensor(x), trunc(b, x)])


@converts("logit.default")
def logit(b: Any, x: Any, epsilon: float | None) -> Any:
    value = b.tensor(x, b.dtype)
    if epsilon is not None:
        value = b.op("Min", [b.op("Max", [value, b.tensor(epsilon, b.dtype)]), b.tensor(1 - epsilon, b.dtype)])
    return b.op("Log", [b.op("Div", [value, b.op("Sub", [b.tensor(1, b.dtype), value])])])


@converts("xlogy.Tensor", "xlogy.Scalar_Self", "xlogy.Scalar_Other", "special_xlogy.default")
def times_log(b: Any, x: Any, y: Any) -> Any:
    """0 where x is 0, but NaN where y is."""
    factor, value, zero = b.tensor(x, b.dtype), b.tensor(y, b.dtype), b.tensor(0, b.dtype)
    product = b.op("Mul", [factor, b.op("Log", [value])])
    vanishes = b.op("And", [b.op("Equal", [factor, zero]), b.op("Equal", [value, value])])
    return b.op("Where", [vanishes, zero, product])


def _enter_infinity(name: str, attributes: dict[str, int]) -> None:
    @converts(f"{name}.default")
    def is_infinite(b: Any, x: Any) -> Any:
        if not b.dtype_of(x).is_floating_point:
            raise Unsupported("not supported yet: infinities of integers")
        return b.op("IsInf", [b.tensor(x)], attributes)


for _name, _attributes in {"isinf": {}, "isposinf": {"detect_negative": 0}, "isneginf": {"detect_positive": 0}}.items():
    _enter_infinity(_name, _attributes)


@converts("isfinite.default")
def is_finite(b: Any, x: Any) -> Any:
    if not b.dtype_of(x).is_floating_point:
        raise Unsupported("not supported yet: infinities of integers")
    value = b.tensor(x)
    return b.op("Less", [b.op("Abs", [value]), b.tensor(math.inf, b.dtype_of(x))])


@converts("nan_to_num.default")
def replace_nan(b: Any, x: Any, nan: float | None, above: float | None, below: float | None) -> Any:
    value = b.tensor(x)
    if not b.dtype.is_floating_point:
        return b.op("Identity", [value])
    limits = torch.finfo(b.dtype)
    value = b.op("Where", [b.op("IsNaN", [value]), b.tensor(0.0 if nan is None else nan, b.dtype), value])
    for infinity, given, usual in ((math.inf, above, limits.max), (-math.inf, below, limits.min)):
        replaced = b.tensor(usual if given is None else given, b.dtype)
        value = b.op("Where", [b.op("Equal", [b.tensor(x), b.tensor(infinity, b.dtype)]), replaced, value])
    return value
