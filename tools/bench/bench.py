# SPDX-License-Identifier: Apache-2.0
"""Compares the speed of Tenon with other engines: real network shapes with random weights, in separate processes, alternately.

Without names: the table of bars. A case is a file, tools/bench/cases/NAME.toml. Each run is added to bench/results, and
docs/performance.md written anew from there; how it is measured stands in that page. Run it on a quiet machine, with nothing beside it.

The models are exported once into build/models by tools/models/make_models.py, which needs PyTorch: it goes into .venv-models (200 MB
where pip knows PyTorch's index of CPU wheels, else 3 GB). A case takes 2 to 4 minutes, one of them torch.compile's; the table takes
more than an hour. --vs leaves engines out.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shlex
import sys

import cases
import history
import page
import rows
from engines import PEERS, EngineError, Work, peers_of
from models import quantized_of
from turns import Budget, measure, with_inputs


def log(text: str) -> None:
    """Shows progress: on a terminal, one line that is rewritten."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def measure_case(case: cases.Case, peers: list[str], threads: int, budget: Budget) -> dict:
    def measured(inputs: object) -> dict:
        work = Work(quantized_of(case.family, case.quantized), case.family, inputs, case.inputs, threads, case.precision)
        return measure(peers_of(case.precision, peers), work, budget, lambda text: log(f"{case.name}: {text}"))

    try:
        return with_inputs(cases.arrays(case), measured)
    except EngineError as error:
        return {"error": str(error)}


def described(case: cases.Case, row: dict) -> str:
    """The summary of a row: the ratio to each other engine, the share of the machine's limits, failures."""
    if "error" in row:
        return f"{case.name}: Tenon fails: {row['error']}"
    bar = case.bar
    lines = [f"{case.name}: {row['median_ms']:.2f} ms, {100 * row['share']:.0f} % of the limit ({row['bound']})"]
    lines[0] += f" [{100 * bar['share']:.0f} %]" if "share" in bar else ""
    lines[0] += f"; against the best, {row['best']}: {page.ratio_text(row['vs'].get(row['best']), True)}" if row["best"] else ""
    lines[0] += f" [{bar['ratio']:g}]" if "ratio" in bar else ""
    if not row["counts"]:
        lines.append("  DOES NOT COUNT: half of the other engines or more give other results")
    for name, vs in row["vs"].items():
        rounds = f"{vs['kept']} of {vs['tried']} rounds{'' if vs['quiet'] else ', noisy'}"
        lines.append(f"  {name:18} {vs['median_ms']:9.2f} ms  {page.ratio_text(vs, True):26} {rounds}")
    lines += [f"  {name:18} differs by {row['largest_difference'][name]} standard deviations" for name in row["unlike"]]
    return "\n".join(lines + [f"  {name:18} fails: {why}" for name, why in row["failed"].items()])


def parsed(known: dict[str, cases.Case]) -> argparse.Namespace:
    names = [*known, *rows.NAMES]
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", nargs="*", metavar="NAME", help=f"any of {', '.join(names)} (default: the table)")
    parser.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--vs", action="append", choices=PEERS, help="may be given several times (default: all)")
    parser.add_argument("--part", action="append", choices=rows.PARTS, help="of partition; may be given several times (default: all)")
    parser.add_argument("--cold", action="store_true", help="evict the caches before each run")
    parser.add_argument("--rounds", type=int, default=15, help="number of quiet rounds to take (default: 15)")
    parser.add_argument("--seconds", type=float, default=90, help="time limit of a case, after which no round begins (default: 90)")
    parser.add_argument("--seed", type=int, default=1, help="of gemms and convs (default: 1)")
    parser.add_argument("--note", default="", help="remark for readers of the results, such as that the machine was shared")
    parser.add_argument("--no-history", action="store_true", help="leave bench/results and docs/performance.md as they are")
    parser.add_argument("--json", action="store_true", help="one object on stdout and nothing else")
    asked = parser.parse_args()
    if unknown := [name for name in asked.work if name not in names]:
        parser.error(f"no such work: {', '.join(unknown)}; there are {', '.join(names)}")
    asked.work = asked.work or [*known, *rows.TABLE]
    return asked


def keep(asked: argparse.Namespace, kept: dict[str, dict]) -> None:
    """Adds the run to the history as far as it has come, and writes the page."""
    command = shlex.join(["./dev", "bench", *(word for word in sys.argv[1:] if word not in ("--note", asked.note))])
    report = {"date": datetime.datetime.now(datetime.UTC).date().isoformat(), "command": command, "note": asked.note}
    run = {"machine": history.machine(), **report, "threads": asked.threads, "cold": asked.cold, "rows": kept}
    history.append(run, again=len(kept) > 1)
    page.PAGE.write_text(page.current(), encoding="utf-8")


def measured(name: str, asked: argparse.Namespace, known: dict[str, cases.Case]) -> tuple[dict, str]:
    """The row of a case or part, and its summary."""
    budget = Budget(asked.rounds, asked.seconds, asked.cold)
    if name in known:
        row = measure_case(known[name], asked.vs or list(PEERS), asked.threads, budget)
        return row, described(known[name], row)
    row = rows.measured(name, asked, budget, log)
    return row, rows.described(name, row)


def main() -> None:
    known = cases.all_cases()
    asked = parsed(known)
    results, kept = {}, {}
    for name in asked.work:
        results[name], said = measured(name, asked, known)
        if not asked.json:
            log("")
            print(said, flush=True)
        if not asked.no_history and (name in known or name in rows.RECORDED):
            kept[name] = results[name]
            keep(asked, kept)
    if asked.json:
        print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
