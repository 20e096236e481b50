# SPDX-License-Identifier: Apache-2.0
"""Ops that write elements by index."""

from __future__ import annotations

from typing import Any

import torch

from .index import along_axes
from .shape import diagonal_places
from .table import Unsupported, converts

REDUCTIONS = {"sum": "add", "prod": "mul", "amin": "min", "amax": "max"}


def _where_masked(b: Any, x: Any, mask: Any, put: Any, adds: bool) -> Any:
    """A mask of the first axes, and what is at each of its places: their number depends on data."""
    rest = len(b.shape_of(x)) - len(b.shape_of(mask))
    sizes = b.shape_of(put)
    if len(sizes) > rest + 1 or (len(sizes) == rest + 1 and sizes[0] != 1):
        raise Unsupported("the number of a mask's places depends on data")
    value, old = b.tensor(put, b.dtype), b.tensor(x)
    if len(sizes) == rest + 1:
        value = b.reshaped(value, sizes[1:])
    chosen = b.reshaped(b.tensor(mask, torch.bool), [*b.shape_of(mask), *[1] * rest])
    return b.op("Where", [chosen, b.op("Add", [old, value]) if adds else value, old])


@converts("diagonal_scatter.default")
def diagonal_scatter(b: Any, x: Any, put: Any, offset: int, first: int, second: int) -> Any:
    sizes = list(b.shape_of(x))
    pair = [first % len(sizes), second % len(sizes)]
    rest = [k for k in range(len(sizes)) if k not in pair]
    places = diagonal_places([sizes[k] for k in pair], offset)
    order = [*pair, *rest]
    turned = b.op("Transpose", [b.tensor(x)], {"perm": order})
    flat = b.reshaped(turned, [sizes[pair[0]] * sizes[pair[1]], *(sizes[k] for k in rest)])
    changed = b.op("Transpose", [b.tensor(put, b.dtype)], {"perm": [len(rest), *range(len(rest))]})
    made = b.op("ScatterND", [flat, b.op("Unsqueeze", [b.ints(places), b.ints([1])]), changed])
    return b.op("Transpose", [b.reshaped(made, [sizes[k] for k in order])], {"perm": [order.index(k) for k in range(len(order))]})


@converts("scatter.src", "scatter.value")
def scatter(b: Any, x: Any, dim: int, places: Any, put: Any) -> Any:
    sizes = b.shape_of(places)
    if not b.shape_of(x):
        raise Unsupported("not supported yet: a scatter in a scalar")
    value = b.tensor(put, b.dtype)
    if b.node.target is torch.ops.aten.scatter.value:
        value = b.op("Expand", [value, b.sizes(sizes)])
    else:
        for axis, (given, used) in enumerate(zip(b.shape_of(put), sizes, strict=True)):
            value = value if given is used or given == used else b.sliced(value, axis, 0, used, 1)
    return b.op("ScatterElements", [b.tensor(x), b.tensor(places, torch.int64), value], {"axis": dim})


@converts("index_copy.default")
def index_copy(b: Any, x: Any, dim: int, places: Any, put: Any) -> Any:
    return _at_places(b, x, dim, places, b.tensor(put, b.dtype), b.shape_of(put), {})


@converts("scatter_add.default")
def scatter_add(b: Any, x: Any, dim: int, places: Any, put: Any) -> Any:
    return scatter_reduce(b, x, dim, places, put, "sum", True)


@converts("scatter_reduce.two")
def scatter_reduce(b: Any, x: Any, dim: int, places: Any, put: Any, reduce: str, with_self: bool) -> Any:
    if not with_self or reduce not in REDUCTIONS or not b.shape_of(x) or not b.shape_of(places):
        raise Unsupported("not supported yet: a mean at places, one without what was there, or in a scalar")
    value = b.tensor(put, b.dtype)
    for axis, (given, used) in enumerate(zip(b.shape_of(put), b.shape_of(places), strict=True)):
        value = value if str(given) == str(used) else b.sliced(value, axis, 0, used, 1)
    return b.op("ScatterElements", [b.tensor(x), b.tensor(places, torch.int64), value], {"axis": dim, "reduction": REDUCTIONS[reduce]})


@converts("index_add.default")
def index_add(b: Any, x: Any, dim: int, places: Any, put: Any, alpha: Any) -> Any:
    return _at_places(b, x, dim, places, _times(b, b.tensor(put, b.dtype), alpha), b.shape_of(put), {"reduction": "add"})


def _times(b: Any, value: Any, factor: Any) -> Any:
    return value if factor == 1 else b.op("Mul", [value, b.tensor(factor, b.dtype)])


def _at_places(b: Any, x: Any, dim: int, places: Any, value: Any, sizes: Any, attributes: dict[str, Any]) -> Any:
    """x with rows of `value`, of the shape `sizes`, at places along an axis."""
    if not sizes:
        raise Unsupported("not supported yet: a place in a scalar")
    axis = dim % len(sizes)
    along = b.reshaped(b.tensor(places, torch.int64), [sizes[k] if k == axis else 1 for k in range(len(sizes))])
    return b.op("ScatterElements", [b.tensor(x), b.op("Expand", [along, b.sizes(sizes)]), value], {"axis": axis} | attributes)


@converts("index_put.default", "_unsafe_index_put.default")
def index_put(b: Any, x: Any, places: Any, put: Any, adds: bool, *_: Any) -> Any:
    if adds and b.dtype == torch.bool:
        raise Unsupported("not supported yet: sums of bools")
    given = [(axis, p) for axis, p in enumerate(places) if p is not None]
    if any(b.dtype_of(p) in (torch.bool, torch.uint8) for _, p in given):
        if len(given) > 1 or given[0][0] != 0 or b.dtype_of(given[0][1]) != torch.bool:
            raise Unsupported("not supported yet: a mask beside places, or not of the first axes")
        return _where_masked(b, x, given[0][1], put, adds)
    axes = [axis for axis, _ in given]
    sizes = b.shape_of(x)
    rest = [k for k in range(len(sizes)) if k not in axes]
    common = list(torch.broadcast_shapes(*(b.shape_of(p) for _, p in given)))
    # The places' axes are where they are next to each other, else in front.
    ahead = [k for k in rest if k < axes[0]] if axes == list(range(axes[0], axes[-1] + 1)) else []
    after = [k for k in rest if k not in ahead]
    value = b.op("Expand", [b.tensor(put, b.dtype), b.sizes([*(sizes[k] for k in ahead), *common, *(sizes[k] for k in after)])])
    to_front = [*range(len(ahead), len(ahead) + len(common)), *range(len(ahead)), *range(len(ahead) + len(common), len(common) + len(rest))]
    order = [*axes, *rest]
    turned = b.op("Transpose", [b.tensor(x)], {"perm": order})
    attributes = {"reduction": "add"} if adds else {}
    made = b.op("ScatterND", [turned, along_axes(b, x, given, common), b.op("Transpose", [value], {"perm": to_front})], attributes)
    return b.op("Transpose", [made], {"perm": [order.index(k) for k in range(len(order))]})
