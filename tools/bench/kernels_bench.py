# SPDX-License-Identifier: Apache-2.0
"""`./dev bench kernels`, `gemms`, `convs`: each register tile alone, and single ops of random sizes compared with other engines."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import single_ops
import turns
from engines import EngineError, Work

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
from environment import ROOT, run  # noqa: E402

WAYS = {
    "hot": "hot",
    "hot_prefetch": "hot, prefetching",
    "hot_k_major": "hot, A k-major",
    "cold": "cold",
}
BARS = {"hot": 0.97, "cold": 0.85}  # of the FMA peak; of peak or memory
PEERS = ["openvino-static", "torch-eager", "torch-compile"]  # all of them call oneDNN
LEAST_RATIO, MEDIAN_RATIO, MEDIAN_SHARE = 0.95, 1.08, 0.92


def tile_row(report: dict) -> dict:
    """A line of output of bench_microkernel as a row of a table."""
    shares = [f"{title} {100 * report[way]['share']:.1f} %{'' if report[way]['quiet'] else ' (noisy)'}" for way, title in WAYS.items()]
    return {"what": f"{report['target']} {report['rows']}x{report['vectors']}", "figure": ", ".join(shares), "to_be": ""}


def kernels(threads: int) -> dict:
    """Each tile that the target has registers for; see bench/microkernel.cpp."""
    run(["ninja", "-C", ROOT / "build", "bench_microkernel"])
    program = [ROOT / "build" / "bin" / "bench_microkernel", str(threads)]
    tiles = []
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            tiles.append(json.loads(line))
            print(f"\r\033[K{tile_row(tiles[-1])['what']}", end="", file=sys.stderr, flush=True) if sys.stderr.isatty() else None
    if process.returncode != 0:
        sys.exit("bench_microkernel failed")
    return {"tiles": tiles, "rows": [*map(tile_row, tiles), *summaries_of_tiles(tiles)]}


def summaries_of_tiles(tiles: list[dict]) -> list[dict]:
    def those(way: str, reach: bool) -> list[str]:
        return [f"{each['rows']}x{each['vectors']}" for each in tiles if (each[way]["share"] >= BARS[way]) == reach]

    hot, slow = those("hot", True), those("cold", False)
    said = {
        "hot": f"{len(hot)} of {len(tiles)} reach {100 * BARS['hot']:.0f} % of the peak: {' '.join(hot)}",
        "cold": f"{len(tiles) - len(slow)} of {len(tiles)} reach {100 * BARS['cold']:.0f} % of what peak or memory allow"
        + (f"; not {' '.join(slow)}" if slow else ""),
    }
    return [{"what": f"tiles, {way}", "figure": figure, "to_be": "each that a tactic takes"} for way, figure in said.items()]


def measured(op: single_ops.Op, threads: int, budget: turns.Budget, log: Callable[[str], None]) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        model, inputs = Path(folder) / "op.onnx", Path(folder) / "inputs.npz"
        single_ops.write(op, model)
        np.savez(inputs, x=np.random.default_rng(2).standard_normal(op.input, np.float32))
        return turns.measure(PEERS, Work(model, str(model), inputs, {"x": op.input}, threads), budget, log)


def op_row(op: single_ops.Op, row: dict) -> dict:
    if "error" in row:
        return {"what": op.title, "figure": f"Tenon fails: {row['error']}", "to_be": f"{LEAST_RATIO} times as fast"}
    best = row["vs"].get(row["best"])
    said = (
        f"{'' if best['quiet'] else '~'}{best['ratio']:.2f} ({best['low']:.2f} to {best['high']:.2f}) against {row['best']}"
        if best
        else "alone"
    )
    said += "" if row["counts"] else ", results differ: does not count"
    return {"what": op.title, "figure": f"{said}; {100 * row['share']:.0f} % of the limit", "to_be": f"{LEAST_RATIO} times as fast"}


def summary(what: str, found: list[dict]) -> dict:
    """The least and the median ratio of the rows that count."""
    counted = [row for row in found if "error" not in row and row["counts"] and row["best"]]
    ratios = [row["vs"][row["best"]]["ratio"] for row in counted]
    said = f"{len(counted)} of {len(found)} count"
    if counted:
        share = statistics.median(row["share"] for row in counted)
        said += f": least {min(ratios):.2f}, median {statistics.median(ratios):.2f}, median share {100 * share:.0f} %"
    return {"what": what, "figure": said, "to_be": f"{LEAST_RATIO}; {MEDIAN_RATIO}; {100 * MEDIAN_SHARE:.0f} %"}


def random_ops(what: str, seed: int, threads: int, budget: turns.Budget, log: Callable[[str], None]) -> dict:
    """Ten random ops, compared with engines that call oneDNN."""
    drawn, found = single_ops.ops(what, seed), []
    for op in drawn:
        try:
            found.append(measured(op, threads, budget, lambda text, op=op: log(f"{op.title}: {text}")))
        except EngineError as error:
            found.append({"error": str(error)})
    rows = [op_row(op, row) for op, row in zip(drawn, found)]
    return {"seed": seed, "ops": found, "rows": [*rows, summary(f"ten {what}, seed {seed}", found)]}
