# SPDX-License-Identifier: Apache-2.0
"""The base class of the catalogue's patterns, which report why they do not match and make nodes of one domain; queries that they share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import onnx

from ..bodies import names_read_by
from ..pattern import MatchResult, PatternOptimization
from ..view import PatternView

KERNELS = "yaourt.ortops.fused_kernel.cuda"  # fused kernels for CUDA
KERNEL_TYPES = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16)

Found = Sequence[onnx.NodeProto | None] | str


class CataloguePattern(PatternOptimization):
    """A pattern whose `find` returns the nodes of a match, in the order in which `apply` takes them, or the reason why there is none."""

    roots: ClassVar[frozenset[str]]  # operators at whose nodes `find` is called
    domain: ClassVar[str] = ""  # of the roots
    processor: ClassVar[str] = "CUDA"  # the processor that has the kernels; "": any
    default_priority: ClassVar[int] = 1  # used where the constructor gets no priority
    _reason = ""

    def __init__(self, verbose: int = 0, priority: int | None = None) -> None:
        super().__init__(verbose, self.default_priority if priority is None else priority)

    @classmethod
    def fast_op_type(cls) -> set[str]:
        return set(cls.roots)

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        raise NotImplementedError(f"{self.name} has no method find")

    def match(self, g: PatternView, node: onnx.NodeProto, matched: list[MatchResult]) -> MatchResult | None:
        self._reason = ""
        if node.op_type not in self.roots or node.domain != self.domain or not self.runs_on(g):
            return self.none()
        found = self.find(g, node)
        if not isinstance(found, str):
            return MatchResult(self, found, self.apply, insert_at=node)
        self._reason = found
        return self.none(node)

    @classmethod
    def runs_on(cls, g: PatternView) -> bool:
        return not cls.processor or g.has_processor(cls.processor)

    @property
    def last_reason(self) -> str:
        return f"no match: {self._reason}" if self._reason else ""

    def kernel(
        self, g: PatternView, op_type: str, inputs: Iterable[str], outputs: Iterable[str], replaced: onnx.NodeProto, **attributes: Any
    ) -> onnx.NodeProto:
        """A node of the fused kernels."""
        return g.make_node(op_type, list(inputs), list(outputs), name=f"{self.name}--{replaced.name}", domain=KERNELS, **attributes)


def has_kernel_type(g: PatternView, name: str) -> bool:
    return g.try_infer_type(name) in KERNEL_TYPES


def is_op(node: onnx.NodeProto | None, *op_types: str) -> bool:
    """A node of one of these standard operators."""
    return node is not None and node.op_type in op_types and not node.domain


def only_user(g: PatternView, name: str) -> onnx.NodeProto | None:
    """The node that alone uses the result, at one place; None where a body, the graph's caller or another node uses it too."""
    users = [] if not name or g.is_used_more_than_once(name) else g.next_nodes(name)
    return users[0] if len(users) == 1 and list(users[0].input).count(name) == 1 else None


def broadcast_scalar(g: PatternView, name: str, other: str) -> Any:
    """The one element of a constant that broadcasts to the shape of `other` without changing it; None where it is no such constant."""
    if not g.is_constant_scalar(name, broadcast=True):
        return None
    rank = g.get_rank(other) if g.has_rank(other) else 0
    return g.get_constant_scalar(name, broadcast=True) if g.get_rank(name) <= rank else None


def uses(g: PatternView, node: onnx.NodeProto, other: onnx.NodeProto) -> bool:
    """Whether `node` reads a result of `other`, itself or through nodes before it. Cost: the nodes before it."""
    waiting, seen = list(names_read_by(node)), {id(node)}
    while waiting:
        before = g.node_before(waiting.pop())
        if before is other:
            return True
        if before is not None and id(before) not in seen:
            seen.add(id(before))
            waiting += names_read_by(before)
    return False
