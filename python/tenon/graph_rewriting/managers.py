# SPDX-License-Identifier: Apache-2.0
"""Sets of patterns, run by the engine that runs all of Tenon's rules."""

from __future__ import annotations

import warnings
from typing import Any, Generic, TypeVar

from .. import rewriting
from .network import Network
from .patterns import PatternAnalyzer, PatternRewriter
from .session import Session

Pattern = TypeVar("Pattern", PatternRewriter, PatternAnalyzer)


class RewriteWarning(UserWarning):
    """The engine has undone a rewrite and disabled its pattern: it changed the graph while matching, changed an element type, or reached a
    limit of rewrites."""


class _PatternManager(Generic[Pattern]):
    def __init__(self) -> None:
        self.patterns: dict[str, tuple[int, Pattern]] = {}

    def add(self, label: str, pattern: Pattern, benefit: int = 0) -> None:
        """Patterns of higher benefit are tried first, of equal benefit in the order of adding. Raises ValueError where the label exists."""
        if label in self.patterns:
            raise ValueError(f"there is a pattern of label {label!r} already")
        self.patterns[label] = (benefit, pattern)

    def get(self, label: str) -> Pattern:
        """The object that was added. Raises KeyError."""
        return self.patterns[label][1]

    def _rules(self, session: Session) -> list[rewriting.Rule]:
        return [session.rule(label, pattern, benefit) for label, (benefit, pattern) in self.patterns.items()]


class RewritePatternManager(_PatternManager[PatternRewriter]):
    max_repeats = 1000  # the longest chain of rewrites, each of a layer that the one before made; a longer one disables its pattern

    @staticmethod
    def instance() -> RewritePatternManager:
        return _rewrite_patterns

    def rewrite(self, net: Network, args: Any = None) -> dict[str, Any]:
        """Sweeps over the layers until none changes anything. A sweep shows each layer that existed when it began to every pattern, as
        long as the layer is not removed. `args` becomes `pattern.args`.
        Returns the engine's statistics. What a pattern raises undoes its rewrite and leaves the pattern out; the others go on to the end,
        and then the first exception is raised here. What else the engine objects to comes as RewriteWarning and in `reports`."""
        session = Session(net, args)
        try:
            statistics = rewriting.rewrite(
                net.graph, self._rules(session), order="in_turn", repeats=self.max_repeats, args=args, applied=session.applied
            )
        finally:
            session.finish()
        raised = {rule for rule, _ in statistics["errors"]}
        for report in statistics["reports"]:
            if not any(report.startswith(f"rule {rule} was undone") for rule in raised):
                warnings.warn(report, RewriteWarning, stacklevel=2)
        if statistics["errors"]:
            raise statistics["errors"][0][1]
        return statistics


class AnalysisPatternManager(_PatternManager[PatternAnalyzer]):
    @staticmethod
    def instance() -> AnalysisPatternManager:
        return _analysis_patterns

    def analyze(self, net: Network, args: Any = None) -> int:
        """Shows each layer that is not removed once to every pattern; returns how many matches were analysed. What a pattern raises is
        raised here; one that tries to change the network gets a TenonError."""
        session = Session(net, args)
        return rewriting.analyse(net.graph, self._rules(session), args=args)


_rewrite_patterns = RewritePatternManager()
_analysis_patterns = AnalysisPatternManager()
