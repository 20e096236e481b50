# SPDX-License-Identifier: Apache-2.0
"""Patterns whose two sides are ONNX models or functions."""

from __future__ import annotations

from ..rewriting import Graph
from .easy import EasyPatternOptimization
from .functions import Side, pattern_graph


class OnnxEasyPatternOptimization(EasyPatternOptimization):
    """What `match_model` computes becomes what `apply_model` computes: inputs and outputs go by place."""

    def __init__(self, match_model: Side, apply_model: Side, verbose: int = 0, priority: int = 0) -> None:
        super().__init__(verbose, priority)
        self._match_model = match_model
        self._apply_model = apply_model

    def _parameters(self) -> dict[str, int]:
        model = self._match_model
        names = model.input if hasattr(model, "input") else [i.name for i in model.graph.input]
        return dict.fromkeys(names, 0)

    def _side(self, side: str, parameters: dict[str, int]) -> Graph:
        return pattern_graph(self._match_model if side == "match" else self._apply_model)


def make_pattern_from_onnx(name: str, match_model: Side, apply_model: Side, verbose: int = 0) -> OnnxEasyPatternOptimization:
    """An instance of a new class of that name."""
    return type(name, (OnnxEasyPatternOptimization,), {})(match_model, apply_model, verbose=verbose)
