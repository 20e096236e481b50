# SPDX-License-Identifier: Apache-2.0
"""How the demo reaches an engine: through a worker process, or, where the Python package is not built, through the command line."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
Feeds = dict[str, np.ndarray]


class Failed(Exception):
    """A step did not work; the text is for the user."""


def tenon(*arguments: str | Path) -> dict:
    """Runs one verb of the command line and gives its JSON object."""
    command = [str(TENON), *map(str, arguments), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"tenon {arguments[0]}: {reason_of(done)}")
    return json.loads(done.stdout)


def reason_of(done: subprocess.CompletedProcess[str]) -> str:
    """What went wrong, in one line where the program says it as JSON."""
    try:
        error = json.loads(done.stdout)["error"]
        return "; ".join(error[part] for part in ("place", "what", "advice") if error.get(part))
    except (ValueError, KeyError):
        return f"exit code {done.returncode} {(done.stderr or done.stdout).strip()}"


def save_batches(path: Path, batches: list[Feeds]) -> None:
    arrays = {}
    for k, feeds in enumerate(batches):
        arrays |= {f"ids_{k}": feeds["input_ids"], f"mask_{k}": feeds["attention_mask"]}
    np.savez(path, **arrays)


class Worker:
    """demo_worker.py in its own process. It is stopped (SIGSTOP) between commands, so that its threads take no time from others."""

    def __init__(self, python: Path, kind: str, model: Path, batches: Path, threads: int, environment: dict[str, str] | None = None):
        self.kind = kind
        command = [python, ROOT / "examples/demo/demo_worker.py", kind, model, batches, str(threads)]
        self.process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        atexit.register(self.process.kill)
        self.ready_ms = self._answer()["ready_ms"]

    def _answer(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"the {self.kind} worker ended: {self.process.stderr.read().strip()[-2000:]}")
        return json.loads(line)

    def ask(self, command: str) -> dict:
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self._answer()
        self.process.send_signal(signal.SIGSTOP)
        return answer

    def run(self, batch: int) -> float:
        """Runs the batch, keeps its embeddings, gives the milliseconds."""
        return self.ask(f"run {batch}")["ms"]

    compute = run

    def embeddings(self, path: Path) -> np.ndarray:
        self.ask(f"save {path}")
        return np.load(path)

    def close(self) -> None:
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait(timeout=20)


class CommandLine:
    """`tenon run` and `tenon bench`, a process each: the same answers, and times that are measured inside `tenon bench`."""

    def __init__(self, engine: Path, batches: list[Feeds], folder: Path, threads: int):
        self.engine, self.batches, self.folder = engine, batches, folder
        self.results: dict[int, np.ndarray] = {}
        self.ready_ms = 0.0
        self.times: dict[tuple[int, ...], float] = {}
        self.briefly = ["--threads", str(threads), "--runs", "10", "--seconds", "1"]

    def compute(self, batch: int) -> float:
        """Runs the batch, keeps its embeddings, gives the milliseconds of the whole process: start and loading too."""
        options: list[str | Path] = []
        for name, array in self.batches[batch].items():
            np.save(self.folder / f"{name}.npy", array)
            options += ["--input", f"{name}={self.folder / name}.npy"]
        out = self.folder / "out.npz"
        start = time.perf_counter()
        tenon("run", self.engine, *options, "--output", out)
        took = time.perf_counter() - start
        with np.load(out) as stored:
            self.results[batch] = stored["sentence_embedding"]
        return took * 1e3

    def run(self, batch: int) -> float:
        """The milliseconds that `tenon bench` measures for a batch of this shape."""
        if batch not in self.results:
            self.compute(batch)
        shape = self.batches[batch]["input_ids"].shape
        if shape not in self.times:
            sizes = "x".join(map(str, shape))
            shapes = [f"--shape={name}={sizes}" for name in self.batches[batch]]
            self.times[shape] = tenon("bench", self.engine, *shapes, *self.briefly)["median_ms"]
        return self.times[shape]

    def embeddings(self, path: Path) -> np.ndarray:
        return np.concatenate([self.results[k] for k in sorted(self.results)])

    def close(self) -> None:
        pass


def has_package(python: Path, environment: dict[str, str]) -> bool:
    probe = subprocess.run([str(python), "-c", "import tenon; tenon.load"], capture_output=True, env={**os.environ, **environment})
    return probe.returncode == 0
