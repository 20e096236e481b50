# SPDX-License-Identifier: Apache-2.0
"""Kernels of one operand and constants."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ..building import Building
from ..easy import EasyPatternOptimization
from ..view import PatternView
from .base import KERNELS, CataloguePattern, Found, broadcast_scalar, has_kernel_type, is_op, only_user


class MulSigmoidPattern(EasyPatternOptimization):
    """x * Sigmoid(x) -> MulSigmoid(x)"""

    def __init__(self, verbose: int = 0, priority: int = 1) -> None:
        super().__init__(verbose, priority)

    def match_pattern(self, g: Building, x: str) -> str:
        return g.op.Mul(x, g.op.Sigmoid(x))

    def apply_pattern(self, g: Building, x: str) -> str:
        return g.op.MulSigmoid(x, domain=KERNELS, outputs=1)

    def validate_mapping(
        self, g: PatternView, deleted_nodes: Sequence[onnx.NodeProto], pattern_nodes: Sequence[onnx.NodeProto] | None = None
    ) -> bool:
        return g.has_processor("CUDA") and has_kernel_type(g, deleted_nodes[0].input[0])


class NegXplus1Pattern(CataloguePattern):
    """1 - x -> NegXplus1(x)"""

    roots = frozenset({"Sub"})

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        one, x = node.input
        if not has_kernel_type(g, x):
            return "the type of x"
        return [node] if broadcast_scalar(g, one, x) == 1 else "the first operand is no constant 1 that keeps the shape of x"

    def apply(self, g: PatternView, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        return [self.kernel(g, "NegXplus1", node.input[1:], node.output, node)]


class ReplaceZeroPattern(CataloguePattern):
    """Where(Cast(x, to=BOOL), c, x) -> ReplaceZero(x, by=c, equal=0), which is c wherever x is not 0"""

    roots = frozenset({"Where"})

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        condition, constant, x = node.input
        cast = g.node_before(condition)
        if not is_op(cast, "Cast") or cast.input[0] != x or g.get_type(condition) != onnx.TensorProto.BOOL:
            return "the condition is not x as a bool"
        if only_user(g, condition) is None:
            return "the condition is used elsewhere"
        if not has_kernel_type(g, x):
            return "the type of x"
        return [cast, node] if broadcast_scalar(g, constant, x) is not None else "no constant that keeps the shape of x"

    def apply(self, g: PatternView, cast: onnx.NodeProto, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        by = float(broadcast_scalar(g, node.input[1], node.input[2]))
        return [self.kernel(g, "ReplaceZero", cast.input, node.output, node, by=by, equal=0)]
