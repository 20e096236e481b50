# SPDX-License-Identifier: Apache-2.0
"""ScatterND into zeros."""

from __future__ import annotations

import numpy as np
import onnx

from ..view import PatternView
from .base import KERNELS, CataloguePattern, Found, broadcast_scalar, has_kernel_type, is_op, only_user

REDUCTIONS = ("add", "mul", "min", "max")


def _reduction(g: PatternView, node: onnx.NodeProto) -> str:
    given = g.get_attribute_with_default(node, "reduction", b"none")
    return given.decode() if isinstance(given, bytes) else given


def _is_zeros(g: PatternView, node: onnx.NodeProto | None) -> bool:
    """ConstantOfShape of zeros."""
    return is_op(node, "ConstantOfShape") and not np.any(g.get_attribute_with_default(node, "value", np.float32(0)))


class ConstantOfShapeScatterNDPattern(CataloguePattern):
    """ScatterND(ConstantOfShape(s, value=0), i, u, reduction=r) -> ScatterNDOfShape(s, i, u, reduction=r), r not none"""

    roots = frozenset({"ScatterND"})

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        if _reduction(g, node) not in REDUCTIONS:
            return "no reduction"
        if not has_kernel_type(g, node.input[2]):
            return "the type of the updates"
        zeros = g.node_before(node.input[0])
        if not _is_zeros(g, zeros):
            return "not into zeros"
        return [zeros, node] if only_user(g, node.input[0]) is not None else "the zeros are used elsewhere"

    def apply(self, g: PatternView, zeros: onnx.NodeProto, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        inputs = [zeros.input[0], *node.input[1:]]
        return [self.kernel(g, "ScatterNDOfShape", inputs, node.output, node, strategy="optimize", reduction=_reduction(g, node))]


class MaskedShapeScatterNDPattern(CataloguePattern):
    """ScatterNDOfShape(s, i, Where(i == m, 0, u), reduction=add) -> MaskedScatterNDOfShape(s, i, u, maskedValue=m, reduction=add)"""

    roots = frozenset({"ScatterNDOfShape"})
    domain = KERNELS
    processor = ""

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        if _reduction(g, node) != "add":
            return "another reduction than add"
        where = g.node_before(node.input[2])
        if not is_op(where, "Where") or only_user(g, node.input[2]) is None or broadcast_scalar(g, *where.input[1:]) != 0:
            return "the updates are not masked with zeros for this alone"
        equal = g.node_before(where.input[0])
        if not is_op(equal, "Equal") or only_user(g, where.input[0]) is None or self.mask(g, node, equal) is None:
            return "the mask is no comparison of the indices with a constant for this alone"
        if not self.is_of_rows(g, node.input[1], where.input[2]):
            return "indices are not known as [a, b, 1], updates as of rank 3"
        return [node, where, equal]

    @staticmethod
    def mask(g: PatternView, node: onnx.NodeProto, equal: onnx.NodeProto) -> int | None:
        """The value of the indices that is masked."""
        indices = node.input[1]
        others = [name for name in equal.input if name != indices]
        return broadcast_scalar(g, others[0], indices) if len(others) == 1 else None

    @staticmethod
    def is_of_rows(g: PatternView, indices: str, updates: str) -> bool:
        known = g.has_shape(indices) and g.has_rank(updates)
        return known and g.get_rank(indices) == g.get_rank(updates) == 3 and g.get_shape(indices)[-1] == 1

    def apply(self, g: PatternView, node: onnx.NodeProto, where: onnx.NodeProto, equal: onnx.NodeProto) -> list[onnx.NodeProto]:
        inputs = [*node.input[:2], where.input[2]]
        masked = int(self.mask(g, node, equal))
        return [self.kernel(g, "MaskedScatterNDOfShape", inputs, node.output, node, reduction="add", maskedValue=masked)]


class AddReductionScatterND(CataloguePattern):
    """ScatterND(0, i, u) -> ScatterND(0, i, u, reduction=add): without a reduction no index may come twice"""

    roots = frozenset({"ScatterND"})
    processor = ""

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        if _reduction(g, node) != "none":
            return "it has a reduction"
        data = node.input[0]
        if g.try_infer_type(data) in (0, onnx.TensorProto.BOOL, onnx.TensorProto.STRING):
            return "a type that does not add"
        if g.is_constant(data):
            zeros = not np.any(g.get_computed_constant(data))
        else:
            zeros = _is_zeros(g, g.node_before(data))
        return [node] if zeros else "not into zeros"

    def apply(self, g: PatternView, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        name = f"{self.name}--{node.name}"
        return [g.make_node("ScatterND", node.input, node.output, name=name, doc_string=node.doc_string, reduction="add")]
