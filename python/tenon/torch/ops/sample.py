# SPDX-License-Identifier: Apache-2.0
"""Images read at places that a grid says."""

from __future__ import annotations

from typing import Any

from .table import Unsupported, converts

MODES = ("linear", "nearest", "cubic")
PADDING = ("zeros", "border", "reflection")


def _folded(b: Any, place: Any, size: Any, corners: bool) -> Any:
    """A place along one axis from -1 to 1, folded back into it, and rounded to that of an element. ONNX rounds first, which is another
    element in the middle between two."""
    one, two = b.tensor(1, b.dtype), b.tensor(2, b.dtype)
    span = b.op("Sub", [size, one]) if corners else size
    shift = b.tensor(0.0 if corners else 0.5, b.dtype)
    along = b.op("Div", [b.op("Mul", [b.op("Add", [place, one]), span]), two])
    turn = b.op("Mul", [span, two])
    round_trip = b.op("Mod", [b.op("Abs", [along]), turn], {"fmod": 1})
    inside = b.op("Sub", [b.op("Min", [round_trip, b.op("Sub", [turn, round_trip])]), shift])
    last = b.op("Sub", [size, one])
    whole = b.op("Round", [b.op("Max", [b.op("Min", [inside, last]), b.tensor(0, b.dtype)])])
    return b.op("Sub", [b.op("Div", [b.op("Mul", [b.op("Add", [whole, shift]), two]), span]), one])


def _nearest_reflected(b: Any, x: Any, grid: Any, corners: bool) -> Any:
    """The grid whose places are those of elements."""
    sizes = b.shape_of(x)[2:]
    if not all(isinstance(n, int) and n > 1 for n in sizes):
        raise Unsupported("not supported yet: the nearest element of an image of symbolic size, or of one element, that is reflected")
    turned = b.op("Concat", [b.reshaped(b.tensor(n, b.dtype), [1]) for n in reversed(sizes)], {"axis": 0})
    return _folded(b, grid, turned, corners)


@converts("grid_sampler.default", "grid_sampler_2d.default", "grid_sampler_3d.default")
def grid_sampler(b: Any, x: Any, grid: Any, mode: int, padding: int, corners: bool) -> Any:
    if (MODES[mode], PADDING[padding]) == ("cubic", "border"):
        raise Unsupported("not supported yet: a cubic sample whose neighbours are moved to the border; ONNX moves the place itself")
    places = b.tensor(grid)
    if MODES[mode] == "nearest" and PADDING[padding] == "reflection":
        places = _nearest_reflected(b, x, places, corners)
    attributes = {"mode": MODES[mode], "padding_mode": PADDING[padding], "align_corners": int(corners)}
    return b.op("GridSample", [b.tensor(x), places], attributes)
