# SPDX-License-Identifier: Apache-2.0
"""Graphs, rules and the driver that applies them: the same engine that compiles models.

>>> graph = Graph.from_onnx("model.onnx")
>>> rewrite(graph, [Rule.equation("Not(Not(?x)) => ?x"), *select("default-cast")])["changed"]
True
>>> graph.save_onnx("smaller.onnx")
"""

from __future__ import annotations

from . import TenonError
from ._tenon import (
    Graph,
    Match,
    Node,
    Rewriter,
    Rule,
    RuleSet,
    Value,
    Verifier,
    Why,
    analyse,
    rewrite,
    rules_from,
    select,
    visits,
    why_not,
)

__all__ = [
    "Graph",
    "Match",
    "Node",
    "Rewriter",
    "Rule",
    "RuleSet",
    "TenonError",
    "Value",
    "Verifier",
    "Why",
    "analyse",
    "rewrite",
    "rules_from",
    "select",
    "visits",
    "why_not",
]
