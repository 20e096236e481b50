# SPDX-License-Identifier: Apache-2.0
"""Patterns in Python as code rules of the engine."""

from __future__ import annotations

from ..rewriting import Graph, Match, Node, Rewriter, Rule
from .insertion import insert
from .nodes import node_text
from .pattern import MatchResult, PatternOptimization
from .view import PatternView

PROTECTED = "_DONOTREMOVE_"


class Views:
    """The view of the graph that is optimised, and those of its bodies."""

    def __init__(self, root: PatternView) -> None:
        self.root = root
        self.bodies: list[PatternView] = []
        self.sweeps: dict[int, int] = {}  # by view

    def start(self) -> None:
        """Called before each run of the driver: drops views of erased bodies, and restarts the count of sweeps."""
        self.bodies.clear()
        self.sweeps.clear()

    def of(self, graph: Graph) -> PatternView:
        if graph == self.root.graph:
            return self.root
        for view in self.bodies:
            if view.graph == graph:
                return view
        self.bodies.append(self.root.of(graph))
        return self.bodies[-1]

    def in_sweep(self, graph: Graph, sweep: int) -> PatternView:
        """The view of the graph, with what has changed since the sweep before."""
        view = self.of(graph)
        if self.sweeps.get(id(view)) != sweep:
            self.sweeps[id(view)] = sweep
            view.scene.begin_sweep()
        return view


class Bridge:
    """One pattern during one optimisation."""

    def __init__(self, pattern: PatternOptimization, views: Views, number: int) -> None:
        self.pattern = pattern
        self.views = views
        self.number = number
        self.op_types = sorted(pattern.fast_op_type() or ())
        self.found: dict[Node, MatchResult] = {}  # of this sweep, before the first rewrite
        self.exit_points: dict[Node, str] = {}  # by root

    def rule(self) -> Rule:
        pattern = self.pattern
        return Rule.code(
            pattern.name,
            {"screen": self.screen, "match": self.match, "rewrite": self.rewrite},
            roots=self.op_types,
            docs=(type(pattern).__doc__ or "").strip().split("\n")[0],
            numerics=getattr(pattern, "numerics", "exact"),
            benefit=getattr(pattern, "benefit", 1),
        )

    def screen(self, graph: Graph, sweep: int) -> tuple[list[Node], int]:
        """The nodes where the pattern matches, and how many were tried: all but those that it refused before and around which nothing has
        changed."""
        view = self.views.in_sweep(graph, sweep)
        tried, found = view.scene.match_nodes(self.number, self.op_types, self.pattern.match, view, [])
        self.found = dict(found)
        return [node for node, _ in found], tried

    def match(self, match: Match) -> bool:
        view = self.views.of(match.graph)
        result = self.found.pop(match.root, None)
        if result is None:  # matched again: an earlier rewrite may have taken away what was found
            if not any(v.use_count for v in match.root.outputs if v is not None):
                return False
            self.pattern.none()
            result = self.pattern.match(view, view.scene.object_of(match.root), [])
        if result is None:
            return match.refuse(self.pattern.last_reason) if self.pattern.last_reason else False
        if not isinstance(result, MatchResult):
            raise TypeError(f"match returned {result!r}: expected a MatchResult or None")
        for found in result.nodes:
            if found is None:
                continue
            node = view.scene.node_of(found)
            if node is None:
                raise ValueError(f"match returned {node_text(found)}, which is no node of this graph")
            if found.name.startswith(PROTECTED):
                return match.refuse("a node of the match is protected")
            match.take(node, root=True)  # what is used outside stays: apply decides what it makes anew
        if result.insert_at is not None and view.scene.node_of(result.insert_at) is None:
            raise ValueError(f"insert_at is {node_text(result.insert_at)}, which is no node of this graph")
        match.state = result
        return True

    def rewrite(self, match: Match, rewriter: Rewriter) -> bool:
        result = match.state
        view = self.views.of(match.graph)
        with view.changing(rewriter):
            insert(view, rewriter, result)
        self.exit_points[match.root] = "insert_at" if result.insert_at is not None else "positions"
        return True
