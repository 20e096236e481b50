# SPDX-License-Identifier: Apache-2.0
"""The base classes of patterns: PatternRewriter changes the network, PatternAnalyzer only reads it."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from .layer import Layer
from .trt import LayerType

_log = logging.getLogger("tenon.graph_rewriting")


class _Pattern:
    def __init__(self, name: str, root_layer: Iterable[LayerType] | None = None) -> None:
        self.name = name
        self.root_layer = set(root_layer) if root_layer is not None else None
        # The argument `args` of the manager's rewrite() or analyze().
        self.args: Any = {}

    def log_info(self, msg: str) -> None:
        _log.info("Pattern %s: %s", self.name, msg)

    def log_warn(self, msg: str) -> None:
        _log.warning("Pattern %s: %s", self.name, msg)

    def log_error(self, msg: str) -> None:
        _log.error("Pattern %s: %s", self.name, msg)


class PatternRewriter(_Pattern):
    """Defines match_and_rewrite(), or, with separate_match_rewrite, match() and rewrite(). root_layer: the types of
    layers that it is called for; None: all."""

    def __init__(
        self,
        name: str,
        root_layer: Iterable[LayerType] | None = None,
        separate_match_rewrite: bool = False,
        *,
        seperate_match_rewrite: bool | None = None,
    ) -> None:
        super().__init__(name, root_layer)
        self.separate_match_rewrite = separate_match_rewrite if seperate_match_rewrite is None else seperate_match_rewrite

    def match(self, layer: Layer) -> bool:
        """Whether the pattern matches at the layer. Must not change the network."""
        raise NotImplementedError(f"pattern {self.name} does not define match()")

    def rewrite(self, layer: Layer) -> None:
        raise NotImplementedError(f"pattern {self.name} does not define rewrite()")

    def match_and_rewrite(self, layer: Layer) -> bool:
        """True where it has rewritten. Changes before a False are undone."""
        raise NotImplementedError(f"pattern {self.name} does not define match_and_rewrite()")


class PatternAnalyzer(_Pattern):
    def __init__(self, name: str, root_layer: Iterable[LayerType] | None = None) -> None:
        super().__init__(name, root_layer)

    def match(self, layer: Layer) -> bool | list[Layer]:
        """The layers that belong to the match; True for the layer alone."""
        raise NotImplementedError(f"pattern {self.name} does not define match()")

    def analyze(self, subgraph: list[Layer]) -> None:
        raise NotImplementedError(f"pattern {self.name} does not define analyze()")
