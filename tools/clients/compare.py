# SPDX-License-Identifier: Apache-2.0
"""Nodes that are left of the suite's models, and times of to_onnx, beside the original's in the same run."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import onnx
from models import transformer
from rich.console import Console
from rich.table import Table

WORKER = Path(__file__).with_name("worker.py")


def ask(what: str, side: str, checkout: Path, path: Path) -> list[Any]:
    command = [sys.executable, str(WORKER), what, side, str(checkout), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    if done.returncode or not lines:
        sys.exit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    return lines


def compare_counts(console: Console, checkout: Path, folder: Path, verbose: bool) -> None:
    """Models that the original optimises: as many nodes left, fewer, more."""
    report, found = (dict(ask("counts", side, checkout, folder)) for side in ("own", "tenon"))
    both = {name: (n, found[name]) for name, n in report.items() if isinstance(n, int)}
    refused = {name: m for name, (_, m) in both.items() if not isinstance(m, int)}
    sizes = [pair for name, pair in both.items() if name not in refused]
    more = {name: pair for name, pair in both.items() if name not in refused and pair[1] > pair[0]}
    table = Table(title="nodes left of the suite's models, default+onnxruntime")
    row = {
        "models": len(both),
        "as many": sum(a == b for a, b in sizes),
        "fewer": sum(b < a for a, b in sizes),
        "more": len(more),
        "refused": len(refused),
    }
    for column in row:
        table.add_column(column, justify="right")
    table.add_row(*map(str, row.values()))
    console.print(table)
    for name, pair in more.items() if verbose else ():
        console.print(f"more    {name}: {pair[0]} nodes, Tenon {pair[1]}", highlight=False)
    for name, why in refused.items() if verbose else ():
        console.print(f"refused {name}: {why}".split("\n")[0], markup=False, highlight=False)


def compare_speed(console: Console, checkout: Path, models: list[Path], repeats: int) -> None:
    """Medians of interleaved runs, each in its own process."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "transformer-4000.onnx")
        onnx.save(transformer(4000), made)
        table = Table(title=f"seconds of to_onnx, set default, median of {repeats} (least to most)")
        for column in ("model", "original", "its patterns on Tenon", "Tenon's rules"):
            table.add_column(column)
        for model in [*models, made]:
            runs = [{side: ask("speed", side, checkout, model)[0] for side in ("own", "b", "tenon")} for _ in range(repeats)]
            own = statistics.median(r["own"][0] for r in runs)
            cells = []
            for side in ("own", "b", "tenon"):
                times = [r[side][0] for r in runs]
                ratio = "" if side == "own" else f", {own / statistics.median(times):.1f}x"
                cells.append(f"{statistics.median(times):.3f} ({min(times):.3f} to {max(times):.3f}), {runs[0][side][1]} nodes{ratio}")
            table.add_row(model.name, *cells)
        console.print(table)
