# SPDX-License-Identifier: Apache-2.0
"""Patterns in Python as rules of the engine."""

from __future__ import annotations

from ..rewriting import Graph, Match, Rewriter, Rule
from .insertion import insert
from .nodes import NodeView
from .pattern import MatchResult, PatternOptimization
from .view import PatternView

PROTECTED = "_DONOTREMOVE_"


class Bridge:
    """One pattern during one optimisation."""

    def __init__(self, pattern: PatternOptimization, parent: PatternView, matched: list[MatchResult]) -> None:
        self.pattern = pattern
        self.parent = parent
        self.matched = matched
        self.exit_points: dict[object, str] = {}  # by root

    def rule(self) -> Rule:
        pattern = self.pattern
        return Rule.code(
            pattern.name,
            {"match": self.match, "rewrite": self.rewrite},
            roots=sorted(pattern.fast_op_type() or ()),
            docs=(type(pattern).__doc__ or "").strip().split("\n")[0],
            numerics=getattr(pattern, "numerics", "exact"),
            benefit=getattr(pattern, "benefit", 1),
        )

    def view(self, graph: Graph, rewriter: Rewriter | None = None) -> PatternView:
        return self.parent.of(graph, self.pattern.verbose, rewriter)

    def match(self, match: Match) -> bool:
        node = NodeView(match.root)
        if not any(v.use_count for v in match.root.outputs if v is not None):
            return False
        self.pattern.last_reason = ""
        result = self.pattern.match(self.view(match.graph), node, self.matched)
        if result is None:
            return match.refuse(self.pattern.last_reason) if self.pattern.last_reason else False
        if not isinstance(result, MatchResult):
            raise TypeError(f"match returned {result!r}: expected a MatchResult or None")
        for found in result.nodes:
            if found is None:
                continue
            if not isinstance(found, NodeView) or found.node.graph != match.graph or not found.node.alive:
                raise ValueError(f"match returned {found!r}, which is no node of this graph")
            if found.name.startswith(PROTECTED):
                return match.refuse("a node of the match is protected")
            match.take(found.node, root=True)  # what is used outside stays: apply decides what it makes anew
        if result.insert_at is not None and (not isinstance(result.insert_at, NodeView) or result.insert_at.node.graph != match.graph):
            raise ValueError(f"insert_at is {result.insert_at!r}, which is no node of this graph")
        match.state = result
        self.matched.append(result)
        return True

    def rewrite(self, match: Match, rewriter: Rewriter) -> bool:
        self.matched.clear()  # what follows belongs to the next search
        result = match.state
        insert(self.view(match.graph, rewriter), rewriter, result)
        self.exit_points[match.root] = "insert_at" if result.insert_at is not None else "positions"
        return True
