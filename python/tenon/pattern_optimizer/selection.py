# SPDX-License-Identifier: Apache-2.0
"""Patterns by name: "default+onnxruntime", "TransposeTranspose,TransposeMatMul", "default-Cast", lists, instances."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..rewriting import Rule, select
from .environment import short_name
from .pattern import EnginePattern, PatternOptimization

Pattern = PatternOptimization | EnginePattern
Patterns = str | Iterable[Any] | PatternOptimization | EnginePattern | Rule | type | None


def _one(item: Any, verbose: int) -> list[Pattern]:
    if isinstance(item, str):
        return [EnginePattern(rule, verbose) for rule in select(item)]
    if isinstance(item, Rule):
        return [EnginePattern(item, verbose)]
    if isinstance(item, type) and issubclass(item, PatternOptimization):
        return [item(verbose=verbose)]
    if isinstance(item, PatternOptimization | EnginePattern):
        return [item]
    raise TypeError(f"{item!r} is no pattern: expected a name, a rule, an instance or a class of PatternOptimization")


def get_pattern_list(patterns: Patterns, verbose: int = 0, negative: Iterable[str] = ()) -> list[Pattern]:
    """The patterns that an expression or a list means, each once, in its order. None: no pattern at all.

    Names of sets, of Tenon's rules and of the rewrites that they cover, joined with `,` or `+` and taken away with `-`. negative: names
    to leave out. Raises TenonError where nobody has a name.
    """
    if patterns is None:
        return []
    items = [patterns] if isinstance(patterns, str | PatternOptimization | EnginePattern | Rule | type) else list(patterns)
    out: dict[Pattern, None] = {}
    dropped = {short_name(n) for n in negative}
    for item in items:
        for pattern in _one(item, verbose):
            named = {short_name(pattern.name), *getattr(pattern, "seeds", ())}
            if not named & dropped:
                out.setdefault(pattern)
    return list(out)


def get_pattern(pattern: Any, verbose: int = 0) -> Pattern:
    """The one pattern that is meant. Raises ValueError where a name means several."""
    found = get_pattern_list([pattern], verbose)
    if len(found) != 1:
        raise ValueError(f"{pattern!r} means {len(found)} patterns: {', '.join(p.name for p in found)}")
    return found[0]
