# SPDX-License-Identifier: Apache-2.0
"""Masks made of positions."""

from __future__ import annotations

import numpy as np
import onnx

from ..view import PatternView
from .base import CataloguePattern, Found, broadcast_scalar, has_kernel_type, is_op


class TriMatrixPattern(CataloguePattern):
    """Where(r < Reshape(r + 1, [n, 1]), a, ConstantOfShape([n, n], value=b)), r = Range(0, n, 1) -> TriMatrix([n, n], [a, a, b])

    The constants are those below the diagonal, on it, and above it.
    """

    roots = frozenset({"Where"})

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        upper = g.node_before(node.input[2])
        if not is_op(upper, "ConstantOfShape") or not has_kernel_type(g, node.input[2]) or broadcast_scalar(g, *node.input[1:]) is None:
            return "it does not choose between a constant and a ConstantOfShape"
        less = g.node_before(node.input[0])
        if not is_op(less, "Less"):
            return "the condition is no Less"
        columns, rows = (g.node_before(name) for name in less.input)
        if not is_op(columns, "Range") or not is_op(rows, "Reshape"):
            return "not a Range against a column of it"
        plus_one = g.node_before(rows.input[0])
        if not self.counts(g, columns) or not self.is_successor(g, plus_one, columns.output[0]):
            return "the column is not the positions 0, 1, 2, ... plus 1"
        if not self.is_square(g, columns.output[0], rows.output[0], upper.output[0]):
            return "not known to be a square"
        return [columns, plus_one, rows, less, node, upper]

    @staticmethod
    def counts(g: PatternView, positions: onnx.NodeProto) -> bool:
        """0, 1, 2, ..."""
        start, _, step = positions.input
        whole = g.try_infer_type(positions.output[0]) in (onnx.TensorProto.INT64, onnx.TensorProto.INT32)
        return whole and g.is_constant_scalar(start, 0) and g.is_constant_scalar(step, 1)

    @staticmethod
    def is_successor(g: PatternView, node: onnx.NodeProto | None, positions: str) -> bool:
        return is_op(node, "Add") and any(a == positions and broadcast_scalar(g, b, a) == 1 for a, b in (node.input, node.input[::-1]))

    @staticmethod
    def is_square(g: PatternView, columns: str, rows: str, upper: str) -> bool:
        if not g.has_shape(columns):
            return False
        (n,) = g.get_shape(columns)
        return g.has_shape(rows) and g.has_shape(upper) and g.get_shape(rows) == (n, 1) and g.get_shape(upper) == (n, n)

    def apply(self, g: PatternView, *nodes: onnx.NodeProto) -> list[onnx.NodeProto]:
        *_, node, upper = nodes
        above = np.asarray(g.get_attribute_with_default(upper, "value", np.float32(0)))
        below = broadcast_scalar(g, *node.input[1:])
        constants = np.array([below, below, above.flat[0]], dtype=above.dtype)
        name = g.make_initializer(f"{self.name}--{node.name}", constants)
        return [self.kernel(g, "TriMatrix", [upper.input[0], name], node.output, node)]
