# SPDX-License-Identifier: Apache-2.0
"""Two binary operators as one kernel: one after the other, or side by side over an operand that they share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import onnx

from ..graph_queries import Shape
from ..view import PatternView
from .base import CataloguePattern, Found, has_kernel_type, is_op, only_user, uses


def _without_leading_ones(shape: Shape) -> Shape:
    first = next((k for k, size in enumerate(shape) if size != 1), len(shape))
    return shape[first:]


class BinaryPattern(CataloguePattern):
    """Operands of equal shapes; with `broadcast`, sizes 1 and missing axes may be in front of one of them."""

    broadcasts: ClassVar[bool] = False

    def __init__(self, verbose: int = 0, priority: int | None = None, broadcast: bool | None = None) -> None:
        super().__init__(verbose, priority)
        self.broadcast = self.broadcasts if broadcast is None else broadcast

    @staticmethod
    def _same_shape(g: PatternView, a: str, b: str, broadcast: bool = False) -> bool:
        if not broadcast:
            return g.same_shape(a, b)
        if not g.has_shape(a) or not g.has_shape(b):
            return False
        short, long = sorted((_without_leading_ones(tuple(g.get_shape(name))) for name in (a, b)), key=len)
        return long[len(long) - len(short) :] == short

    def fits(self, g: PatternView, node: onnx.NodeProto) -> bool:
        return has_kernel_type(g, node.input[0]) and self._same_shape(g, *node.input, broadcast=self.broadcast)


class ChainPattern(BinaryPattern):
    """One operator after another."""

    pairs: ClassVar[frozenset[tuple[str, str]]]  # first, second
    default_priority = 3

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        if not self.fits(g, node):
            return "types or shapes of the operands"
        for name in node.input:
            before = g.node_before(name)
            if is_op(before, *self.roots) and (before.op_type, node.op_type) in self.pairs and only_user(g, name) is not None:
                if self.fits(g, before):
                    return [before, node]
        return "no operand is such a result with a single use"

    def apply(self, g: PatternView, before: onnx.NodeProto, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        place = list(node.input).index(before.output[0])
        attributes = {"negative": 1} if node.op_type == "Sub" and place == 1 else {}
        inputs = [*before.input, node.input[1 - place]]
        return [self.kernel(g, before.op_type + node.op_type, inputs, node.output, node, **attributes)]


class AddAddMulMulPattern(ChainPattern):
    """(x + y) + z -> AddAdd(x, y, z), (x * y) * z -> MulMul(x, y, z)"""

    roots = frozenset({"Add", "Mul"})
    pairs = frozenset({("Add", "Add"), ("Mul", "Mul")})


class AddAddMulMulBroadcastPattern(AddAddMulMulPattern):
    """(x + y) + z -> AddAdd(x, y, z), (x * y) * z -> MulMul(x, y, z), broadcast over first axes"""

    default_priority = 4
    broadcasts = True


class AddMulPattern(ChainPattern):
    """(x + y) * z -> AddMul(x, y, z), (x * y) + z -> MulAdd(x, y, z)"""

    roots = frozenset({"Add", "Mul"})
    pairs = frozenset({("Add", "Mul"), ("Mul", "Add")})


class AddMulBroadcastPattern(AddMulPattern):
    """(x + y) * z -> AddMul(x, y, z), (x * y) + z -> MulAdd(x, y, z), broadcast over first axes"""

    default_priority = 4
    broadcasts = True


class SubMulPattern(ChainPattern):
    """(x - y) * z -> SubMul(x, y, z), (x * y) - z -> MulSub(x, y, z), z - (x * y) -> MulSub(x, y, z, negative=1)"""

    roots = frozenset({"Sub", "Mul"})
    pairs = frozenset({("Sub", "Mul"), ("Mul", "Sub")})


class SubMulBroadcastPattern(SubMulPattern):
    """(x - y) * z -> SubMul(x, y, z), (x * y) - z -> MulSub(x, y, z), broadcast over first axes"""

    default_priority = 4
    broadcasts = True


def _shared(pair: Sequence[onnx.NodeProto]) -> tuple[str, str, str] | None:
    """The operand of both nodes, and the other operand of each; None where they compute the same."""
    first, second = (list(node.input) for node in pair)
    for name in first:
        if name in second:
            others = [names[1 - names.index(name)] for names in (first, second)]
            return None if others[0] == others[1] else (name, others[0], others[1])
    return None


class AddMulSharedInputPattern(BinaryPattern):
    """x + y, x + z -> AddSharedInput(x, y, z); x * y, x * z -> MulSharedInput(x, y, z)"""

    roots = frozenset({"Add", "Mul"})
    default_priority = 3

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        if not self.fits(g, node):
            return "types or shapes of the operands"
        for name in node.input:
            pair = [user for user in g.next_nodes(name) if is_op(user, node.op_type)]
            if len(pair) == 2 and all(self.fits(g, user) for user in pair) and _shared(pair):
                if not uses(g, pair[0], pair[1]) and not uses(g, pair[1], pair[0]):
                    return pair
        return "no operand has exactly two such users, neither after the other"

    def apply(self, g: PatternView, first: onnx.NodeProto, second: onnx.NodeProto) -> list[onnx.NodeProto]:
        outputs = [first.output[0], second.output[0]]
        return [self.kernel(g, f"{first.op_type}SharedInput", _shared([first, second]), outputs, first)]


class AddMulSharedInputBroadcastPattern(AddMulSharedInputPattern):
    """x + y, x + z -> AddSharedInput(x, y, z); x * y, x * z -> MulSharedInput(x, y, z), broadcast over first axes"""

    default_priority = 4
    broadcasts = True
