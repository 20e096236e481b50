# SPDX-License-Identifier: Apache-2.0
"""Rewrites that compute in lower precision to save work. They change results, so no set contains them: a caller names them."""

from __future__ import annotations

import onnx

from ..view import PatternView
from .base import CataloguePattern, Found, is_op, only_user

HALVES = (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16)


class ComputationCastOpCastPattern(CataloguePattern):
    """x + Cast(h, to=FLOAT) -> Cast(Cast(x, to=FLOAT16) + h, to=FLOAT) with h of float16 (or bfloat16); Sub, Mul, Div alike.

    The other operand and the result are rounded to the type of h, and overflow as it does.
    """

    roots = frozenset({"Add", "Sub", "Mul", "Div"})
    processor = ""

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        casts = [g.node_before(name) for name in node.input]
        casts = [cast if is_op(cast, "Cast") else None for cast in casts]
        if (casts[0] is None) == (casts[1] is None):
            return "exactly one of the two operands must be the result of a Cast"
        cast = casts[0] or casts[1]
        if g.try_infer_type(node.output[0]) != onnx.TensorProto.FLOAT or g.try_infer_type(cast.input[0]) not in HALVES:
            return "the Cast is not from float16 or bfloat16 to float"
        if only_user(g, cast.output[0]) is None:
            return "the result of the Cast has another use"
        if any(is_op(after, "Cast") for after in g.next_nodes(node.output[0])):
            return "another Cast reads the result"
        return [*casts, node]

    def apply(
        self, g: PatternView, left: onnx.NodeProto | None, right: onnx.NodeProto | None, node: onnx.NodeProto
    ) -> list[onnx.NodeProto]:
        half = (left or right).input[0]
        to = g.get_type(half)
        name = f"{self.name}--{node.name}"
        other = node.input[1 if left else 0]
        other_half, result = (g.unique_name(f"{self.name}--{value}") for value in (other, node.output[0]))
        inputs = [half, other_half] if left else [other_half, half]
        return [
            g.make_node("Cast", [other], [other_half], name=name, to=to),
            g.make_node(node.op_type, inputs, [result], name=name),
            g.make_node("Cast", [result], list(node.output), name=name, to=onnx.TensorProto.FLOAT),
        ]
