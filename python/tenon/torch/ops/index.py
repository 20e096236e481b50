# SPDX-License-Identifier: Apache-2.0
"""Ops that read elements by index."""

from __future__ import annotations

from typing import Any

import torch

from .table import Unsupported, converts

LARGEST = 2**63 - 1


@converts("embedding.default")
def embedding(b: Any, weight: Any, places: Any, *_: Any) -> Any:
    return b.op("Gather", [b.tensor(weight), b.tensor(places)], {"axis": 0})


@converts("index_select.default")
def index_select(b: Any, x: Any, dim: int, places: Any) -> Any:
    return b.op("Gather", [b.tensor(x), b.tensor(places)], {"axis": dim})


@converts("gather.default")
def gather(b: Any, x: Any, dim: int, places: Any, _: Any) -> Any:
    data, of_places = b.shape_of(x), b.shape_of(places)
    if not data or not of_places:  # scalars have one place
        made = b.op("GatherElements", [b.reshaped(b.tensor(x), [-1]), b.reshaped(b.tensor(places), [-1])], {"axis": 0})
        return b.reshaped(made, of_places)
    if len(data) != len(of_places) or any(d != p for k, (d, p) in enumerate(zip(data, of_places, strict=True)) if k != dim % len(data)):
        raise Unsupported("not supported yet: places of another shape than the data")
    return b.op("GatherElements", [b.tensor(x), b.tensor(places)], {"axis": dim})


def along_axes(b: Any, x: Any, given: Any, common: Any) -> Any:
    """Places along several axes, one after the other in a last axis; from the end where they are negative."""
    parts = []
    for axis, where in given:
        size = b.sizes([b.shape_of(x)[axis]])
        value = b.tensor(where, torch.int64)
        value = b.op("Where", [b.op("Less", [value, b.tensor(0, torch.int64)]), b.op("Add", [value, size]), value])
        parts.append(b.op("Unsqueeze", [b.op("Expand", [value, b.sizes(common)]), b.ints([len(common)])]))
    return b.op("Concat", parts, {"axis": -1})


@converts("index.Tensor")
def index(b: Any, x: Any, places: Any) -> Any:
    given = [(axis, p) for axis, p in enumerate(places) if p is not None]
    if any(b.dtype_of(p) in (torch.bool, torch.uint8) for _, p in given):
        raise Unsupported("the number of a mask's places depends on data")
    if len(given) == 1:
        axis, where = given[0]
        return b.op("Gather", [b.tensor(x), b.tensor(where)], {"axis": axis})
    if [axis for axis, _ in given] != list(range(len(given))):
        raise Unsupported("not supported yet: places along several axes that are not the first")
    common = b.shape_of(b.node)[: max(len(b.shape_of(p)) for _, p in given)]
    return b.op("GatherND", [b.tensor(x), along_axes(b, x, given, common)])


def _put(b: Any, x: Any, changed: Any, dim: int, start: int, end: int) -> Any:
    """x with `changed` from `start` to `end`."""
    parts = [
        b.sliced(b.tensor(x), dim, 0, start, 1) if start > 0 else None,
        changed if end > start else None,
        b.sliced(b.tensor(x), dim, max(start, end), b.shape_of(x)[dim], 1) if max(start, end) < b.shape_of(x)[dim] else None,
    ]
    there = [p for p in parts if p is not None]
    return there[0] if len(there) == 1 else b.op("Concat", there, {"axis": dim})


@converts("slice_scatter.default")
def slice_scatter(b: Any, x: Any, changed: Any, dim: int, start: Any, end: Any, step: int) -> Any:
    sizes = b.shape_of(x)
    dim %= len(sizes)
    value = b.tensor(changed, b.dtype)
    if step == 1 and not start and (end is None or end == LARGEST):
        return value
    if step != 1 or not all(isinstance(n, int) for n in (sizes[dim], start or 0, end or 0)):
        raise Unsupported("not supported yet: a slice with steps, or of symbolic size, is replaced")
    start, end, _ = slice(start, end).indices(sizes[dim])
    return _put(b, x, value, dim, start, end)


@converts("select_scatter.default")
def select_scatter(b: Any, x: Any, changed: Any, dim: int, place: int) -> Any:
    sizes = b.shape_of(x)
    dim %= len(sizes)
    if not isinstance(place, int) or not isinstance(sizes[dim], int):
        raise Unsupported("not supported yet: a symbolic place is replaced")
    place %= sizes[dim]
    row = b.op("Unsqueeze", [b.tensor(changed, b.dtype), b.ints([dim])])
    return _put(b, x, row, dim, place, place + 1)
