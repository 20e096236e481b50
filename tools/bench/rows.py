# SPDX-License-Identifier: Apache-2.0
"""Rows of `./dev bench` that are no run of a network: building, starting, rewriting, plans over backends, plugins."""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
import kernels_bench  # noqa: E402
import llm_bench  # noqa: E402
import partition_bench  # noqa: E402
import plugins_bench  # noqa: E402
from environment import ROOT, TENON, models_python, run  # noqa: E402
from models import MODELS, engine_of, model_of  # noqa: E402
from process_bench import figure, measure_contexts, measure_idle, measure_memory  # noqa: E402
from turns import Budget  # noqa: E402

ALL_SETS = "tenon+default+onnxruntime+canonical"
PARTS = ("random", "layers", "pieces", "tiny", "torch", "networks")


def taken_ms(times: int, work: Callable[[], object]) -> list[float]:
    """Wall times of the whole process."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append((time.perf_counter() - start) * 1e3)
    return taken


def measure_build(times: int = 5) -> dict:
    """Compiling BERT-base into an engine file."""
    model_of("bert")
    taken = taken_ms(times, lambda: engine_of("bert"))
    median = statistics.median(taken)
    return {"median_ms": median, "all_ms": taken, "rows": [figure("build BERT-base", f"{median / 1e3:.2f} s", "at most 0.5 s")]}


def measure_start(times: int = 9) -> dict:
    """From process start to the end of the first run, engine in the page cache."""
    engine = engine_of("bert")
    taken = taken_ms(times + 1, lambda: run([TENON, "run", engine, "--shape", "input_ids=1x14", "--quiet"]))[1:]
    median = statistics.median(taken)
    row = figure("process start to first result from the engine, BERT-base, 14 tokens", f"{median:.1f} ms", "at most 30 ms")
    return {"median_ms": median, "all_ms": taken, "rows": [row]}


def peers_python() -> Path:
    """Where ONNX Runtime is: what `./dev demo` has installed."""
    python = ROOT / ".venv-peers" / "bin" / "python"
    if not python.exists():
        sys.exit("bench rewrite shows ONNX Runtime's optimiser beside Tenon's: run ./dev demo first, which installs it")
    return python


def measure_rewrite() -> dict:
    """All rewriting passes on made-up graphs of 10,000 to 100,000 nodes (bench/rewrite.cpp) with every rule set; the median: model M of
    16,001. Beside it ONNX Runtime's optimiser on the same model, and what 1,000 rules cost that nearly match, against 100."""
    program = ROOT / "build" / "bin" / "bench_rewrite"
    run(["ninja", "-C", ROOT / "build", "bench_rewrite"])
    sizes = json.loads(run([program, "--json", "--rules", ALL_SETS]).stdout)
    scaling = json.loads(run([program, "--json", "--scaling"]).stdout)
    model = MODELS / "model_m.onnx"
    MODELS.mkdir(parents=True, exist_ok=True)
    run([program, "--write", model, "--nodes", "16001"])
    other = json.loads(run([peers_python(), ROOT / "tools" / "bench" / "ort_optimiser.py", model]).stdout)
    median = next(s["median_ms"] for s in sizes if (s["model"], s["nodes"]) == ("M", 16001))
    return {"median_ms": median, "sizes": sizes, "scaling": scaling, "onnxruntime": other}


def measure_llama() -> dict:
    """A graph in the shape of LLaMA-7B, weights by reference: from the file to the rewritten graph."""
    folder = MODELS / "llama7b"
    if not (folder / "llama7b.onnx").exists():
        run([models_python(), ROOT / "tools" / "models" / "make_large_model.py", folder])
    taken = [json.loads(run([TENON, "rewrite", folder / "llama7b.onnx", "--rules", "tenon", "--json"]).stdout) for _ in range(5)]
    return {"median_ms": sorted(t["read_ms"] + t["passes_ms"] for t in taken)[2], "runs": taken}


def measure_partition(threads: int, parts: list[str]) -> dict:
    """Plans over several backends: see partition_bench.py."""
    keys = ("what", "figure", "to_be")
    return {"rows": [dict(zip(keys, row)) for row in partition_bench.rows(threads, model_of, parts)]}


def measure_plugins() -> dict:
    """What plugins cost beside what they compute: see plugins_bench.py."""
    keys = ("what", "figure", "to_be")
    return {"rows": [dict(zip(keys, row)) for row in plugins_bench.rows()]}


def described(name: str, result: dict) -> str:
    """One line of the table, or one a size."""
    if "rows" in result:
        return "\n".join(f"{row['what']}: {row['figure']}" + (f" [{row['to_be']}]" if row["to_be"] else "") for row in result["rows"])
    if "sizes" not in result:
        return f"{name:12} {result['median_ms']:9.1f} ms"
    row = "{:12} {model} {nodes:7} nodes {median_ms:9.1f} ms, {rewrite_ms:.1f} of them rules {us_per_node:7.2f} us each"
    lines = [row.format(name, **size) for size in result["sizes"]]
    lines += ["{:12} {rules:5} rules that nearly match {median_ms:6.2f} ms {ratio:5.2f} times".format(name, **s) for s in result["scaling"]]
    other = result["onnxruntime"]
    return "\n".join([*lines, f"{name:12} ONNX Runtime {other['version']}'s optimiser on M, 16001 nodes: {other['optimiser_ms']:.0f} ms"])


# By name; those of the table of bars, which the history keeps; those that take minutes of their own.
TABLE = {
    "build": lambda threads: measure_build(),
    "start": lambda threads: measure_start(),
    "memory": measure_memory,
    "idle": measure_idle,
    "contexts": measure_contexts,
}
APART = {"rewrite": measure_rewrite, "llama7b": measure_llama, "plugins": measure_plugins}
DRAWN = ("gemms", "convs")
NAMES = (*TABLE, *APART, *DRAWN, "kernels", "partition", "llm")
RECORDED = (*TABLE, *DRAWN, "llm")


def measured(name: str, asked: argparse.Namespace, budget: Budget, log: Callable[[str], None]) -> dict:
    if name in DRAWN:
        return kernels_bench.random_ops(name, asked.seed, asked.threads, budget, log)
    if name == "kernels":
        return kernels_bench.kernels(asked.threads)
    if name == "llm":
        return llm_bench.measured(asked.threads, budget)
    if name == "partition":
        return measure_partition(asked.threads, asked.part or [])
    return TABLE[name](asked.threads) if name in TABLE else APART[name]()
