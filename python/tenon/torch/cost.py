# SPDX-License-Identifier: Apache-2.0
"""Estimates of times in nanoseconds, which decide whether a segment is faster in Tenon."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch.fx import Node

from .builder import meta, tensors_of
from .names import modules_of
from .ops import op_of
from .ops.shape import VIEWS

# Of one thread of a server's CPU, as tests of single ops and modules take them; on another machine they are off by about the same factor.
CALL_NS = 8_000.0  # of a compiled module: what comes in is checked, and found again what it was compiled for
LAUNCH_NS = 6_500.0  # of a segment
BORDER_NS = 1_200.0  # a tensor
DISPATCH_NS = 3_000.0  # of an op in PyTorch
CONTRACTION_NS = 2_500.0  # more than that, of one with a library kernel
MODULE_NS = 1_800.0  # of a call of a torch.nn.Module
NS_PER_BYTE = 0.05  # to or from memory
NS_PER_FLOP = 0.01
CONTRACTIONS = ("mm", "bmm", "matmul", "addmm", "baddbmm", "linear", "conv", "einsum", "scaled_dot_product")


def size_of(size: Any) -> int:
    """The size that estimates use for a symbol: that of the example inputs, or 16."""
    if isinstance(size, torch.SymInt):
        hint = size.node.hint
        return 16 if hint is None else int(hint)
    return int(size)


def bytes_of(node: Node) -> int:
    return sum(math.prod(map(size_of, t.shape)) * t.element_size() for t in tensors_of(meta(node)))


def _work_ns(node: Node) -> float:
    """The time of the computation, without memory traffic."""
    op = op_of(node)
    if not op.startswith(CONTRACTIONS):
        return 0.0
    sizes = [math.prod(map(size_of, t.shape)) for n in node.all_input_nodes for t in tensors_of(meta(n))]
    result_elements = sum(math.prod(map(size_of, t.shape)) for t in tensors_of(meta(node)))
    depth = math.sqrt(math.prod(sizes[:2]) / result_elements) if result_elements and len(sizes) > 1 else 1.0
    return 2 * result_elements * depth * NS_PER_FLOP


def tenon_ns(node: Node) -> float:
    """Estimated time of a node in Tenon. Chains of elementwise ops are fused, so that values between them cause little memory traffic."""
    if op_of(node) in VIEWS or op_of(node) == "getitem":
        return 0.0
    return 200 + _work_ns(node) + NS_PER_BYTE / 2 * bytes_of(node)


def torch_ns(node: Node) -> float:
    """Estimated time of a node in eager PyTorch."""
    if op_of(node) == "getitem":
        return 0.0
    if op_of(node) in VIEWS:
        return DISPATCH_NS / 2
    library = CONTRACTION_NS if op_of(node).startswith(CONTRACTIONS) else 0.0
    return DISPATCH_NS + library + _work_ns(node) + NS_PER_BYTE * (bytes_of(node) + sum(map(bytes_of, node.all_input_nodes)))


def overhead_ns(nodes: Sequence[Node]) -> float:
    """The overhead of a segment: its call, and copies of its inputs and outputs."""
    inside = set(nodes)
    borders = {g for n in nodes for g in n.all_input_nodes if g not in inside and g.op != "get_attr"}
    borders |= {n for n in nodes if any(u not in inside for u in n.users)}
    copies_ns = sum(BORDER_NS + NS_PER_BYTE * bytes_of(n) for n in borders if tensors_of(meta(n)))
    return LAUNCH_NS + copies_ns


def saved_ns(nodes: Sequence[Node]) -> float:
    """How much longer these nodes take in PyTorch than in a segment."""
    return sum(map(torch_ns, nodes)) - sum(map(tenon_ns, nodes)) - overhead_ns(nodes)


def pays_for_calls(segments: Iterable[Sequence[Node]]) -> bool:
    """Whether the segments save more time than the overhead of calling the compiled module."""
    parts = list(segments)
    modules = {path for nodes in parts for n in nodes for path, _ in modules_of(n)}
    return sum(map(saved_ns, parts)) + MODULE_NS * len(modules) > CALL_NS
