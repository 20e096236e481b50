# SPDX-License-Identifier: Apache-2.0
"""Adaptive pooling ops, which have a number of windows instead of a window size."""

from __future__ import annotations

from typing import Any

import numpy as np

from .table import Unsupported, converts


def _bounds(size: int, count: int) -> list[tuple[int, int]]:
    """Of windows that overlap, and differ in size, where the count does not divide the size."""
    return [(k * size // count, -((k + 1) * size // -count)) for k in range(count)]


def _pooled(b: Any, value: Any, axis: int, size: int, count: int, reduce: str) -> Any:
    """Along one axis: windows as rows of equal length, filled up with their last elements, which a mean leaves out."""
    bounds = _bounds(size, count)
    longest = max(end - start for start, end in bounds)
    places = np.array([[min(start + k, end - 1) for k in range(longest)] for start, end in bounds], np.int64)
    rows = b.op("Gather", [value, b.graph.add_constant(places)], {"axis": axis})
    along = b.ints([axis + 1])
    if reduce == "ReduceMax" or all(end - start == longest for start, end in bounds):
        return b.op(reduce, [rows, along], {"keepdims": 0})
    after = [1] * (len(value.shape) - axis - 1)
    inside = np.array([[start + k < end for k in range(longest)] for start, end in bounds]).reshape([count, longest, *after])
    counts = np.array([end - start for start, end in bounds]).reshape([count, *after])
    kept = b.op("Where", [b.graph.add_constant(inside), rows, b.tensor(0, b.dtype)])
    return b.op("Div", [b.op("ReduceSum", [kept, along], {"keepdims": 0}), b.cast(b.graph.add_constant(counts), b.dtype)])


def _adaptive(b: Any, x: Any, sizes: Any, reduce: str, pool: str) -> Any:
    shape, value = b.shape_of(x), b.tensor(x)
    first = len(shape) - len(sizes)
    if all(s == 1 for s in sizes):
        return b.op(reduce, [value, b.ints(list(range(first, len(shape))))], {"keepdims": 1})
    given = shape[first:]
    if not all(isinstance(n, int) for n in (*given, *sizes)):
        raise Unsupported("not supported yet: windows of symbolic size")
    if 0 in given or 0 in sizes:
        raise Unsupported("not supported yet: windows of nothing")
    if first == 2 and all(g % s == 0 for g, s in zip(given, sizes, strict=True)):
        windows = [g // s for g, s in zip(given, sizes, strict=True)]
        return b.op(pool, [value], {"kernel_shape": windows, "strides": windows})
    for k, (size, count) in enumerate(zip(given, sizes, strict=True)):
        if size != count:
            value = _pooled(b, value, first + k, size, count, reduce)
    return b.op("Identity", [value])


@converts(
    "adaptive_avg_pool1d.default", "adaptive_avg_pool2d.default", "adaptive_avg_pool3d.default", "_adaptive_avg_pool2d.default",
    "_adaptive_avg_pool3d.default",
)  # fmt: skip
def adaptive_average(b: Any, x: Any, sizes: Any) -> Any:
    return _adaptive(b, x, sizes, "ReduceMean", "AveragePool")


@converts("adaptive_max_pool1d.default", "adaptive_max_pool2d.default", "adaptive_max_pool3d.default")
def adaptive_max_and_places(b: Any, x: Any, sizes: Any) -> Any:
    return _adaptive(b, x, sizes, "ReduceMax", "MaxPool"), None
