# SPDX-License-Identifier: Apache-2.0
"""The graph as patterns see it, together with the patterns that are to rewrite it."""

from __future__ import annotations

from typing import Any

from ..rewriting import Graph
from .graph_queries import GraphQueries
from .options import OptimizationOptions
from .run import optimize
from .selection import Patterns
from .view import PatternView


class GraphBuilderPatternOptimization(PatternView):
    """`builder`: a GraphBuilder, or a graph. The other arguments become OptimizationOptions."""

    def __init__(
        self,
        builder: GraphQueries | Graph,
        patterns: Patterns = None,
        recursive: bool = True,
        verifies: bool = False,
        stop_after: int = -1,
        processor: str = "CPU",
        dump_applied_patterns: str | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(builder, processor, verbose)
        self._options = dict(
            patterns=patterns,
            recursive=recursive,
            verifies=verifies,
            stop_after=stop_after,
            dump_applied_patterns=dump_applied_patterns,
            processor=processor,
            verbose=verbose,
        )

    def optimize(self, max_iter: int = -1, remove_identity: bool = True) -> list[dict[str, Any]]:
        """Applies the patterns until they find nothing any more. Returns rows of statistics."""
        return optimize(self.graph, OptimizationOptions(max_iter=max_iter, remove_identity=remove_identity, **self._options), self)
