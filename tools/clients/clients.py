# SPDX-License-Identifier: Apache-2.0
"""Runs the test suite of yet-another-onnx-builder's pattern optimizer on tenon.pattern_optimizer: `./dev clients --yobx DIR`.

DIR is a checkout of https://github.com/xadupre/yet-another-onnx-builder (commit 92a4a630 is the one whose figures docs/pattern-optimizer.md
tells). Nothing is fetched. Run `own` is the original on itself, `a` takes names of catalogue patterns for Tenon's rules, `b` runs the
original's own pattern classes, their source untouched, on Tenon's base classes and GraphBuilder.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from compare import compare_counts, compare_speed
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
Rows = dict[str, dict[str, Any]]


def run_file(run: str, checkout: Path, file: Path, part: str) -> list[dict[str, Any]]:
    command = [sys.executable, str(HERE / "suite.py"), run, str(checkout), str(file), part]
    with tempfile.TemporaryDirectory() as folder:  # some tests write files where they stand
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode:
        rows.append(
            {"test": f"{file.stem}.ends", "skipped": "", "fault": f"the process ended with {done.returncode}", "trace": done.stderr[-4000:]}
        )
    return [{"differences": [], "counts": [], **row, "file": file.stem} for row in rows]


def run_suite(run: str, checkout: Path, part: str, files: str = "") -> Rows:
    """Every test of the suite, in a process a file."""
    chosen = sorted(checkout.glob("unittests/xoptim/test_*.py"), key=lambda f: -f.stat().st_size)
    chosen = [f for f in chosen if files in f.stem]
    if not chosen:
        name = f"test_*{files}*.py" if files else "test_*.py"
        sys.exit(f"no file unittests/xoptim/{name} in {checkout}: expected a checkout of yet-another-onnx-builder")
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = pool.map(lambda file: run_file(run, checkout, file, part), chosen)
    return {f"{row['file']}.{row['test']}": row for rows in found for row in rows}


def verdict(row: dict[str, Any], own: dict[str, Any] | None) -> str:
    """passed; fewer: other nodes than the test lists, and no more than the original leaves; more; failed; skipped."""
    if row["fault"]:
        return "failed"
    if row["skipped"]:
        return "skipped"
    if not row["differences"]:
        return "passed"
    reported = own["counts"] if own else []
    no_more = len(reported) == len(row["counts"]) and all(a <= b for a, b in zip(row["counts"], reported, strict=True))
    return "fewer" if no_more else "more"


def report(console: Console, results: dict[str, Rows], verbose: bool) -> None:
    table = Table(title="tests of the original's suite")
    for column in ("run", "passed", "other nodes, no more", "more nodes", "failed", "skipped", "passed together"):
        table.add_column(column, justify="left" if column == "run" else "right")
    own = results.get("own", {})
    for run, rows in results.items():
        verdicts = {name: verdict(row, own.get(name)) for name, row in rows.items()}
        n = Counter(verdicts.values())
        table.add_row(run, *(str(n[v]) for v in ("passed", "fewer", "more", "failed", "skipped")), str(n["passed"] + n["fewer"]))
        if verbose:
            for name, found in sorted(verdicts.items()):
                if found in ("failed", "more"):
                    why = rows[name]["fault"].split("\n")[0] or f"{rows[name]['differences'][0]} {rows[name]['counts']}"
                    console.print(f"{run} {found:7} {name}: {why[:200]}", markup=False, highlight=False, soft_wrap=True)
    console.print(table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="./dev clients", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--yobx", type=Path, required=True, metavar="DIR", help="a checkout of yet-another-onnx-builder")
    parser.add_argument("--run", action="append", choices=["own", "a", "b"], help="which runs; all unless told")
    parser.add_argument("--test", default="", metavar="TEXT", help="only tests with this in their names")
    parser.add_argument("--file", default="", metavar="TEXT", help="only files with this in their names")
    parser.add_argument("--json", type=Path, metavar="FILE", help="read earlier results here, and write all there")
    parser.add_argument("--verbose", action="store_true", help="every test that does not pass, with the reason")
    parser.add_argument("--counts", action="store_true", help="instead of the tests: nodes that are left of the models that they hand in")
    parser.add_argument(
        "--speed", nargs="*", type=Path, metavar="MODEL", help="instead of the tests: time to_onnx, on these models and a made one"
    )
    parser.add_argument("--repeats", type=int, default=3, metavar="N", help="of each timing (3)")
    parser.add_argument("--torch", action="store_true", help="install torch as well: a dozen tests export from it")
    given = parser.parse_args()
    console = Console(width=150)
    if given.torch:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "-r", ROOT / "tools" / "requirements-torch.txt"], check=True)
    if given.speed is not None:
        return compare_speed(console, given.yobx.resolve(), given.speed, given.repeats)
    if given.counts:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["TENON_MODELS"] = folder
            run_suite("own", given.yobx.resolve(), given.test, given.file)
            return compare_counts(console, given.yobx.resolve(), Path(folder), given.verbose)
    results: dict[str, Rows] = json.loads(given.json.read_text()) if given.json and given.json.exists() else {}
    for run in given.run or ["own", "a", "b"]:
        earlier = results.get(run, {}) if given.test or given.file else {}
        results[run] = {**earlier, **run_suite(run, given.yobx.resolve(), given.test, given.file)}
    if given.json:
        given.json.write_text(json.dumps(results))
    report(console, results, given.verbose)


if __name__ == "__main__":
    main()
