# SPDX-License-Identifier: Apache-2.0
"""Along axes."""

from __future__ import annotations

from typing import Any

import torch

from .table import Unsupported, converts


def axes_of(b: Any, x: Any, dim: Any) -> list[int]:
    """All axes for None and for an empty list."""
    rank = len(b.shape_of(x))
    dims = [dim] if isinstance(dim, int) else list(dim or range(rank))
    return [d % rank for d in dims] if rank else []


def reduced(b: Any, op: str, x: Any, dim: Any, keepdim: bool, dtype: torch.dtype | None = None) -> Any:
    value = x if b.is_value(x) else b.tensor(x, dtype)
    axes = axes_of(b, x, dim)
    return b.op(op, [value, b.ints(axes)], {"keepdims": int(keepdim)}) if axes else value


@converts("sum.default")
def sum_all(b: Any, x: Any, dtype: Any) -> Any:
    return reduced(b, "ReduceSum", x, None, False, b.dtype)


@converts("sum.dim_IntList")
def sum_along(b: Any, x: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    return reduced(b, "ReduceSum", x, dim, keepdim, b.dtype)


@converts("mean.default")
def mean_all(b: Any, x: Any, dtype: Any) -> Any:
    return reduced(b, "ReduceMean", x, None, False, b.dtype)


@converts("mean.dim")
def mean_along(b: Any, x: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    return reduced(b, "ReduceMean", x, dim, keepdim, b.dtype)


@converts("amax.default")
def greatest(b: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return reduced(b, "ReduceMax", x, dim, keepdim)


@converts("amin.default")
def least(b: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return reduced(b, "ReduceMin", x, dim, keepdim)


@converts("max.default")
def greatest_of_all(b: Any, x: Any) -> Any:
    return reduced(b, "ReduceMax", x, None, False)


@converts("min.default")
def least_of_all(b: Any, x: Any) -> Any:
    return reduced(b, "ReduceMin", x, None, False)


@converts("prod.default")
def product_of_all(b: Any, x: Any, dtype: Any) -> Any:
    return reduced(b, "ReduceProd", x, None, False, b.dtype)


@converts("prod.dim_int")
def product(b: Any, x: Any, dim: int, keepdim: bool, dtype: Any) -> Any:
    return reduced(b, "ReduceProd", x, dim, keepdim, b.dtype)


def _place(b: Any, op: str, x: Any, dim: int | None, keepdim: bool) -> Any:
    if not b.shape_of(x):
        raise Unsupported("not supported yet: a place in a tensor without an axis")
    if dim is None:
        made = b.op(op, [b.reshaped(b.tensor(x), [-1])], {"axis": 0, "keepdims": 0})
        return b.reshaped(made, b.shape_of(b.node))
    return b.op(op, [b.tensor(x)], {"axis": dim, "keepdims": int(keepdim)})


@converts("argmax.default")
def argmax(b: Any, x: Any, dim: int | None, keepdim: bool) -> Any:
    return _place(b, "ArgMax", x, dim, keepdim)


@converts("argmin.default")
def argmin(b: Any, x: Any, dim: int | None, keepdim: bool) -> Any:
    return _place(b, "ArgMin", x, dim, keepdim)


@converts("max.dim")
def greatest_and_place(b: Any, x: Any, dim: int, keepdim: bool) -> Any:
    return reduced(b, "ReduceMax", x, dim, keepdim), _place(b, "ArgMax", x, dim, keepdim)


@converts("min.dim")
def least_and_place(b: Any, x: Any, dim: int, keepdim: bool) -> Any:
    return reduced(b, "ReduceMin", x, dim, keepdim), _place(b, "ArgMin", x, dim, keepdim)


@converts("any.default", "any.dim", "any.dims")
def any_of(b: Any, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    found = b.op("Cast", [b.tensor(x, torch.bool)], {"to": b.onnx_type(torch.int32)})
    return b.cast(b.op("ReduceMax", [found, b.ints(axes_of(b, x, dim))], {"keepdims": int(keepdim)}), torch.bool)


@converts("all.default", "all.dim", "all.dims")
def all_of(b: Any, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    found = b.op("Cast", [b.tensor(x, torch.bool)], {"to": b.onnx_type(torch.int32)})
    return b.cast(b.op("ReduceMin", [found, b.ints(axes_of(b, x, dim))], {"keepdims": int(keepdim)}), torch.bool)


@converts("logsumexp.default")
def log_sum_exp(b: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return reduced(b, "ReduceLogSumExp", x, dim, keepdim, b.dtype)


@converts("linalg_vector_norm.default")
def vector_norm(b: Any, x: Any, order: Any, dim: Any, keepdim: bool, dtype: Any) -> Any:
    if order not in (1, 2):
        raise Unsupported(f"not supported yet: the norm of order {order}")
    if not b.shape_of(x):  # nothing is reduced
        return b.op("Abs", [b.tensor(x, b.dtype)])
    return reduced(b, f"ReduceL{int(order)}", x, dim, keepdim, b.dtype)


@converts("var.dim")
def unbiased_variance(b: Any, x: Any, dim: Any, unbiased: bool, keepdim: bool) -> Any:
    return variance(b, x, dim, int(unbiased), keepdim)


@converts("var.correction")
def variance(b: Any, x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    axes = axes_of(b, x, dim)
    sizes = [b.shape_of(x)[a] for a in axes]
    if not all(isinstance(s, int) for s in sizes):
        raise Unsupported("not supported yet: a variance over a symbolic size")
    count = 1
    for size in sizes:
        count *= size
    divisor = count - (1 if correction is None else correction)
    if divisor <= 0:
        raise Unsupported("a variance of too few elements")
    value = b.tensor(x)
    off = b.op("Sub", [value, b.op("ReduceMean", [value, b.ints(axes)], {"keepdims": 1})])
    total = b.op("ReduceSum", [b.op("Mul", [off, off]), b.ints(axes)], {"keepdims": int(keepdim)})
    return b.op("Mul", [total, b.tensor(1 / divisor, b.dtype)])


@converts("var_mean.correction")
def variance_and_mean(b: Any, x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    return variance(b, x, dim, correction, keepdim), reduced(b, "ReduceMean", x, dim, keepdim)


@converts("var_mean.dim")
def unbiased_variance_and_mean(b: Any, x: Any, dim: Any, unbiased: bool, keepdim: bool) -> Any:
    return variance_and_mean(b, x, dim, int(unbiased), keepdim)


@converts("std_mean.dim")
def unbiased_spread_and_mean(b: Any, x: Any, dim: Any, unbiased: bool, keepdim: bool) -> Any:
    return spread_and_mean(b, x, dim, int(unbiased), keepdim)


@converts("std_mean.correction")
def spread_and_mean(b: Any, x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    return spread(b, x, dim, correction, keepdim), reduced(b, "ReduceMean", x, dim, keepdim)


@converts("aminmax.default")
def least_and_greatest(b: Any, x: Any, dim: Any, keepdim: bool) -> Any:
    return reduced(b, "ReduceMin", x, dim, keepdim), reduced(b, "ReduceMax", x, dim, keepdim)


@converts("std.dim")
def unbiased_spread(b: Any, x: Any, dim: Any, unbiased: bool, keepdim: bool) -> Any:
    return spread(b, x, dim, int(unbiased), keepdim)


@converts("std.correction")
def spread(b: Any, x: Any, dim: Any, correction: Any, keepdim: bool) -> Any:
    return b.op("Sqrt", [variance(b, x, dim, correction, keepdim)])


@converts("_weight_norm.default")
def weight_norm(b: Any, direction: Any, length: Any, dim: int) -> Any:
    axes = [a for a in range(len(b.shape_of(direction))) if a != dim % len(b.shape_of(direction))]
    norm = b.op("ReduceL2", [b.tensor(direction), b.ints(axes)], {"keepdims": 1})
    return b.op("Mul", [b.tensor(direction), b.op("Div", [b.tensor(length), norm])])


@converts("softmax.int", "_softmax.default", "special_softmax.int")
def softmax(b: Any, x: Any, dim: int, *_: Any) -> Any:
    return b.op("Softmax", [b.tensor(x, b.dtype)], {"axis": dim})


@converts("log_softmax.int", "_log_softmax.default")
def log_softmax(b: Any, x: Any, dim: int, *_: Any) -> Any:
    return b.op("LogSoftmax", [b.tensor(x, b.dtype)], {"axis": dim})


@converts("cumprod.default")
def running_product(b: Any, x: Any, dim: int, dtype: Any) -> Any:
    return b.op("CumProd", [b.tensor(x, b.dtype), b.tensor(dim, torch.int64)])


@converts("cumsum.default")
def running_sum(b: Any, x: Any, dim: int, dtype: Any) -> Any:
    return b.op("CumSum", [b.tensor(x, b.dtype), b.tensor(dim, torch.int64)])
