# SPDX-License-Identifier: Apache-2.0
"""What `patterns=` may be: names of sets, rules and rewrites of the catalogue, expressions over them, rules, classes, instances."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from typing import Any

from ..rewriting import Rule, select
from . import catalogue
from .environment import short_name
from .pattern import EnginePattern, PatternOptimization, catalogue_pattern

Pattern = PatternOptimization | EnginePattern
Patterns = str | Iterable[Any] | PatternOptimization | EnginePattern | Rule | type | None


def _by_seed(rules: list[Rule], verbose: int) -> list[EnginePattern]:
    """The rewrites of the catalogue that the rules cover, each with its rules; the others one by one."""
    groups: dict[str, list[Rule]] = {}
    for rule in rules:
        for seed in rule.seeds.split() or [""]:
            groups.setdefault(seed or f"rule {rule.name}", []).append(rule)
    return [
        EnginePattern(group, verbose) if key.startswith("rule ") else catalogue_pattern(key, group, verbose)
        for key, group in groups.items()
    ]


def _called(pattern: EnginePattern) -> EnginePattern:
    """Of one that was requested by its own name: if all that it can do is approximate, that was requested."""
    pattern.may_approximate = all(rule.numerics == "approximate" for rule in pattern.rules)
    return pattern


def _named(name: str, verbose: int) -> list[Pattern]:
    """The patterns of one name: of a set, a class in Python, a rule, or a pattern of yobx."""
    if name == "none":
        return []
    if kinds := catalogue.named(name):
        return [kind(verbose=verbose) for kind in kinds]
    rules = select(name)
    seed = short_name(name)
    if not rules:  # a rewrite that needs no rule: graphs never have what it takes away
        return [catalogue_pattern(seed, [], verbose)]
    if rules and all(seed in rule.seeds.split() and rule.name != seed for rule in rules):
        return [_called(catalogue_pattern(seed, rules, verbose))]
    if len(rules) == 1 and rules[0].name == name:
        return [_called(EnginePattern(rules, verbose))]
    if name != "onnxruntime":
        return _by_seed(rules, verbose)
    # The set as its original has it: what only CUDA has is in it, and runs where the options say that processor.
    names = {r.name for r in rules}
    found = _by_seed(rules + [r for r in select("onnxruntime_cuda") if r.name not in names], verbose)
    for pattern in found:
        pattern.requested_by_name = False
    return found


def _expression(text: str, verbose: int) -> list[Pattern]:
    """Names joined with `,` or `+`, and taken away with `-`: the patterns of each in turn."""
    parts = [(sign, name) for sign, name in re.findall(r"([,+-]?)\s*([^,+-]*)", text) if name.strip()]
    dropped = _names_of_all([name.strip() for sign, name in parts if sign == "-"])
    found = [pattern for sign, name in parts if sign != "-" for pattern in _named(name.strip(), verbose)]
    return [kept for pattern in found if (kept := without(pattern, dropped)) is not None]


def _one(item: Any, verbose: int) -> list[Pattern]:
    if isinstance(item, str):
        return _expression(item, verbose)
    if isinstance(item, Rule):
        return [EnginePattern(item, verbose)]
    if isinstance(item, type) and issubclass(item, PatternOptimization):
        return [item(verbose=verbose)]
    if isinstance(item, PatternOptimization | EnginePattern):
        return [item]
    raise TypeError(f"{item!r} is no pattern: expected a name, a rule, an instance or a class of PatternOptimization")


def names_of(pattern: Pattern) -> set[str]:
    """All names that select the pattern."""
    return pattern.names if isinstance(pattern, EnginePattern) else {short_name(pattern.name)}


def _names_of_all(items: Iterable[Any]) -> set[str]:
    """All names of the patterns that are excluded."""
    out: set[str] = set()
    for item in items:
        out |= {short_name(item)} if isinstance(item, str) else set()
        for pattern in _one(item, 0):
            out |= {short_name(pattern.name)} | ({pattern.seed} - {""} if isinstance(pattern, EnginePattern) else set())
    return out


def without(pattern: Pattern, dropped: set[str]) -> Pattern | None:
    """The pattern without the excluded rules; None where none is left. A rule that covers several patterns of yobx is excluded with the
    first that it names."""
    if not dropped:
        return pattern
    if not isinstance(pattern, EnginePattern):
        return None if short_name(pattern.name) in dropped else pattern
    rules = [r for r in pattern.rules if not {r.name, *r.seeds.split()[:1]} & dropped]
    if not rules or pattern.seed in dropped:
        return None
    if len(rules) == len(pattern.rules):
        return pattern
    less = copy.copy(pattern)
    less.rules = rules
    return less


def _as_items(patterns: Patterns) -> list[Any]:
    if patterns is None:
        return []
    return [patterns] if isinstance(patterns, str | PatternOptimization | EnginePattern | Rule | type) else list(patterns)


def get_pattern_list(positive_list: Patterns = "default", negative_list: Patterns = None, verbose: int = 0) -> list[Pattern]:
    """The patterns that an expression or a list means, in its order; a single one only once. None and "none": no pattern at all.

    Names of sets, of Tenon's rules and of the rewrites that they cover, joined with `,` or `+` and taken away with `-`. negative_list:
    what is left out, in the same words. Raises TenonError where nobody has a name.
    """
    dropped = _names_of_all(_as_items(negative_list))
    out: list[Pattern] = []
    for item in _as_items(positive_list):
        group = [kept for pattern in _one(item, verbose) if (kept := without(pattern, dropped)) is not None]
        if len(group) != 1 or group[0] not in out:
            out += group
        elif isinstance(group[0], EnginePattern):
            out[out.index(group[0])].may_approximate |= group[0].may_approximate
    return out


def get_pattern(obj: Any, as_list: bool = False, verbose: int = 0) -> Any:
    """The one pattern that is meant; with `as_list` all of them. Raises ValueError where one is requested and a name means several."""
    found = get_pattern_list(obj if isinstance(obj, list) else [obj], verbose=verbose)
    if as_list:
        return found
    if len(found) != 1:
        raise ValueError(f"{obj!r} means {len(found)} patterns: {', '.join(p.name for p in found)}")
    return found[0]
