# SPDX-License-Identifier: Apache-2.0
"""Guesses of times, in nanoseconds, good enough to tell a segment that pays from one that does not."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import Node

from .builder import meta, tensors_of
from .ops import op_of
from .ops.shape import VIEWS

LAUNCH_NS = 12_000.0  # of a segment, from PyTorch and back
BORDER_NS = 1_500.0  # a tensor
DISPATCH_NS = 2_500.0  # of an op in PyTorch
NS_PER_BYTE = 0.1
NS_PER_FLOP = 0.01
CONTRACTIONS = ("mm", "bmm", "matmul", "addmm", "baddbmm", "linear", "conv", "einsum", "scaled_dot_product")


def size_of(size: Any) -> int:
    """Of a symbol: that of the example, 16 where there is none."""
    if isinstance(size, torch.SymInt):
        hint = size.node.hint
        return 16 if hint is None else int(hint)
    return int(size)


def bytes_of(node: Node) -> int:
    return sum(math.prod(map(size_of, t.shape)) * t.element_size() for t in tensors_of(meta(node)))


def _work_ns(node: Node) -> float:
    """But for what moves through memory."""
    op = op_of(node)
    if not op.startswith(CONTRACTIONS):
        return 0.0
    sizes = [math.prod(map(size_of, t.shape)) for n in node.all_input_nodes for t in tensors_of(meta(n))]
    made = sum(math.prod(map(size_of, t.shape)) for t in tensors_of(meta(node)))
    deep = math.sqrt(math.prod(sizes[:2]) / made) if made and len(sizes) > 1 else 1.0
    return 2 * made * deep * NS_PER_FLOP


def our_ns(node: Node) -> float:
    """Ops on the same elements run in one pass."""
    if op_of(node) in VIEWS or op_of(node) == "getitem":
        return 0.0
    return 200 + _work_ns(node) + NS_PER_BYTE * bytes_of(node) / 2


def their_ns(node: Node) -> float:
    if op_of(node) == "getitem":
        return 0.0
    if op_of(node) in VIEWS:
        return DISPATCH_NS / 2
    return DISPATCH_NS + _work_ns(node) + NS_PER_BYTE * (bytes_of(node) + sum(map(bytes_of, node.all_input_nodes))) / 2
