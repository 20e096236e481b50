# SPDX-License-Identifier: Apache-2.0
"""Patterns that change nothing and report what they match."""

from __future__ import annotations

import onnx

from ..pattern import PatternOptimization
from ..view import PatternView

BINARY = frozenset({"Add", "Div", "Mul", "Sub"})


class BinaryInvestigation(PatternOptimization):
    """Prints, when verbose, each +, -, *, / that follows another node: shapes of its operands, and of those before it"""

    @classmethod
    def fast_op_type(cls) -> set[str]:
        return set(BINARY)

    def match(self, g: PatternView, node: onnx.NodeProto, matched: list[object]) -> None:
        if not self.verbose or node.op_type not in BINARY or node.domain:
            return self.none()
        befores = [g.node_before(name) for name in node.input]
        if any(before is not None for before in befores):
            lines = [self.text(g, node), *(f"[{self.text(g, before)}]" for before in befores)]
            print(f"[{self.name}] {' --- '.join(lines)}")
        return self.none()

    @staticmethod
    def text(g: PatternView, node: onnx.NodeProto | None) -> str:
        """Add(2x3, 3)"""
        if node is None:
            return "?"
        if node.op_type not in BINARY or node.domain:
            return f"{node.op_type}(...)"
        shapes = ("x".join(map(str, g.get_shape(name) or (1,))) if g.has_shape(name) else "?" for name in node.input)
        return f"{node.op_type}({', '.join(shapes)})"
