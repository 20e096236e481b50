# SPDX-License-Identifier: Apache-2.0
"""The statistics of an optimisation as rows: a list of dictionaries, from which pandas.DataFrame makes a table."""

from __future__ import annotations

import time
from typing import Any

from .bridge import Bridge
from .selection import Pattern


class Events:
    """Collects a row for each rewrite of one run of the driver."""

    def __init__(self, rows: Rows, bridges: dict[str, Bridge]) -> None:
        self.rows = rows
        self.bridges = bridges
        self.found: list[dict[str, Any]] = []
        self.open: list[Any] = []  # matched nodes of the last rewrite, to count those that it removes
        self.clock = time.perf_counter()

    def applied(self, event: dict[str, Any]) -> None:
        self.close()
        bridge = self.bridges.get(event["rule"])
        now = time.perf_counter()
        self.found.append(
            {
                "pattern": f"apply_{self.rows.name_of(event['rule'])}",
                "pattern_rule": event["rule"],
                "iteration": self.rows.iteration + event["sweep"] - 1,
                "match_index": self.rows.applied,
                "instances": 1,
                "added": len(event["made"]),
                "removed": 0,
                "time_in": now - self.clock,
                "exit_point": bridge.exit_points.pop(event["nodes"][0], "positions") if bridge else "positions",
            }
        )
        self.clock = now
        self.rows.applied += 1
        self.rows.last = event["rule"]
        self.open = event["nodes"]
        if self.rows.verbose > 1:
            print(f"[pattern_optimizer.apply] {event['rule']}: {len(event['nodes'])} nodes -> {len(event['made'])}")

    def close(self) -> None:
        if self.open:
            self.found[-1]["removed"] = sum(1 for n in self.open if not n.alive)
        self.open = []


class Rows:
    """The rows. match_P: for pattern P how many nodes were tried, matches (instances), seconds (time_in). apply_P: one row for each
    rewrite. Cleaning passes have rows under their names."""

    def __init__(self, verbose: int) -> None:
        self.verbose = verbose
        self.rows: list[dict[str, Any]] = []
        self.iteration = 0
        self.applied = 0
        self.last = ""
        self.called: dict[str, Pattern] = {}  # by rule: its pattern

    def name_of(self, rule: str) -> str:
        return self.called[rule].name if rule in self.called else rule

    def events(self, bridges: dict[str, Bridge]) -> Events:
        return Events(self, bridges)

    def cleaned(self, name: str, removed: int) -> None:
        if removed:
            self.rows.append(
                {"pattern": name, "iteration": self.iteration, "instances": removed, "added": 0, "removed": removed, "time_in": 0.0}
            )

    def add(self, statistics: dict[str, Any], events: Events) -> int:
        for rule in statistics["rules"]:
            if rule["name"] != "fold_constants" and rule["tried"]:
                self._match(rule)
        self.rows += events.found
        fold = next(r for r in statistics["rules"] if r["name"] == "fold_constants")
        self.cleaned("constant_folding", fold["removed"])
        removed = sum(e["removed"] for e in events.found) + fold["removed"]
        added = sum(e["added"] for e in events.found)
        self.cleaned("remove_unused", statistics["nodes_before"] + added - removed - statistics["nodes_after"])
        self.iteration += statistics["sweeps"]
        return len(events.found)

    def _match(self, rule: dict[str, Any]) -> None:
        row = {
            "pattern": f"match_{self.name_of(rule['name'])}",
            "pattern_rule": rule["name"],
            "iteration": self.iteration,
            "match_index": self.applied,
            "instances": rule["matches"],
            "tried": rule["tried"],
            "time_in": rule["ms"] / 1000,
        }
        self.rows.append(row)
        if self.verbose and rule["matches"]:
            print(f"[pattern_optimizer.match] {rule['name']}: {rule['matches']} matches, {rule['applied']} rewrites")
        called = self.called.get(rule["name"])
        if max(self.verbose, called.verbose if called else 0) >= 10:
            print(f"[{self.name_of(rule['name'])}.match] rule {rule['name']}: asked {rule['tried']} times, {rule['matches']} matches")
            for reason, count in rule["refused"].items():
                print(f"[pattern_optimizer.match] {rule['name']}: refused {count} times: {reason}")

    def finish(self, nodes: int, seconds: float) -> None:
        self.rows.append(
            {"pattern": "optimize", "iteration": self.iteration, "instances": self.applied, "nodes": nodes, "time_in": seconds}
        )
