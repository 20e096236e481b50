# SPDX-License-Identifier: Apache-2.0
"""Pooling ops, and ops that move channels of images to pixels."""

from __future__ import annotations

from typing import Any

from .table import Unsupported, converts


def _each(value: Any, count: int) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def image_of(b: Any, x: Any, count: int) -> Any:
    if len(b.shape_of(x)) != count + 2:
        raise Unsupported("not supported yet: an image without a batch")
    return b.tensor(x)


def _windows(size: Any, stride: Any, padding: Any, ceil: bool, count: int) -> dict[str, Any]:
    sizes = _each(size, count)
    strides = _each(stride, count) if stride else sizes
    return {"kernel_shape": sizes, "strides": strides, "pads": _each(padding, count) * 2, "ceil_mode": int(ceil)}


def _max_pool(b: Any, x: Any, size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, count: int) -> Any:
    attributes = _windows(size, stride, padding, ceil, count) | {"dilations": _each(dilation, count)}
    return b.op("MaxPool", [image_of(b, x, count)], attributes)


@converts("max_pool3d.default")
def max_pool3d(b: Any, x: Any, size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> Any:
    return _max_pool(b, x, size, stride, padding, dilation, ceil, 3)


@converts("max_pool2d.default")
def max_pool2d(b: Any, x: Any, size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> Any:
    return _max_pool(b, x, size, stride, padding, dilation, ceil, 2)


@converts("max_pool1d.default")
def max_pool1d(b: Any, x: Any, size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> Any:
    return _max_pool(b, x, size, stride, padding, dilation, ceil, 1)


@converts("max_pool2d_with_indices.default")
def max_pool2d_and_places(b: Any, x: Any, size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> Any:
    return _max_pool(b, x, size, stride, padding, dilation, ceil, 2), None


def _average_pool(b: Any, x: Any, size: Any, stride: Any, padding: Any, ceil: bool, counts_padding: bool, count: int) -> Any:
    attributes = _windows(size, stride, padding, ceil, count) | {"count_include_pad": int(counts_padding)}
    return b.op("AveragePool", [image_of(b, x, count)], attributes)


def _enter_average(count: int) -> None:
    @converts(f"avg_pool{count}d.default")
    def average(b: Any, x: Any, size: Any, stride: Any, padding: Any, ceil: bool, counts_padding: bool, divisor: Any) -> Any:
        if divisor is not None:
            raise Unsupported("not supported yet: an average with a divisor")
        return _average_pool(b, x, size, stride, padding, ceil, counts_padding, count)


for _count in (2, 3):
    _enter_average(_count)


@converts("avg_pool1d.default")
def avg_pool1d(b: Any, x: Any, size: Any, stride: Any, padding: Any, ceil: bool, counts_padding: bool) -> Any:
    return _average_pool(b, x, size, stride, padding, ceil, counts_padding, 1)


@converts("pixel_shuffle.default")
def pixel_shuffle(b: Any, x: Any, factor: int) -> Any:
    return b.op("DepthToSpace", [image_of(b, x, 2)], {"blocksize": factor, "mode": "CRD"})
