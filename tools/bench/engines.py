# SPDX-License-Identifier: Apache-2.0
"""Inference engines in child processes, which are stopped while others are measured, and print a line for each command."""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
from environment import ROOT, TENON, models_python  # noqa: E402

HERE = Path(__file__).resolve().parent
PEERS_PYTHON = ROOT / ".venv-peers" / "bin" / "python"
TENON_NAME = "tenon"
TENON_F32 = "tenon-f32"  # for comparison where Tenon runs in another precision
PEERS = ("onnxruntime", "openvino-dynamic", "openvino-static", "torch-eager", "torch-compile")
QUANTIZED_PEERS = ("onnxruntime", "openvino-dynamic", "openvino-static")  # PyTorch modules do not run quantized ONNX files
ANSWER_SECONDS = 600
DIE_WITH_PARENT = 1  # prctl's PR_SET_PDEATHSIG


class EngineError(Exception):
    """An engine that cannot run this model, or ended."""

    def __init__(self, engine: str, why: str) -> None:
        super().__init__(why)
        self.engine = engine


@dataclass
class Work:
    """The model and the inputs that all engines run."""

    model: Path
    family: str  # for PyTorch, the network that the model was exported from; a model of one op: its path
    inputs: Path
    shapes: dict[str, list[int]]
    threads: int
    precision: str = "f32"


def peers_of(precision: str, peers: list[str]) -> list[str]:
    """The peers that support the precision; for bf16 also Tenon in f32. (ONNX Runtime has no bf16 products on CPUs.)"""
    if precision == "bf16":
        return [*(name for name in peers if name.startswith("openvino")), TENON_F32]
    return [name for name in peers if precision != "int8" or name in QUANTIZED_PEERS]


def command_of(name: str, work: Work) -> list[str]:
    threads = ["--threads", str(work.threads)]
    precision = [] if work.precision != "bf16" or name == TENON_F32 else ["--precision", work.precision]
    if name in (TENON_NAME, TENON_F32):
        shapes = [word for key, sizes in work.shapes.items() for word in ("--shape", f"{key}={'x'.join(map(str, sizes))}")]
        return [str(TENON), "bench", str(work.model), *shapes, "--input", str(work.inputs), *threads, *precision, "--serve"]
    script = str(HERE / "peer_bench.py")
    if name.startswith("torch-"):
        return [str(models_python()), script, name, work.family, str(work.inputs), *threads]
    fixed = [] if name == "openvino-dynamic" else ["--fixed-shapes"]
    return [str(PEERS_PYTHON), script, name.partition("-")[0], str(work.model), str(work.inputs), *threads, *fixed, *precision]


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)


class Engine:
    """A process that has loaded a model and has run it once. It is stopped except while it executes a command."""

    def __init__(self, name: str, work: Work) -> None:
        self.name = name
        self.errors = tempfile.TemporaryFile()
        # One thread compiles, so that no other process is left to run beside those that are measured.
        environment = os.environ | {"TORCHINDUCTOR_COMPILE_THREADS": "1", "OMP_NUM_THREADS": str(work.threads)}
        self.process = subprocess.Popen(
            command_of(name, work),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
            preexec_fn=die_with_parent,
        )
        self.read = b""
        try:
            load, first, self.version = self.answer("ready").split(" ", 2)
        except BaseException:
            self.end()
            raise
        self.load_ms, self.first_ms = float(load), float(first)
        self.stop()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGSTOP)

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        with contextlib.suppress(BrokenPipeError):  # what was not read yet
            self.process.stdin.close()

    def failure(self, what: str) -> EngineError:
        self.errors.seek(0)
        report = self.errors.read().decode(errors="replace").strip().splitlines()
        return EngineError(self.name, f"{what}: {' '.join(report[-4:])[-400:]}" if report else what)

    def line(self) -> str:
        """The next line that the process writes."""
        end = time.monotonic() + ANSWER_SECONDS
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            while b"\n" not in self.read:
                if not ready.select(max(0.0, end - time.monotonic())):
                    raise self.failure(f"no answer in {ANSWER_SECONDS} s")
                more = os.read(self.process.stdout.fileno(), 1 << 16)
                if not more:
                    raise self.failure("the process ended")
                self.read += more
        line, _, self.read = self.read.partition(b"\n")
        return line.decode()

    def answer(self, word: str) -> str:
        """The rest of the next line, which must begin with the word. Raises EngineError otherwise."""
        report, _, rest = self.line().partition(" ")
        if report == word:
            return rest
        raise EngineError(self.name, f"{report} {rest}".removeprefix("error ").removeprefix("unfit "))

    def ask(self, command: str, word: str) -> str:
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(command.encode() + b"\n")
            self.process.stdin.flush()
            return self.answer(word)
        except BrokenPipeError:
            raise self.failure("the process ended") from None
        finally:
            self.stop()

    def times_ms(self, runs: int, cold: bool = False) -> list[float]:
        return [float(each) for each in self.ask(f"{'cold' if cold else 'run'} {runs}", "times").split()]

    def numbers(self, what: str) -> list[float]:
        """Of Tenon alone: `limits` (of this moment: GFLOP/s of each of figures.PRODUCTS, 0 where a run has none of them; GB/s), `work`
        (of a run: operations of each, bytes of weights)."""
        return [float(each) for each in self.ask(what, what).split()]

    def outputs(self) -> list[np.ndarray]:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "outputs.npz"
            self.ask(f"outputs {file}", "written")
            with np.load(file) as archive:
                return [archive[f"arr_{k}"] for k in range(len(archive.files))]
