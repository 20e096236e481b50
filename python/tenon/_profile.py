# SPDX-License-Identifier: Apache-2.0
"""Times of the steps of runs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from statistics import median
from typing import NamedTuple


class StepTime(NamedTuple):
    """One step of one run. Times are in seconds."""

    label: str
    """The ops that it computes."""
    backend: str
    start: float
    """Since the run began."""
    duration: float


class Profile:
    """Collects the times of steps: ``engine.run(inputs, profile=profile)``, any number of times, also of several engines."""

    def __init__(self) -> None:
        self.runs: list[list[StepTime]] = []
        """The steps of each run, in order."""

    def _add(self, steps: Sequence[tuple[str, str, float, float]]) -> None:
        self.runs.append([StepTime(*step) for step in steps])

    def totals(self) -> list[tuple[str, str, float]]:
        """(label, backend, seconds), longest first: what all steps of a label take in one run, as the median over the runs that have it."""
        times: dict[tuple[str, str], list[float]] = {}
        for run in self.runs:
            sums: dict[tuple[str, str], float] = {}
            for step in run:
                sums[step.label, step.backend] = sums.get((step.label, step.backend), 0.0) + step.duration
            for key, seconds in sums.items():
                times.setdefault(key, []).append(seconds)
        return sorted(((label, backend, median(t)) for (label, backend), t in times.items()), key=lambda row: -row[2])

    def save_trace(self, path: str | PathLike[str]) -> None:
        """Writes the runs one after the other as a trace for chrome://tracing or ui.perfetto.dev."""
        events, begin = [], 0.0
        for number, run in enumerate(self.runs):
            for step in run:
                at, length = (begin + step.start) * 1e6, step.duration * 1e6
                common = {"ph": "X", "ts": at, "dur": length, "pid": 1, "tid": 1, "args": {"run": number}}
                events.append({"name": step.label, "cat": step.backend, **common})
            begin += max((step.start + step.duration for step in run), default=0.0)
        Path(path).write_text(json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}), encoding="utf-8")

    def __str__(self) -> str:
        rows = self.totals()
        whole = sum(seconds for _, _, seconds in rows) or 1.0
        lines = [f"{'ms':>10} {'share':>6}  {'backend':12} steps ({len(self.runs)} runs, medians)"]
        lines += [f"{s * 1e3:10.3f} {s / whole:6.1%}  {backend:12} {label}" for label, backend, s in rows]
        return "\n".join(lines)


Profile.__module__ = StepTime.__module__ = __package__  # where they are found
