# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md: of each kind of machine, the newest figures of each row of the table, from the history."""

from __future__ import annotations

import json
from pathlib import Path

import cases
import history

PAGE = Path(__file__).resolve().parents[2] / "docs" / "performance.md"
PEERS = {
    "onnxruntime": "ONNX Runtime",
    "openvino-dynamic": "OpenVINO, dynamic",
    "openvino-static": "OpenVINO, static",
    "torch-eager": "PyTorch, eager",
    "torch-compile": "PyTorch, compile",
}
HEAD = """\
# Performance

<!-- Written by ./dev docs from bench/results; run ./dev bench. -->
`./dev bench [NAME...]` measures Tenon and other engines on networks of real shapes with random weights, and adds the run to
`bench/results/KIND.jsonl`; this page shows the newest figures of each row. A figure is a ratio or a share measured in one run, never
milliseconds.

- **Ratio**: the other engine's time by Tenon's. Each engine is a process of its own, loaded once, stopped while others are measured,
  and measured alternately, in samples of at least 20 ms back to back; the ratio is the median over rounds of ratios within a round,
  with its 95 % bootstrap interval. The best engine is the one with the least median.
- **Share**: of the time that is needed at least: the operations of Tenon's kernels at the FMA peak, or each weight read once at the
  rate that memory gives, whichever takes longer; both are measured before and after each sample, on the same threads. Weights that all
  fit into the last cache are read from there. Products of bf16 and of int8 are counted at the peaks of their own instructions, all
  other operations of a run, and its attention, at that of f32; their times add up. Rows of bf16 and int8 that were measured before
  this was so show no share.
- A sample during which the peak moved by more than 5 % is taken again, twice at most. A round counts for a pair where the peaks around
  both samples differ by at most 5 % and none is below 80 % of the best one. Where fewer than five rounds are so quiet all of them count,
  and ratio and share have a `~`: the machine was not left alone.
- All compute in fp32 (forced), on the same threads and inputs. Results are compared first: an engine that answers otherwise than
  Tenon, by more than 0.002 standard deviations of an output, does not count; where half of them do, the row does not.
- OpenVINO with dynamic and with fixed shapes; PyTorch on the module that the model was exported from, eager and compiled with frozen
  weights. Tenon and ONNX Runtime are given the shapes.

A case is a file in `tools/bench/cases`: network, shapes, bars, and its precision where it is not fp32: bf16
is compared with engines that have it; a quantised network is the same file for all engines.
"""


def newest(runs: list[dict]) -> dict[tuple, dict[str, tuple[dict, dict]]]:
    """By kind of machine, threads and regime: the newest run of each row, and the row."""
    out: dict[tuple, dict[str, tuple[dict, dict]]] = {}
    for run in runs:
        key = (json.dumps(run["machine"], sort_keys=True), run["threads"], run["cold"])
        for name, row in run["rows"].items():
            out.setdefault(key, {})[name] = (run, row)
    return out


def ratio_text(vs: dict | None, interval: bool = False) -> str:
    if not vs:
        return ""
    noise = "" if vs["quiet"] else "~"
    return f"{noise}{vs['ratio']:.2f}" + (f" ({vs['low']:.2f} to {vs['high']:.2f})" if interval else "")


def why_not(row: dict, name: str) -> str:
    """An engine's cell where it has no ratio."""
    if name in row.get("failed", {}):
        return "fails"
    return "differs" if name in row.get("unlike", []) else ""


def has_share(case: cases.Case, row: dict) -> bool:
    """Whether the operations were counted: not in f32 without a bar (loops), nor in older rows of short products."""
    return "products" in row if case.precision != "f32" else "share" in case.bar


def line_of(case: cases.Case, run: dict, row: dict) -> str:
    bar = case.bar
    ratio_bar, share_bar = (f"{bar['ratio']:g}" if "ratio" in bar else ""), (f"{100 * bar['share']:.0f} %" if "share" in bar else "")
    if "error" in row:
        cells = [case.title, "Tenon fails", ratio_bar, "", share_bar, *[""] * len(PEERS), run["date"]]
        return "| " + " | ".join(cells) + " |"
    best = row["vs"].get(row["best"])
    shown = ratio_text(best, True) if row["counts"] else f"results differ, does not count: {ratio_text(best)}"
    peers = [ratio_text(row["vs"].get(name)) or why_not(row, name) for name in PEERS]
    noise = "" if best is None or best["quiet"] else "~"
    share = f"{noise}{100 * row['share']:.0f} %" if has_share(case, row) else ""
    return "| " + " | ".join([case.title, shown, ratio_bar, share, share_bar, *peers, run["date"]]) + " |"


def table(rows: dict[str, tuple[dict, dict]], known: dict[str, cases.Case]) -> list[str]:
    names = ["work", "against the best", "bar", "share", "bar", *PEERS.values(), "date"]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return lines + [line_of(case, *rows[name]) for name, case in known.items() if name in rows]


def faults(rows: dict[str, tuple[dict, dict]], known: dict[str, cases.Case]) -> list[str]:
    """Text about engines that failed or have other results."""
    out = []
    for name, case in known.items():
        _, row = rows.get(name, ({}, {}))
        if "error" in row:
            out.append(f"- {case.title}: Tenon: {row['error']}")
        out += [f"- {case.title}: {PEERS.get(peer, peer)}: {why[:200]}" for peer, why in row.get("failed", {}).items()]
        for peer in row.get("unlike", []):
            out.append(f"- {case.title}: {PEERS.get(peer, peer)} differs by {row['largest_difference'][peer]} standard deviations")
    return ["", "What did not run, or answered otherwise:", "", *out] if out else []


def other_lines(rows: dict[str, tuple[dict, dict]], known: dict[str, cases.Case]) -> list[str]:
    """Table lines of rows without a case: name, result, bar."""
    out = []
    for name, (run, row) in rows.items():
        if name not in known:
            out += [f"| {each['what']} | {each['figure']} | {each['to_be']} | {run['date']} |" for each in row.get("rows", [])]
    return ["", "| what | figure | to be | date |", "|---|---|---|---|", *out] if out else []


def section(key: tuple, rows: dict[str, tuple[dict, dict]], known: dict[str, cases.Case]) -> list[str]:
    kind, threads, cold = json.loads(key[0]), key[1], key[2]
    head = f"## {kind['cpu']} ({kind['family']}), {kind['cores']} cores, {', '.join(kind['features'])}; {threads} threads"
    out = ["", head + (", caches evicted before each run" if cold else ""), ""]
    taken = list({id(run): run for run, _ in rows.values()}.values())
    out += [f"`{run['command']}`, {run['date']}{': ' + run['note'] if run['note'] else ''}  " for run in taken]
    versions = sorted(
        {f"{PEERS[name]} {vs['version']}" for _, row in rows.values() for name, vs in row.get("vs", {}).items() if name in PEERS}
    )
    out += ["", f"Engines: {'; '.join(versions)}.", ""] if versions else [""]
    if any(name in known for name in rows):
        out += table(rows, known) + faults(rows, known)
    return out + other_lines(rows, known)


def text(runs: list[dict], known: dict[str, cases.Case]) -> str:
    lines = [HEAD.rstrip("\n")]
    for key, rows in newest(runs).items():
        lines += section(key, rows, known)
    return "\n".join(lines) + "\n"


def current() -> str:
    return text(history.runs(), cases.all_cases())
