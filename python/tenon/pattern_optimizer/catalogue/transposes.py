# SPDX-License-Identifier: Apache-2.0
"""Transposes that another kernel carries out as it writes."""

from __future__ import annotations

import onnx

from ..view import PatternView
from .base import KERNELS, CataloguePattern, Found, has_kernel_type, is_op, only_user

MIDDLE = [0, 2, 1, 3]


class TransposeCastPattern(CataloguePattern):
    """Cast(Transpose(x)), Transpose(Cast(x)) of a matrix -> Transpose2DCastFP16(x), Transpose2DCastFP32(x)"""

    roots = frozenset({"Transpose"})
    default_priority = 3

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        if g.get_attribute_with_default(node, "perm", [1, 0]) != [1, 0] or not g.has_rank(node.input[0]) or g.get_rank(node.input[0]) != 2:
            return "no transposed matrix"
        before = g.node_before(node.input[0])
        if is_op(before, "Cast") and only_user(g, node.input[0]) is not None and self.converts(g, before.input[0], node.input[0]):
            return [before, node]
        after = only_user(g, node.output[0])
        if is_op(after, "Cast") and self.converts(g, node.output[0], after.output[0]):
            return [node, after]
        return "no Cast between float and float16 before or after it alone"

    @staticmethod
    def converts(g: PatternView, a: str, b: str) -> bool:
        return has_kernel_type(g, a) and has_kernel_type(g, b) and g.get_type(a) != g.get_type(b)

    def apply(self, g: PatternView, first: onnx.NodeProto, second: onnx.NodeProto) -> list[onnx.NodeProto]:
        bits = "32" if g.get_type(second.output[0]) == onnx.TensorProto.FLOAT else "16"
        return [self.kernel(g, f"Transpose2DCastFP{bits}", first.input, second.output, first)]


class AddMulTransposePattern(CataloguePattern):
    """Transpose(AddMul(x, y, z), perm=[0, 2, 1, 3]) -> AddMul(x, y, z, transposeMiddle=1), twice -> AddMul(x, y, z); MulAdd alike"""

    roots = frozenset({"Transpose"})
    processor = ""

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        before = g.node_before(node.input[0])
        if before is None or before.op_type not in ("AddMul", "MulAdd") or before.domain != KERNELS:
            return "no kernel before it"
        if g.get_attribute_with_default(node, "perm", None) != MIDDLE:
            return "other axes than the two in the middle"
        return [before, node] if only_user(g, node.input[0]) is not None else "the result of the kernel is used elsewhere"

    def apply(self, g: PatternView, before: onnx.NodeProto, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        transposed = g.get_attribute_with_default(before, "transposeMiddle", 0)
        return [self.kernel(g, before.op_type, before.input, node.output, before, transposeMiddle=None if transposed else 1)]
