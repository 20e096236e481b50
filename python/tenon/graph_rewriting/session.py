# SPDX-License-Identifier: Apache-2.0
"""One run of a manager over one network: patterns as rules of the rewrite driver."""

from __future__ import annotations

from typing import Any

from ..rewriting import Graph, Match, Node, Rewriter, Rule
from .kinds import roots_of
from .layer import Layer
from .network import Network
from .patterns import PatternAnalyzer, PatternRewriter, _Pattern


class Session:
    """The rewrite driver calls patterns through it. Changes of Python state that a pattern makes are committed when the driver reports the
    rewrite as applied. The driver does not report refused rewrites: their changes are rolled back before the next pattern is called."""

    def __init__(self, network: Network, args: Any) -> None:
        self.network = network
        self.args = args
        self._bodies: dict[Graph, Network] = {}

    def rule(self, label: str, pattern: _Pattern, benefit: int) -> Rule:
        if isinstance(pattern, PatternAnalyzer):
            functions = {"match": self._analysed(pattern), "analyse": lambda match: pattern.analyze(match.state)}
        elif pattern.separate_match_rewrite:
            functions = {"match": self._matched(pattern), "rewrite": self._rewritten(pattern)}
        else:
            functions = {"match_and_rewrite": self._match_and_rewrite(pattern)}
        return Rule.code(label, functions, roots=roots_of(pattern.root_layer), benefit=benefit, reshapes=True)

    def applied(self, event: dict[str, Any]) -> None:
        self._of(event["graph"]).undo_log.commit()

    def finish(self) -> None:
        """After the run: rolls back the last rewrite where it was refused, and drops records of removed layers."""
        for network in (self.network, *self._bodies.values()):
            network.undo_log.rollback()
            network.flayer_memo.cleanup()

    def _of(self, graph: Graph) -> Network:
        if graph == self.network.graph:
            return self.network
        if graph not in self._bodies:
            self._bodies[graph] = Network(graph)
        return self._bodies[graph]

    def _visible_layer(self, pattern: _Pattern, graph: Graph, node: Node) -> Layer | None:
        """The layer for the pattern; None where it is removed or of another type."""
        network = self._of(graph)
        network.undo_log.rollback()
        layer = Layer(network, node)
        if layer.is_removed() or (pattern.root_layer is not None and layer.type not in pattern.root_layer):
            return None
        pattern.args = self.args
        return layer

    def _matched(self, pattern: PatternRewriter) -> Any:
        def match(m: Match) -> bool:
            layer = self._visible_layer(pattern, m.graph, m.root)
            if layer is None:
                return False
            with layer.network.rewriting_at(m.root):
                return bool(pattern.match(layer))

        return match

    def _rewritten(self, pattern: PatternRewriter) -> Any:
        def rewrite(m: Match, rewriter: Rewriter) -> None:
            layer = Layer(self._of(m.graph), m.root)
            layer.network.undo_log.begin()
            with layer.network.rewriting_at(m.root):
                pattern.rewrite(layer)

        return rewrite

    def _match_and_rewrite(self, pattern: PatternRewriter) -> Any:
        def match_and_rewrite(m: Match, rewriter: Rewriter) -> bool:
            layer = self._visible_layer(pattern, m.graph, m.root)
            if layer is None:
                return False
            layer.network.undo_log.begin()
            with layer.network.rewriting_at(m.root):
                return bool(pattern.match_and_rewrite(layer))

        return match_and_rewrite

    def _analysed(self, pattern: PatternAnalyzer) -> Any:
        def match(m: Match) -> bool:
            layer = self._visible_layer(pattern, m.graph, m.root)
            if layer is None:
                return False
            with layer.network.rewriting_at(m.root):
                found = pattern.match(layer)
            m.state = [layer] if found is True else found
            return bool(found)

        return match
