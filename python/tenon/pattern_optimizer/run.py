# SPDX-License-Identifier: Apache-2.0
"""One optimisation from beginning to end: clean, patterns by priority, clean again."""

from __future__ import annotations

import time
import warnings
from typing import Any

from ..rewriting import Graph, Rule, RuleSet, rewrite, select, why_not
from .bridge import PROTECTED, Bridge, Views
from .cleaning import merge_equal, names_in, nodes_in
from .dump import Dump
from .easy import EasyPatternOptimization
from .environment import Environment
from .options import OptimizationOptions
from .pattern import EnginePattern
from .selection import Pattern, names_of, without
from .statistics import Rows
from .view import PatternView

UNLIMITED = 1 << 62


class Optimization:
    def __init__(self, graph: Graph, options: OptimizationOptions, view: PatternView) -> None:
        self.graph = graph
        self.options = options
        self.view = view
        self.env = Environment.read()
        self.verbose = max(options.verbose, view.verbose, self.env.verbose)
        self.rows = Rows(self.verbose)
        self.left_out: set[str] = set()
        self.allowed = options.allowed or "reassociating"
        self.protected: set[str] | None = None  # names of nodes
        self.budget = options.stop_after if options.stop_after >= 0 else UNLIMITED
        self.iterations = options.max_iter if options.max_iter >= 0 else UNLIMITED
        self.views = Views(view)
        self.bridges: dict[str, Bridge] = {}
        folder = self.env.dump or options.dump_applied_patterns
        self.dump = Dump(folder, self.rows.name_of) if folder else None
        self.identity = RuleSet(select("identity") if options.remove_identity else [])

    def run(self) -> list[dict[str, Any]]:
        start = time.perf_counter()
        self.say(f"start with {len(self.graph)} nodes, {len(self.options.patterns)} patterns")
        patterns = [kept for p in self.options.patterns if (kept := without(p, self.env.dropped)) is not None]
        for pattern in patterns:
            pattern.verbose = self.env.verbosity(names_of(pattern), max(pattern.verbose, self.verbose))
        self.clean()
        rules = self.rules(patterns)
        if self.options.allowed is None:
            self.allow_named(patterns, [rule for _, rule in rules])
        every = RuleSet([rule for _, rule in rules] + self.identity.rules)
        for priority in sorted({own for own, _ in rules}):
            chosen = [rule for own, rule in rules if (own == 3 if priority == 3 else own <= priority)]
            self.phase(every.only(chosen + self.identity.rules), fold=priority != 3)
        if patterns:
            self.clean()
        self.report_mismatches(patterns)
        self.say(f"done with {len(self.graph)} nodes in {time.perf_counter() - start:.3f} s")
        self.rows.finish(len(self.graph), time.perf_counter() - start)
        return self.rows.rows

    def say(self, text: str) -> None:
        if self.verbose:
            print(f"[pattern_optimizer.optimize] {text}")

    def report_mismatches(self, patterns: list[Pattern]) -> None:
        """Prints why the best partial matches of verbose engine rules do not match. (Patterns in Python print that themselves.)"""
        for pattern in patterns:
            for rule in pattern.rules if isinstance(pattern, EnginePattern) and pattern.verbose >= 10 else ():
                for why in why_not(self.graph, rule, allowed=self.allowed):
                    print(f"[{pattern.name}.match] none: {why}")

    def clean(self) -> None:
        """Merges equal initializers and Shape nodes, folds constants, removes Identity nodes and unused nodes."""
        merged = merge_equal(self.graph, shapes=self.options.remove_duplicated_shape, constants=self.options.remove_duplicated_initializer)
        self.rows.cleaned("remove_duplicates", merged)
        if self.options.remove_unused:
            self.drive(self.identity, budget=UNLIMITED)

    # --- patterns ------------------------------------------------------------------------------------------

    def rules(self, patterns: list[Pattern]) -> list[tuple[int, Rule]]:
        """The rules of the patterns with their priorities, each once. A pattern that cannot become a rule is skipped with a warning."""
        out: dict[str, tuple[int, Rule]] = {}
        for pattern in patterns:
            if isinstance(pattern, EnginePattern):
                for rule in pattern.active_rules(self.options.processor):
                    out.setdefault(rule.name, (pattern.PRIORITIES[rule.stage], rule))
                    self.rows.called.setdefault(rule.name, pattern)
                continue
            bridge = self.bridges.setdefault(pattern.name, Bridge(pattern, self.views, len(self.bridges)))
            try:
                out[pattern.name] = (
                    pattern.priority,
                    pattern.rule(bridge) if isinstance(pattern, EasyPatternOptimization) else bridge.rule(),
                )
                self.rows.called[pattern.name] = pattern
            except Exception as e:  # the code of a pattern may raise anything
                warnings.warn(f"pattern {pattern.name} was left out: {type(e).__name__}: {e}", RuntimeWarning, stacklevel=2)
        return list(out.values())

    def allow_named(self, patterns: list[Pattern], rules: list[Rule]) -> None:
        """Approximate rules run where their own name was given; the others stay away."""
        named = {r.name for p in patterns if isinstance(p, EnginePattern) and p.may_approximate for r in p.rules}
        if named:
            self.allowed = "approximate"
            self.left_out |= {rule.name for rule in rules if rule.numerics == "approximate"} - named

    def phase(self, rules: RuleSet, fold: bool) -> None:
        if not (self.env.step or self.env.no_remove or self.options.verifies):
            self.drive(rules, self.budget, fold)
            return
        # A guard that looks after each rewrite: a driver that always finds something must not go on for ever.
        for _ in range(32 * max(len(self.graph), 10)):
            before = names_in(self.graph) if self.env.no_remove else set()
            if self.drive(rules, min(self.budget, 1), fold) == 0:
                break
            self.look(before)

    def look(self, before: set[str]) -> None:
        last = self.rows.last
        if self.env.step or self.options.verifies:
            self.graph.verify()
            self.graph.infer()
        if self.env.step:
            print(f"[pattern_optimizer.step] {last}: {len(self.graph)} nodes")
        if self.env.no_remove in before and self.env.no_remove not in names_in(self.graph):
            raise AssertionError(f"{last} removed {self.env.no_remove!r}, which PATTERNNOREMOVE protects")

    def drive(self, rules: RuleSet, budget: int, fold: bool = True) -> int:
        """One run of the driver. Returns how many rewrites it carried out."""
        if budget <= 0 or self.iterations <= 0:
            return 0
        if self.protected is None or self.bridges:  # only patterns in Python name nodes as they like
            self.protected = {n.name for n in nodes_in(self.graph) if n.name.startswith(PROTECTED)}
        events = self.rows.events(self.bridges)
        self.views.start()
        statistics = rewrite(
            self.graph,
            rules,
            order="sweep",
            allowed=self.allowed,
            stop_after=min(budget, UNLIMITED),
            iterations=min(self.iterations, 1 << 30),
            timing=True,
            bodies=self.options.recursive,
            keep=self.protected,
            without=self.left_out,
            fold=self.options.constant_folding if fold else False,
            applied=events.applied,
            check=self.dump.check if self.dump else None,
        )
        events.close()
        applied = self.rows.add(statistics, events)
        if rules is not self.identity:
            self.budget -= applied
            self.iterations -= statistics["sweeps"]
        for rule in statistics["rules"]:
            if rule["left_out"]:
                self.left_out.add(rule["name"])
        for sentence in statistics["reports"]:
            warnings.warn(sentence, RuntimeWarning, stacklevel=2)
        return applied


def optimize(graph: Graph, options: OptimizationOptions, view: PatternView) -> list[dict[str, Any]]:
    return Optimization(graph, options, view).run()
