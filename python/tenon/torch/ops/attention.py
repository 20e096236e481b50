# SPDX-License-Identifier: Apache-2.0
"""Scaled dot-product attention as ONNX's Attention: both give 0 for a query whose keys are all masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from .table import Unsupported, converts


def _equal(some: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether sizes are equal for sure. Comparing symbols as numbers would add guards to the program."""
    return list(map(str, some)) == list(map(str, others))


def _common(shapes: Sequence[Sequence[Any]]) -> list[Any]:
    """The shape to which `shapes`, equal in rank, are broadcast."""
    out = []
    for sizes in zip(*shapes, strict=True):
        different = {str(s): s for s in sizes if str(s) != "1"}
        if len(different) > 1:
            raise Unsupported("not supported yet: attention over batches whose symbolic sizes may differ")
        out.append(next(iter(different.values()), 1))
    return out


def _joined(b: Any, value: Any, sizes: Sequence[Any], wanted: Sequence[Any], tail: Sequence[Any]) -> Any:
    """value, of the shape `sizes`, broadcast to [*wanted, *tail]; the axes of `wanted` become one."""
    if not _equal(sizes, [*wanted, *tail]):
        value = b.op("Expand", [value, b.sizes([*wanted, *tail])])
    if len(wanted) == 1:
        return value
    count: Any = 1
    for size in wanted:
        count = count * size
    return b.reshaped(value, [count, *tail])


def _mask(b: Any, mask: Any, batch: Sequence[Any], heads: bool, keys: Any) -> Any:
    """[batch, heads, queries, keys], of which the first axes may be missing or 1. heads: the program's mask has an axis of heads."""
    value, sizes = b.tensor(mask, None if b.dtype_of(mask) == torch.bool else b.dtype), list(b.shape_of(mask))
    if not sizes:
        raise Unsupported("not supported yet: a mask of one element")
    if not _equal(sizes[-1:], [keys]):  # to ONNX's Attention, missing columns are masked
        sizes[-1] = keys
        value = b.op("Expand", [value, b.sizes(sizes)])
    if not heads and len(sizes) > 2:
        sizes = [*sizes[:-2], 1, *sizes[-2:]]
        value = b.reshaped(value, sizes)
    if len(sizes) <= 3 or (len(batch) == 1 and len(sizes) == 4):
        return value
    return _joined(b, value, sizes, batch, sizes[-3:])


def _attention(
    b: Any, query: Any, key: Any, value: Any, mask: Any, dropout: float, causal: bool, scale: float | None, grouped: bool
) -> Any:
    """grouped: heads of keys may be fewer than those of queries, each for as many consecutive ones."""
    if dropout:
        raise Unsupported("not supported yet: attention with dropout")
    shapes = [list(b.shape_of(x)) for x in (query, key, value)]
    rank, width = len(shapes[0]), shapes[0][-1]
    if any(len(s) != rank for s in shapes):
        raise Unsupported("not supported yet: attention over operands of several ranks")
    if scale is None and not isinstance(width, int):
        raise Unsupported("not supported yet: attention over heads of symbolic width")
    has_heads = rank > 3 or (grouped and rank == 3)
    batch = _common([s[: -3 if has_heads else -2] for s in shapes])
    heads = [s[-3:-2] for s in shapes] if has_heads else [[1]] * 3
    if not grouped:
        heads = [_common(heads)] * 3
    operands = []
    for x, shape, own in zip((query, key, value), shapes, heads, strict=True):
        tail = [*own, *shape[-2:]]
        sizes = shape if has_heads else [*shape[:-2], 1, *shape[-2:]]
        operands.append(_joined(b, b.tensor(x) if has_heads else b.reshaped(b.tensor(x), sizes), sizes, batch, tail))
    if mask is not None:
        operands.append(_mask(b, mask, batch, has_heads, shapes[1][-2]))
    attributes: dict[str, Any] = {"is_causal": int(causal)}
    if scale is not None:
        attributes["scale"] = float(scale)
    made = b.op("Attention", operands, attributes)
    return made if rank == 4 else b.reshaped(made, [*batch, *(heads[0] if has_heads else []), shapes[0][-2], shapes[2][-1]])


@converts("scaled_dot_product_attention.default")
def attention(b: Any, query: Any, key: Any, value: Any, mask: Any, dropout: float, causal: bool, scale: float | None, grouped: bool) -> Any:
    return _attention(b, query, key, value, mask, dropout, causal, scale, grouped)


@converts("_scaled_dot_product_flash_attention_for_cpu.default")
def attention_and_sums(b: Any, query: Any, key: Any, value: Any, dropout: float, causal: bool, mask: Any, scale: float | None) -> Any:
    return _attention(b, query, key, value, mask, dropout, causal, scale, True), None


@converts("_scaled_dot_product_attention_math.default")
def attention_and_weights(
    b: Any, query: Any, key: Any, value: Any, mask: Any, dropout: float, causal: bool, _: Any, scale: float | None, grouped: bool
) -> Any:
    return _attention(b, query, key, value, mask, dropout, causal, scale, grouped), None


@converts("_safe_softmax.default")
def safe_softmax(b: Any, x: Any, dim: int, dtype: Any) -> Any:
    """A softmax that is 0 where a whole row is -inf."""
    value = b.tensor(x, b.dtype)
    if not b.shape_of(x):
        raise Unsupported("not supported yet: a softmax of one element")
    top = b.op("ReduceMax", [value, b.ints([dim])], {"keepdims": 1})
    none = b.op("IsInf", [top], {"detect_positive": 0})
    return b.op("Where", [none, b.tensor(0, b.dtype), b.op("Softmax", [value], {"axis": dim})])
