# SPDX-License-Identifier: Apache-2.0
"""Windows that slide over images, and images of other sizes."""

from __future__ import annotations

from typing import Any

from .table import Unsupported, converts


def _each(value: Any, count: int) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def _image(b: Any, x: Any, count: int) -> Any:
    if len(b.shape_of(x)) != count + 2:
        raise Unsupported("not supported yet: an image without a batch")
    return b.tensor(x)


def _windows(size: Any, stride: Any, padding: Any, ceil: bool, count: int) -> dict[str, Any]:
    sizes = _each(size, count)
    strides = _each(stride, count) if stride else sizes
    return {"kernel_shape": sizes, "strides": strides, "pads": _each(padding, count) * 2, "ceil_mode": int(ceil)}


def _max_pool(b: Any, x: Any, size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool, count: int) -> Any:
    attributes = _windows(size, stride, padding, ceil, count) | {"dilations": _each(dilation, count)}
    return b.op("MaxPool", [_image(b, x, count)], attributes)


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
    return b.op("AveragePool", [_image(b, x, count)], attributes)


@converts("avg_pool2d.default")
def avg_pool2d(b: Any, x: Any, size: Any, stride: Any, padding: Any, ceil: bool, counts_padding: bool, divisor: Any) -> Any:
    if divisor is not None:
        raise Unsupported("not supported yet: an average with a divisor")
    return _average_pool(b, x, size, stride, padding, ceil, counts_padding, 2)


@converts("avg_pool1d.default")
def avg_pool1d(b: Any, x: Any, size: Any, stride: Any, padding: Any, ceil: bool, counts_padding: bool) -> Any:
    return _average_pool(b, x, size, stride, padding, ceil, counts_padding, 1)


def _told_scales(b: Any, x: Any, scales: Any) -> list[float] | None:
    """What PyTorch goes by in place of sizes, where these are rounded."""
    told = next((list(s) for s in scales if isinstance(s, (list, tuple))), list(scales))
    sizes = zip(told, b.shape_of(x)[2:], b.shape_of(b.node)[2:], strict=False)
    if all(scale is None or given * scale == wanted for scale, given, wanted in sizes):
        return None
    if not all(isinstance(s, float) for s in told) or not all(isinstance(n, int) for n in b.shape_of(x)[2:]):
        raise Unsupported("not supported yet: an image of symbolic size that grows by no whole number, or along one axis alone")
    return told


@converts("upsample_bilinear2d.vec", "upsample_bilinear2d.default")
def bilinear(b: Any, x: Any, _: Any, corners: bool, *told: Any) -> Any:
    sizes = b.shape_of(b.node)
    if not all(isinstance(s, int) for s in sizes[1:]):
        raise Unsupported("not supported yet: an image that becomes one of symbolic size")
    attributes = {"mode": "linear", "coordinate_transformation_mode": "align_corners" if corners else "half_pixel"}
    image, scales = _image(b, x, 2), None if corners else _told_scales(b, x, told)
    if scales is None:
        return b.op("Resize", [image, None, None, b.sizes(sizes)], attributes)
    made = b.op("Resize", [image, None, b.floats([1.0, 1.0, *scales])], attributes)
    if list(made.shape[2:]) != list(sizes[2:]):
        raise Unsupported(f"its form would give {list(made.shape)}, not {list(sizes)}")
    return made


@converts("pixel_shuffle.default")
def pixel_shuffle(b: Any, x: Any, factor: int) -> Any:
    return b.op("DepthToSpace", [_image(b, x, 2)], {"blocksize": factor, "mode": "CRD"})


@converts("upsample_nearest2d.vec", "upsample_nearest2d.default")
def nearest(b: Any, x: Any, sizes: Any, *scales: Any) -> Any:
    image, given, wanted = _image(b, x, 2), b.shape_of(x), b.shape_of(b.node)
    if not all(isinstance(s, int) for s in (*given[2:], *wanted[2:])) or any(w % g for g, w in zip(given[2:], wanted[2:], strict=True)):
        raise Unsupported("not supported yet: an image that grows by no whole number")
    if _told_scales(b, x, scales) is not None:
        raise Unsupported("not supported yet: an image whose size is rounded")
    scale = [1.0, 1.0, *(w / g for g, w in zip(given[2:], wanted[2:], strict=True))]
    empty = b.floats([])
    attributes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return b.op("Resize", [image, empty, b.floats(scale)], attributes)
