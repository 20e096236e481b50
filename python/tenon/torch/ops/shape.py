# SPDX-License-Identifier: Apache-2.0
"""The same elements in another shape or order; tensors of a shape."""

from __future__ import annotations

import math
from typing import Any

import torch

from .table import Unsupported, converts

# What copies nothing in PyTorch: its result is another view of the same memory.
VIEWS = frozenset(
    "alias.default detach.default expand.default permute.default select.int slice.Tensor squeeze.default squeeze.dim squeeze.dims "
    "t.default transpose.int unsqueeze.default view.default view_as.default unbind.int split.Tensor split_with_sizes.default chunk.default "
    "unsafe_split.Tensor unsafe_split_with_sizes.default unsafe_chunk.default reshape.default flatten.using_ints numpy_T.default "
    "expand_as.default diagonal.default movedim.intlist lift_fresh_copy.default".split()
)
# What does no work though it copies.
COPIES = frozenset(
    "clone.default contiguous.default _unsafe_view.default dropout.default full.default "
    "scalar_tensor.default arange.default zeros.default ones.default".split()
)
LARGEST = 2**63 - 1


@converts("alias.default", "detach.default", "clone.default", "contiguous.default", "lift_fresh_copy.default", "dropout.default")
def same(b: Any, x: Any, *more: Any) -> Any:
    if more and more[-1] is True and b.node.target is torch.ops.aten.dropout.default:
        raise Unsupported("it is random")
    return b.op("Identity", [b.tensor(x)])


@converts(
    "view.default", "reshape.default", "_unsafe_view.default", "flatten.using_ints", "view_as.default", "unflatten.int", "squeeze.default",
    "squeeze.dim", "squeeze.dims", "unsqueeze.default",
)  # fmt: skip
def view(b: Any, x: Any, *_: Any) -> Any:
    return b.reshaped(b.tensor(x), b.shape_of(b.node))


@converts("permute.default")
def permute(b: Any, x: Any, order: Any) -> Any:
    return b.op("Transpose", [b.tensor(x)], {"perm": [d % len(order) for d in order]})


@converts("transpose.int")
def transpose(b: Any, x: Any, first: int, second: int) -> Any:
    order = list(range(len(b.shape_of(x))))
    if not order:
        return b.op("Identity", [b.tensor(x)])
    order[first], order[second] = order[second], order[first]
    return b.op("Transpose", [b.tensor(x)], {"perm": order})


@converts("t.default", "numpy_T.default")
def flip_axes(b: Any, x: Any) -> Any:
    return permute(b, x, list(reversed(range(len(b.shape_of(x))))))


def diagonal_places(sizes: Any, offset: int) -> range:
    """Of a diagonal's elements in rows that are laid end to end."""
    rows, columns = sizes
    if not all(isinstance(n, int) for n in sizes):
        raise Unsupported("not supported yet: a diagonal of symbolic size")
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    start = max(-offset, 0) * columns + max(offset, 0)
    return range(start, start + count * (columns + 1), columns + 1)


@converts("diagonal.default")
def diagonal(b: Any, x: Any, offset: int, first: int, second: int) -> Any:
    sizes = list(b.shape_of(x))
    pair = [first % len(sizes), second % len(sizes)]
    rest = [k for k in range(len(sizes)) if k not in pair]
    places = diagonal_places([sizes[k] for k in pair], offset)
    turned = b.op("Transpose", [b.tensor(x)], {"perm": [*rest, *pair]})
    flat = b.reshaped(turned, [*(sizes[k] for k in rest), sizes[pair[0]] * sizes[pair[1]]])
    return b.sliced(flat, len(rest), places.start, places.stop, places.step)


@converts("diff.default")
def difference(b: Any, x: Any, times: int, dim: int, before: Any, after: Any) -> Any:
    if times == 0:
        return b.op("Identity", [b.tensor(x)])
    parts = [b.tensor(p) for p in (before, x, after) if p is not None]
    value = b.op("Concat", parts, {"axis": dim}) if len(parts) > 1 else b.op("Identity", parts)
    for _ in range(times):
        ends = b.sliced(value, dim, 1, LARGEST, 1), b.sliced(value, dim, 0, -1, 1)
        value = b.op("Xor" if b.dtype == torch.bool else "Sub", list(ends))
    return value


@converts("expand.default", "expand_as.default")
def expand(b: Any, x: Any, *_: Any) -> Any:
    return b.op("Expand", [b.tensor(x), b.sizes(b.shape_of(b.node))])


@converts("repeat.default")
def repeat(b: Any, x: Any, counts: Any) -> Any:
    missing = len(counts) - len(b.shape_of(x))
    value = b.tensor(x)
    if missing:
        value = b.reshaped(value, [1] * missing + list(b.shape_of(x)))
    return b.op("Tile", [value, b.sizes(counts)])


@converts("tile.default")
def tile(b: Any, x: Any, counts: Any) -> Any:
    return repeat(b, x, [1] * (len(b.shape_of(x)) - len(counts)) + list(counts))


@converts("repeat_interleave.self_int")
def repeat_each(b: Any, x: Any, count: Any, dim: int | None, _: Any) -> Any:
    sizes, value = list(b.shape_of(x)), b.tensor(x)
    if dim is None:
        value, sizes, dim = b.reshaped(value, [-1]), list(b.shape_of(b.node)), 0
    else:
        dim %= len(sizes)
    row = b.op("Unsqueeze", [value, b.ints([dim + 1])])
    repeated = b.op("Expand", [row, b.sizes([*[1] * (dim + 1), count, *[1] * (len(sizes) - dim - 1)])])
    return b.reshaped(repeated, b.shape_of(b.node))


@converts("slice.Tensor")
def slice_of(b: Any, x: Any, dim: int, start: Any, end: Any, step: int) -> Any:
    return b.sliced(b.tensor(x), dim, 0 if start is None else start, LARGEST if end is None else end, step)


@converts("select.int")
def select(b: Any, x: Any, dim: int, place: Any) -> Any:
    if not isinstance(place, int):
        raise Unsupported("not supported yet: a symbolic place")
    return b.op("Gather", [b.tensor(x), b.tensor(place, torch.int64)], {"axis": dim})


@converts("cat.default", "concat.default")
def cat(b: Any, parts: Any, dim: int) -> Any:
    kept = [p for p in parts if list(map(str, b.shape_of(p))) != ["0"]]  # an empty vector fits anything
    return b.op("Concat", [b.tensor(p, b.dtype) for p in kept], {"axis": dim})


@converts("stack.default")
def stack(b: Any, parts: Any, dim: int) -> Any:
    dim %= len(b.shape_of(parts[0])) + 1
    return b.op("Concat", [b.op("Unsqueeze", [b.tensor(p, b.dtype), b.ints([dim])]) for p in parts], {"axis": dim})


def _split(b: Any, x: Any, dim: int, sizes: list[Any]) -> Any:
    if not all(isinstance(s, int) for s in sizes):
        raise Unsupported("not supported yet: parts of symbolic sizes")
    parts, at = [], 0
    for size in sizes:
        parts.append(b.sliced(b.tensor(x), dim, at, at + size, 1))
        at += size
    return tuple(parts)


@converts("split_with_sizes.default", "unsafe_split_with_sizes.default")
def split_with_sizes(b: Any, x: Any, sizes: Any, dim: int) -> Any:
    return _split(b, x, dim, list(sizes))


@converts("split.Tensor", "chunk.default", "unsafe_split.Tensor", "unsafe_chunk.default")
def split(b: Any, x: Any, _: Any, dim: int) -> Any:
    return _split(b, x, dim, [b.sizes_of_parts()[k][dim] for k in range(len(b.sizes_of_parts()))])


@converts("unbind.int")
def unbind(b: Any, x: Any, dim: int) -> Any:
    return tuple(b.op("Gather", [b.tensor(x), b.tensor(k, torch.int64)], {"axis": dim}) for k in range(len(b.sizes_of_parts())))


PADDING = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _padded(b: Any, x: Any, widths: Any, mode: str, value: Any) -> Any:
    if mode != "constant" and not all(isinstance(w, int) for w in widths):
        raise Unsupported("not supported yet: padding of symbolic width that repeats elements")
    rank = len(b.shape_of(x))
    before: list[Any] = [0] * rank
    after: list[Any] = [0] * rank
    for k in range(len(widths) // 2):
        before[rank - 1 - k], after[rank - 1 - k] = widths[2 * k], widths[2 * k + 1]
    filled = [b.tensor(value or 0, b.dtype)] if mode == "constant" else []
    given = b.tensor(x)
    if mode == "circular":  # what is cut off is not repeated at the other end
        for dim, (first, last) in enumerate(zip(before, after, strict=True)):
            if min(first, last) < 0:
                given = b.sliced(given, dim, max(-first, 0), min(last, 0) or LARGEST, 1)
        before, after = [max(w, 0) for w in before], [max(w, 0) for w in after]
    return b.op("Pad", [given, b.sizes(before + after), *filled], {"mode": PADDING[mode]})


@converts("constant_pad_nd.default")
def pad_with(b: Any, x: Any, widths: Any, value: Any) -> Any:
    return _padded(b, x, widths, "constant", value)


@converts("pad.default")
def pad(b: Any, x: Any, widths: Any, mode: str, value: Any) -> Any:
    return _padded(b, x, widths, mode, value)


@converts("_pad_circular.default")
def pad_around(b: Any, x: Any, widths: Any) -> Any:
    return _padded(b, x, widths, "circular", None)


@converts("reflection_pad1d.default", "reflection_pad2d.default", "reflection_pad3d.default")
def pad_mirrored(b: Any, x: Any, widths: Any) -> Any:
    return _padded(b, x, widths, "reflect", None)


@converts("replication_pad1d.default", "replication_pad2d.default", "replication_pad3d.default")
def pad_with_edges(b: Any, x: Any, widths: Any) -> Any:
    return _padded(b, x, widths, "replicate", None)


@converts("flip.default")
def flip(b: Any, x: Any, dims: Any) -> Any:
    value = b.tensor(x)
    for dim in dims:
        value = b.sliced(value, dim, LARGEST, -LARGEST, -1)
    return value


@converts("roll.default")
def roll(b: Any, x: Any, shifts: Any, dims: Any) -> Any:
    sizes, value = b.shape_of(x), b.tensor(x)
    if not all(isinstance(n, int) for n in (*shifts, *(sizes[d] for d in dims or range(len(sizes))))):
        raise Unsupported("not supported yet: a roll of symbolic size")
    if not dims:  # of its elements in a row
        sizes, dims, value = [math.prod(sizes)], [0], b.reshaped(value, [-1])
    for shift, dim in zip(shifts, dims, strict=True):
        size = sizes[dim]
        at = size - shift % size if size else 0
        if 0 < at < size:
            value = b.op("Concat", [b.sliced(value, dim, at, size, 1), b.sliced(value, dim, 0, at, 1)], {"axis": dim})
    return b.reshaped(value, b.shape_of(x)) if len(sizes) != len(b.shape_of(x)) else value


@converts("tril.default")
def lower(b: Any, x: Any, diagonal: int) -> Any:
    return b.op("Trilu", [b.tensor(x), b.tensor(diagonal, torch.int64)], {"upper": 0})


@converts("triu.default")
def upper(b: Any, x: Any, diagonal: int) -> Any:
    return b.op("Trilu", [b.tensor(x), b.tensor(diagonal, torch.int64)], {"upper": 1})


def _filled(b: Any, value: Any) -> Any:
    return b.op("Expand", [b.tensor(value, b.dtype), b.sizes(b.shape_of(b.node))])


@converts("full.default")
def full(b: Any, _: Any, value: Any, *__: Any) -> Any:
    return _filled(b, value)


@converts("full_like.default", "new_full.default")
def full_like(b: Any, first: Any, *more: Any) -> Any:
    return _filled(b, more[1] if b.node.target is torch.ops.aten.new_full.default else more[0])


@converts("zeros.default", "zeros_like.default", "new_zeros.default")
def zeros(b: Any, *_: Any) -> Any:
    return _filled(b, 0)


@converts("ones.default", "ones_like.default", "new_ones.default")
def ones(b: Any, *_: Any) -> Any:
    return _filled(b, 1)


@converts("scalar_tensor.default")
def scalar(b: Any, value: Any, *_: Any) -> Any:
    return _filled(b, value)


def _counted(b: Any, start: Any, end: Any, step: Any) -> Any:
    if b.dtype not in (torch.int64, torch.int32, torch.float32) or any(isinstance(n, float) for n in (start, end, step)):
        raise Unsupported("not supported yet: numbers that are no integers are counted")
    return b.cast(b.op("Range", [b.scalar_of(n) for n in (start, end, step)]), b.dtype)


@converts("arange.default")
def count_to(b: Any, end: Any, *_: Any) -> Any:
    return _counted(b, 0, end, 1)


@converts("arange.start")
def count_from(b: Any, start: Any, end: Any, *_: Any) -> Any:
    return _counted(b, start, end, 1)


@converts("arange.start_step")
def count_by(b: Any, start: Any, end: Any, step: Any, *_: Any) -> Any:
    return _counted(b, start, end, step)
