# SPDX-License-Identifier: Apache-2.0
"""Halves of the last axis that change places."""

from __future__ import annotations

import onnx

from ..view import PatternView
from .base import CataloguePattern, Found, has_kernel_type, is_op, only_user


def _is_last_axis(g: PatternView, node: onnx.NodeProto, name: str) -> bool:
    axis = g.get_attribute_with_default(node, "axis", 0)
    return axis == -1 or (g.has_rank(name) and axis == g.get_rank(name) - 1)


def _halves(g: PatternView, split: onnx.NodeProto) -> bool:
    """Two results, of equal size along the last axis."""
    if len(split.output) != 2 or not _is_last_axis(g, split, split.input[0]):
        return False
    if len(split.input) > 1 and split.input[1]:
        sizes = g.get_computed_constant(split.input[1])
        return sizes is not None and sizes[0] == sizes[1]
    a, b = split.output
    return g.same_shape(a, b)


class SimpleRotaryPattern(CataloguePattern):
    """a, b = Split(x): Concat(-b, a) -> Rotary(x, side=right), Concat(b, -a) -> Rotary(x, side=left); halves of the last axis"""

    roots = frozenset({"Concat"})

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        befores = [g.node_before(name) for name in node.input]
        negs = [k for k, before in enumerate(befores) if is_op(before, "Neg")]
        if len(befores) != 2 or len(negs) != 1 or not _is_last_axis(g, node, node.input[0]):
            return "not two parts along the last axis, one of them negated"
        neg = befores[negs[0]]
        split = g.node_before(neg.input[0])
        if not is_op(split, "Split") or not _halves(g, split) or not has_kernel_type(g, split.input[0]):
            return "not the halves of a tensor of float or float16"
        order = [neg.input[0] if before is neg else name for name, before in zip(node.input, befores, strict=True)]
        if order != [split.output[1], split.output[0]]:
            return "the halves do not change places"
        if any(only_user(g, name) is None for name in [*split.output, neg.output[0]]):
            return "a half is used elsewhere"
        return [split, neg, node]

    def apply(self, g: PatternView, split: onnx.NodeProto, neg: onnx.NodeProto, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        side = "right" if neg.input[0] == split.output[1] else "left"
        return [self.kernel(g, "Rotary", split.input, node.output, node, side=side)]
