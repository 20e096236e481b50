# SPDX-License-Identifier: Apache-2.0
"""Images of other sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .pool import image_of
from .table import Unsupported, converts


def _given_scales(b: Any, x: Any, scales: Any) -> list[float] | None:
    """What PyTorch goes by in place of sizes, where these are rounded."""
    report = next((list(s) for s in scales if isinstance(s, (list, tuple))), list(scales))
    sizes = zip(report, b.shape_of(x)[2:], b.shape_of(b.node)[2:], strict=False)
    if all(scale is None or given * scale == wanted for scale, given, wanted in sizes):
        return None
    if not all(isinstance(s, float) for s in report) or not all(isinstance(n, int) for n in b.shape_of(x)[2:]):
        raise Unsupported("not supported yet: an image of symbolic size that grows by no whole number, or along one axis alone")
    return report


@converts("upsample_bilinear2d.vec", "upsample_bilinear2d.default")
def bilinear(b: Any, x: Any, _: Any, corners: bool, *report: Any) -> Any:
    sizes = b.shape_of(b.node)
    if not all(isinstance(s, int) for s in sizes[1:]):
        raise Unsupported("not supported yet: an image that becomes one of symbolic size")
    attributes = {"mode": "linear", "coordinate_transformation_mode": "align_corners" if corners else "half_pixel"}
    image, scales = image_of(b, x, 2), None if corners else _given_scales(b, x, report)
    if scales is None:
        return b.op("Resize", [image, None, None, b.sizes(sizes)], attributes)
    made = b.op("Resize", [image, None, b.floats([1.0, 1.0, *scales])], attributes)
    if list(made.shape[2:]) != list(sizes[2:]):
        raise Unsupported(f"its form would give {list(made.shape)}, not {list(sizes)}")
    return made


def _nearest_places(given: int, wanted: int, scale: float | None) -> np.ndarray:
    """As PyTorch computes them, in f32."""
    places = np.arange(wanted)
    if wanted == given:
        return places
    if wanted == 2 * given:
        return places // 2
    step = np.float32(1 / scale if scale else given / wanted)
    return np.minimum(np.floor(places.astype(np.float32) * step).astype(np.int64), given - 1)


def _enter_nearest(count: int) -> None:
    @converts(f"upsample_nearest{count}d.vec", f"upsample_nearest{count}d.default")
    def nearest(b: Any, x: Any, _: Any, *report: Any) -> Any:
        image, given, wanted = image_of(b, x, count), b.shape_of(x)[2:], b.shape_of(b.node)[2:]
        if not all(isinstance(n, int) for n in (*given, *wanted)):
            raise Unsupported("not supported yet: an image of symbolic size")
        scales = next((list(s) for s in report if isinstance(s, (list, tuple))), list(report)) if report else []
        of_axes = [*scales, *[None] * count][:count]
        places = [_nearest_places(g, w, s) for g, w, s in zip(given, wanted, of_axes, strict=True)]
        whole = [w // g if g and w % g == 0 else 0 for g, w in zip(given, wanted, strict=True)]
        if all(f and (p == np.arange(len(p)) // f).all() for f, p in zip(whole, places, strict=True)):
            attributes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
            return b.op("Resize", [image, b.floats([]), b.floats([1.0, 1.0, *map(float, whole)])], attributes)
        for k, where in enumerate(places):
            image = b.op("Gather", [image, b.ints(where)], {"axis": k + 2})
        return image


for _count in (1, 2, 3):
    _enter_nearest(_count)
