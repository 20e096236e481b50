# SPDX-License-Identifier: Apache-2.0
"""Element by element. Operands broadcast as NumPy's do; numbers take the element type of the other operand."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .operands import network_of, promoted


def _made(op_type: str, *operands: Any) -> Tensor:
    tensors = promoted(*operands)
    return network_of(*tensors).insert(op_type, [tensor.value for tensor in tensors])[0]


def add(left: Any, right: Any) -> Tensor:
    return _made("Add", left, right)


def sub(left: Any, right: Any) -> Tensor:
    return _made("Sub", left, right)


def mul(left: Any, right: Any) -> Tensor:
    return _made("Mul", left, right)


def div(left: Any, right: Any) -> Tensor:
    """Integers divide towards zero."""
    return _made("Div", left, right)


def pow(left: Any, right: Any) -> Tensor:
    return _made("Pow", left, right)


def maximum(left: Any, right: Any) -> Tensor:
    return _made("Max", left, right)


def minimum(left: Any, right: Any) -> Tensor:
    return _made("Min", left, right)


def eq(left: Any, right: Any) -> Tensor:
    return _made("Equal", left, right)


def gt(left: Any, right: Any) -> Tensor:
    return _made("Greater", left, right)


def lt(left: Any, right: Any) -> Tensor:
    return _made("Less", left, right)


def op_and(left: Any, right: Any) -> Tensor:
    return _made("And", left, right)


def op_or(left: Any, right: Any) -> Tensor:
    return _made("Or", left, right)


def where(condition: Tensor, input: Any, other: Any) -> Tensor:
    """`input` where `condition` holds, else `other`."""
    chosen = promoted(input, other)
    return network_of(condition).insert("Where", [condition.value, *[tensor.value for tensor in chosen]])[0]


def exp(input: Tensor) -> Tensor:
    return _made("Exp", input)


def log(input: Tensor) -> Tensor:
    return _made("Log", input)


def sqrt(input: Tensor) -> Tensor:
    return _made("Sqrt", input)


def recip(input: Tensor) -> Tensor:
    return _made("Reciprocal", input)


def abs(input: Tensor) -> Tensor:
    return _made("Abs", input)


def neg(input: Tensor) -> Tensor:
    return _made("Neg", input)


def sin(input: Tensor) -> Tensor:
    return _made("Sin", input)


def cos(input: Tensor) -> Tensor:
    return _made("Cos", input)


def erf(input: Tensor) -> Tensor:
    return _made("Erf", input)


def floor(input: Tensor) -> Tensor:
    return _made("Floor", input)


def ceil(input: Tensor) -> Tensor:
    return _made("Ceil", input)


def round(input: Tensor) -> Tensor:
    """Halves go to the even neighbour."""
    return _made("Round", input)


def not_op(input: Tensor) -> Tensor:
    return _made("Not", input)
