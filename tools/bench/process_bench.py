# SPDX-License-Identifier: Apache-2.0
"""`./dev bench memory`, `idle`, `contexts`: what a process that runs a network holds, what it takes between runs, several runs at once."""

from __future__ import annotations

import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cases
import figures
import numpy as np
from engines import HERE, TENON_NAME, Engine, Work
from models import engine_of, model_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
from environment import ROOT, run  # noqa: E402

MEMORY_CASE, IDLE_CASE, CONTEXTS_CASE = "bert-14", "minilm-128", "minilm-128"
ALLOWED_MB = {"its engine": 15, "ONNX": 60}  # over the weights in use
IDLE_SECONDS, IDLE_TIMES = 0.2, 9
CONTEXTS, TURNS, TURN_SECONDS = (1, 2, 4), 9, 1.0


def figure(what: str, said: str, to_be: str = "") -> dict:
    return {"what": what, "figure": said, "to_be": to_be}


def serving(model: Path, case: cases.Case, folder: str, threads: int) -> Engine:
    inputs = Path(folder) / "inputs.npz"
    np.savez(inputs, **cases.arrays(case))
    return Engine(TENON_NAME, Work(model, case.family, inputs, case.inputs, threads))


def resident_mb(process: int) -> float:
    """VmRSS: pages of files that are mapped and touched count too."""
    report = Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmRSS:\s*(\d+) kB", report).group(1)) * 1024 / 1e6


def measure_memory(threads: int) -> dict:
    """What is resident after some runs, loaded from an engine file and compiled in the process from ONNX."""
    case, rows = cases.all_cases()[MEMORY_CASE], []
    for source, model in (("its engine", engine_of(case.family)), ("ONNX", model_of(case.family))):
        with tempfile.TemporaryDirectory() as folder:
            engine = serving(model, case, folder, threads)
            try:
                engine.times_ms(3)
                resident, weights = resident_mb(engine.process.pid), engine.numbers("work")[-1] / 1e6
            finally:
                engine.end()
        said = f"{resident:.0f} MB: weights in use ({weights:.0f}) + {resident - weights:.0f}"
        rows.append(figure(f"resident memory, {case.title}, from {source}", said, f"at most + {ALLOWED_MB[source]}"))
    return {"rows": rows}


def cpu_seconds(process: int) -> float:
    """What all of its threads have run."""
    tasks = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(path.read_text().split()[0]) for path in tasks) / 1e9


def idle_seconds(engine: Engine) -> float:
    """CPU time that the process takes from 1 ms after a run on."""
    engine.process.send_signal(signal.SIGCONT)
    engine.process.stdin.write(b"run 3\n")
    engine.process.stdin.flush()
    engine.answer("times")
    time.sleep(1e-3)
    before = cpu_seconds(engine.process.pid)
    time.sleep(IDLE_SECONDS)
    return cpu_seconds(engine.process.pid) - before


def measure_idle(threads: int) -> dict:
    case = cases.all_cases()[IDLE_CASE]
    with tempfile.TemporaryDirectory() as folder:
        engine = serving(model_of(case.family), case, folder, threads)
        try:
            taken = [idle_seconds(engine) for _ in range(IDLE_TIMES)]
        finally:
            engine.end()
    said = f"{1e6 * statistics.median(taken):.0f} us in {1e3 * IDLE_SECONDS:.0f} ms (the most of {len(taken)}: {1e6 * max(taken):.0f})"
    return {"seconds": taken, "rows": [figure("CPU time from 1 ms after a run on", said, "0")]}


def python_of_tenon() -> Path:
    """The project's Python, with the package tenon built."""
    run(["ninja", "-C", ROOT / "build", "tenon_python"])
    return ROOT / ".venv" / "bin" / "python"


def measure_contexts(threads: int) -> dict:
    """Runs a second of so many callers in one process, each as fast as it can, by turns (contexts_worker.py)."""
    case = cases.all_cases()[CONTEXTS_CASE]
    engine = engine_of(case.family)
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs.npz"
        np.savez(inputs, **cases.arrays(case))
        command = [python_of_tenon(), HERE / "contexts_worker.py", engine, inputs, threads, TURNS, TURN_SECONDS, *CONTEXTS]
        environment = os.environ | {"PYTHONPATH": str(ROOT / "build" / "python")}
        done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    turns = [[float(each) for each in line.split()] for line in done.stdout.splitlines()]
    rows = []
    for k, contexts in enumerate(CONTEXTS[1:], 1):
        ratios = [turn[k] / turn[0] for turn in turns]
        low, high = figures.interval(ratios)
        said = f"{statistics.median(ratios):.2f} ({low:.2f} to {high:.2f}) times that of one"
        rows.append(figure(f"throughput of {contexts} contexts of {threads} threads, {case.title}", said, "never below 1"))
    return {"turns": turns, "rows": rows}
