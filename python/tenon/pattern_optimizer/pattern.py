# SPDX-License-Identifier: Apache-2.0
"""Patterns: written by hand, or rules of the engine under their names."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import onnx

from ..rewriting import Rule
from .nodes import node_text
from .view import PatternView

Nodes = Sequence[onnx.NodeProto | None]


class MatchResult:
    """A match: the nodes that the rewrite replaces, in the order in which `apply` takes them.

    Every node given is removed, unless `apply` returns it. None may be in the place of a node that the graph does not have.
    insert_at: ignored; the engine determines where new nodes are inserted.
    """

    def __init__(
        self,
        pattern: PatternOptimization,
        nodes: Sequence[onnx.NodeProto | None],
        apply: Callable[..., Nodes],
        insert_at: onnx.NodeProto | None = None,
        comment: str | None = None,
    ) -> None:
        if not any(n is not None for n in nodes):
            raise ValueError(f"{pattern}: a match needs at least one node")
        self.pattern = pattern
        self.nodes = list(nodes)
        self.apply = apply
        self.insert_at = insert_at
        self.comment = comment

    def to_string(self, short: bool = True) -> str:
        found = [n for n in self.nodes if n is not None]
        text = f"MatchResult: {self.pattern} replaces {[n.op_type for n in found]}"
        if short:
            return text
        read = list(dict.fromkeys(i for n in found for i in n.input))
        return f"{text}, inputs: {read}, outputs: {[o for n in found for o in n.output]}"

    __repr__ = to_string

    def debug_string(self, g: PatternView | None = None) -> str:
        """A line a node; with `g` a second one with types and shapes."""

        def typed(name: str) -> str:
            shape = g.get_shape(name) if g.has_shape(name) else f"R{g.get_rank(name)}" if g.has_rank(name) else "?"
            return f"{name}:{g.try_infer_type(name)}:{shape}"

        lines = [f"{k} - {'' if n is None else node_text(n)}" for k, n in enumerate(self.nodes)]
        if g is not None:
            lines.append("--------")
            for k, n in enumerate(self.nodes):
                text = "" if n is None else f"{n.op_type}({', '.join(map(typed, n.input))}) -> {', '.join(map(typed, n.output))}"
                lines.append(f"{k} - {text}")
        return "\n".join(line.rstrip() for line in lines)


class _Named:
    """What all patterns have in common."""

    verbose: int
    priority: int

    @property
    def name(self) -> str:
        return type(self).__name__

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{self.name}()"


class PatternOptimization(_Named):
    """A pattern in Python: `match` decides, `apply` returns the new nodes.

    priority: patterns of higher numbers wait until those of lower ones find nothing any more. min_opset: always met, as patterns see
    the newest operators (kept for patterns that pass it on).
    """

    _refused_at: tuple[str, int | None] | None = None  # file and line

    def __init__(self, verbose: int = 0, priority: int = 1, min_opset: int = 1) -> None:
        self.verbose = verbose
        self.priority = priority
        self.min_opset = min_opset

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    @classmethod
    def fast_op_type(cls) -> set[str] | None:
        """Operators at which `match` is called; None: all."""
        return None

    def match(self, g: PatternView, node: onnx.NodeProto, matched: list[MatchResult]) -> MatchResult | None:
        """Must not change the graph. None: no match."""
        raise NotImplementedError(f"{self.name} has no method match")

    def apply(self, g: PatternView, *nodes: Any) -> Nodes:
        """The nodes that replace those of the match: new ones, and those that stay."""
        raise NotImplementedError(f"{self.name} has no method apply")

    def _debug_print(self) -> str:
        return ""

    def none(self, node: Any = None, lineno: int | None = None, msg: Callable[[], str] | str | None = None) -> None:
        """`return self.none(node, line, message)`: `match` found no match; line and message are printed from verbosity 10 on."""
        self._refused_at = None if node is None else (sys._getframe(1).f_code.co_filename, lineno)
        if node is not None and self.verbose >= 10:
            text = msg() if callable(msg) else msg or ""
            where = self.last_reason.removeprefix("no match: ")
            print(f"[{self.name}.match] none: {where}, {node.name!r} {node_text(node)}{': ' if text else ''}{text}")

    @property
    def last_reason(self) -> str:
        """The file and line that `match` last passed to none(); empty where it passed none."""
        if self._refused_at is None:
            return ""
        file, line = self._refused_at
        return f"no match: line {'?' if line is None else line} of {os.path.basename(file)}"


class EnginePattern(_Named):
    """Rules of the engine. Such patterns have no match and apply in Python: the engine runs them.

    One under the name of a rewrite of the catalogue ("TransposeTranspose") is the rules that cover it, and is of a class of that
    name ("TransposeTransposePattern"); others are single rules under their own names.
    """

    PRIORITIES = {"clean": 0, "fuse": 1, "trim": 1, "combine": 2, "target": 3}

    def __init__(self, rules: Rule | Sequence[Rule], verbose: int = 0, seed: str = "") -> None:
        self.rules = [rules] if isinstance(rules, Rule) else list(rules)
        self.verbose = verbose
        self.seed = seed
        self.requested_by_name = True
        self.may_approximate = False  # it was selected by its own name, and all its rules are approximate

    @property
    def priority(self) -> int:
        """Of its first rule; each rule has that of its own stage."""
        return self.PRIORITIES[self.rules[0].stage] if self.rules else 0

    @property
    def name(self) -> str:
        return f"{self.seed}Pattern" if self.seed else self.rules[0].name

    @property
    def names(self) -> set[str]:
        """All names that select it: its own, those of its rules, and those of the yobx patterns that they cover."""
        return {self.seed or self.name, *(r.name for r in self.rules), *(seed for r in self.rules for seed in r.seeds.split())}

    def active_rules(self, processor: str) -> list[Rule]:
        """Without those of operators that only another processor has, where the pattern was not requested by its own name."""
        has_cuda = self.requested_by_name or "CUDA" in processor.upper().split(",")
        return [r for r in self.rules if has_cuda or "onnxruntime_cuda" not in r.sets.split()]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnginePattern) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def catalogue_pattern(seed: str, rules: Sequence[Rule], verbose: int = 0) -> EnginePattern:
    """The pattern of a name of the catalogue, as an instance of a class of that name."""
    kind = type(f"{seed}Pattern", (EnginePattern,), {"__doc__": " ".join(r.docs for r in rules)})
    return kind(rules, verbose, seed)
