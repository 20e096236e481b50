# SPDX-License-Identifier: Apache-2.0
"""Functions that add layers to a network: to that of their tensors, or to the default one."""

from __future__ import annotations

from ..tensor import METHODS, Tensor
from .arithmetic import (
    abs,
    add,
    ceil,
    cos,
    div,
    eq,
    erf,
    exp,
    floor,
    gt,
    log,
    lt,
    maximum,
    minimum,
    mul,
    neg,
    not_op,
    op_and,
    op_or,
    pow,
    recip,
    round,
    sin,
    sqrt,
    sub,
    where,
)
from .attention import gpt_attention
from .layout import (
    cast,
    concat,
    embedding,
    expand,
    flatten,
    gather,
    identity,
    permute,
    select,
    shape,
    slice,
    split,
    squeeze,
    transpose,
    unsqueeze,
    view,
)
from .nn import gelu, layer_norm, matmul, relu, rms_norm, sigmoid, silu, softmax, softplus, tanh
from .operands import arange, constant
from .reduce import max, mean, min, prod, sum

reshape = view


def _create_tensor(trt_tensor: Tensor, producer: object = None) -> Tensor:
    """Returns the tensor itself: functionals need no wrapper here."""
    return trt_tensor


# What a tensor offers as a method, and what its operators do.
METHODS.update({f"__{function.__name__}__": function for function in (add, sub, mul, pow, matmul, neg, lt, gt)} | {"__truediv__": div})
_methods = (abs, cast, expand, flatten, gather, log, max, mean, min, permute, prod, select, softmax)
_methods += (split, sqrt, squeeze, sum, transpose, unsqueeze, view)
METHODS.update({function.__name__: function for function in _methods} | {"reshape": reshape})

__all__ = [
    "abs",
    "add",
    "arange",
    "cast",
    "ceil",
    "concat",
    "constant",
    "cos",
    "div",
    "embedding",
    "eq",
    "erf",
    "exp",
    "expand",
    "flatten",
    "floor",
    "gather",
    "gelu",
    "gpt_attention",
    "gt",
    "identity",
    "layer_norm",
    "log",
    "lt",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "mul",
    "neg",
    "not_op",
    "op_and",
    "op_or",
    "permute",
    "pow",
    "prod",
    "recip",
    "relu",
    "reshape",
    "rms_norm",
    "round",
    "select",
    "shape",
    "sigmoid",
    "silu",
    "sin",
    "slice",
    "softmax",
    "softplus",
    "split",
    "sqrt",
    "squeeze",
    "sub",
    "sum",
    "tanh",
    "transpose",
    "unsqueeze",
    "view",
    "where",
]
