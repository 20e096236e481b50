# SPDX-License-Identifier: Apache-2.0
"""`./dev bench llm`: SmolLM2-135M-Instruct beside llama.cpp, in turns, as ratios within this run: in Q4_1 (the model of ./dev demo chat)
and in Q4_0, which requantize.py makes of that once, beside it; prompts also with --activations bf16 and i8. It takes twenty minutes.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import figures
import numpy as np
from engines import HERE, PEERS_PYTHON
from process_bench import figure
from turns import Budget

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
from environment import ROOT, TENON, run  # noqa: E402

sys.path.insert(0, str(ROOT / "examples" / "demo"))
import chat_demo  # noqa: E402

PEER = "llama.cpp"
NAME = "SmolLM2-135M {}, {}"
F32 = NAME.format("Q4_1", "f32")
PROMPT = "Explain in one sentence why the sky is blue during the day."
TIMES = 9  # starts and builds
COMPARED = 16  # tokens whose logits are compared
ROW_SECONDS = 40  # at most, so that all rows take twenty minutes
# What is to be reached, by format, activations, work, tokens in the cache and batch: the ratio to llama.cpp, the share of the FMA peak or
# of the read bandwidth.
BARS = {
    ("Q4_1", "f32", "prefill", 0, 1): (2.5, 85),
    ("Q4_1", "f32", "decode", 0, 1): (1.9, 75),
    ("Q4_1", "f32", "decode", 0, 4): (2.8, None),
    ("Q4_1", "f32", "decode", 0, 16): (2.8, None),
    ("Q4_1", "f32", "decode", 4096, 1): (2.2, None),
    ("Q4_1", "bf16", "prefill", 0, 1): (4.5, None),
    ("Q4_1", "i8", "prefill", 0, 1): (6, None),
    ("Q4_0", "f32", "prefill", 0, 1): (1.0, None),
    ("Q4_0", "f32", "decode", 0, 1): (1.4, None),
    ("Q4_0", "f32", "decode", 0, 4): (1.8, None),
    ("Q4_0", "f32", "decode", 0, 16): (1.15, None),
    ("Q4_0", "bf16", "prefill", 0, 1): (1.7, None),
    ("Q4_0", "i8", "prefill", 0, 1): (2, None),
}
# The largest root mean square error of logits, of an engine with these activations.
ERRORS = {"f32": 2e-5, "bf16": 0.08, "i8": 0.22}
NEEDED = {"bf16": "avx512_bf16", "i8": "avx512_vnni"}  # of the CPU, as /proc/cpuinfo names it
LIMITS = {"prefill": "the FMA peak", "decode": "the read bandwidth"}


def tenon(*arguments: object) -> dict:
    return json.loads(run([TENON, *arguments, "--json"]).stdout)


def ratio_text(values: list[float]) -> str:
    low, high = figures.interval(values)
    return f"{statistics.median(values):.2f} ({low:.2f} to {high:.2f})"


def requantized(model: Path) -> Path:
    """The model in Q4_0."""
    target = model.with_name(model.name.replace("Q4_1", "Q4_0"))
    if not target.exists():
        run([PEERS_PYTHON, HERE / "requantize.py", model, target])
    return target


def speed_row(blocks: str, activations: str, row: dict) -> dict:
    """A row of `tenon bench --vs llama.cpp`, of the model in blocks of this format."""
    vs, decodes = row["vs"], row["work"] == "decode"
    share = 100 * row["memory_share" if decodes else "peak_share"]
    noise = "" if row["samples_quiet"] >= row["samples_kept"] else "~"
    said = f"{noise}{vs['ratio']:.2f} ({vs['ratio_low']:.2f} to {vs['ratio_high']:.2f}) against {PEER}"
    said += f"; {noise}{share:.0f} % of {LIMITS[row['work']]}"
    bar, least = BARS[(blocks, activations, row["work"], row["past"], row["batch"])]
    past = f" behind {row['past']} tokens" if row["past"] else ""
    batch = f" of {row['batch']} sequences" if row["batch"] > 1 else ""
    return figure(
        f"{NAME.format(blocks, activations)}, {row['work']} {row['tokens']}{batch}{past}",
        said,
        f"{bar}" + (f"; {least} %" if least else ""),
    )


def activations_here() -> list[str]:
    """Those for which this CPU has instructions."""
    features = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    return ["f32", *(name for name, feature in NEEDED.items() if feature in features)]


def measure_speed(blocks: str, activations: str, model: Path, threads: int, budget: Budget) -> list[dict]:
    options = ["--vs", PEER, "--threads", threads, "--runs", budget.rounds, "--seconds", min(budget.seconds, ROW_SECONDS)]
    options += ["--activations", activations]
    works = [["--prefill", "128,512"]]
    if activations == "f32":
        works = [["--prefill", "128,512", "--decode", 128], ["--decode", 32, "--batch", "4,16"]]
        works += [["--decode", 128, "--past", 4096]] if (blocks, "f32", "decode", 4096, 1) in BARS else []
    return [row for work in works for row in tenon("bench", model, *work, *options)["rows"]]


def taken_ms(command: list) -> float:
    start = time.perf_counter()
    run(command)
    return (time.perf_counter() - start) * 1e3


def llama_start_ms(model: Path, inputs: Path, threads: int) -> float:
    """Loading and the prompt, without what Python takes."""
    command = [PEERS_PYTHON, HERE / "peer_bench.py", PEER, model, inputs, "--threads", threads]
    done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    word, *rest = done.stdout.split()
    if word != "ready":
        sys.exit(done.stdout)
    return float(rest[0]) + float(rest[1])


def measure_start(engine: Path, model: Path, folder: Path, threads: int) -> tuple[dict, dict]:
    """From process start to the first token, the engine in the page cache, by turns with llama.cpp."""
    tokens = tenon("tokens", engine, PROMPT)["tokens"]
    inputs = folder / "inputs.npz"
    one = {key: np.array([value]) for key, value in (("decodes", 0), ("wants_logits", 0), ("context", 2048))}
    np.savez(inputs, past=np.zeros((1, 0), np.int64), tokens=np.array([tokens]), **one)
    command = [TENON, "generate", engine, "--prompt", PROMPT, "-n", 1, "--temperature", 0, "--quiet", "--threads", threads]
    taken_ms(command)
    pairs = [(taken_ms(command), llama_start_ms(model, inputs, threads)) for _ in range(TIMES)]
    ours, theirs = (statistics.median(each) for each in zip(*pairs))
    said = f"{ours:.0f} ms; {ratio_text([b / a for a, b in pairs])} against {PEER} ({theirs:.0f} ms, without Python's start)"
    row = figure(f"{F32}, process start to first token from the engine, {len(tokens)} tokens", said, "at most 70 ms")
    return row, {"pairs_ms": pairs}


def measure_build(model: Path, engine: Path) -> tuple[list[dict], dict]:
    taken = [taken_ms([TENON, "build", model, "-o", engine, "--quiet"]) for _ in range(TIMES)]
    tensors = sum(each["bytes"] for each in tenon("inspect", model)["types"])
    size = engine.stat().st_size / tensors
    said = f"{statistics.median(taken) / 1e3:.2f} s ({min(taken) / 1e3:.2f} to {max(taken) / 1e3:.2f})"
    rows = [
        figure(f"{F32}, GGUF to engine", said, "at most 1.0 s"),
        figure(f"{F32}, engine by tensors", f"{size:.3f} times", "at most 1.02"),
    ]
    return rows, {"build_ms": taken, "engine_by_tensors": size}


def measure_errors(model: Path, activations: str) -> tuple[dict, dict]:
    peers = ["--with", PEER] if activations == "f32" else []
    compared = tenon("compare", model, "--tokens", COMPARED, "--activations", activations, *peers)
    ours, *theirs = compared["engines"]
    said = f"{ours['rms_error']:.2g}" + "".join(f" ({PEER} {each['rms_error']:.2g})" for each in theirs)
    said += f"; the likeliest token is fp64's {ours['same_likeliest']} times" + "".join(f" ({each['same_likeliest']})" for each in theirs)
    name = f"{NAME.format('Q4_1', activations)}, rms error of the logits of {COMPARED} tokens"
    return figure(name, said, f"at most {ERRORS[activations]:g}"), compared


def measured(threads: int, budget: Budget) -> dict:
    if subprocess.run([PEERS_PYTHON, "-c", "import llama_cpp"], capture_output=True).returncode != 0:
        sys.exit("bench llm needs llama-cpp-python in .venv-peers: `./dev bench llm` installs it (tools/requirements-llama.txt)")
    model = chat_demo.model()
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        engine = Path(folder) / "smollm2.tenon"
        built, build = measure_build(model, engine)
        start, pairs = measure_start(engine, model, Path(folder), threads)
    models = {"Q4_1": model, "Q4_0": requantized(model)}
    speeds = {
        (blocks, activations): measure_speed(blocks, activations, each, threads, budget)
        for blocks, each in models.items()
        for activations in activations_here()
    }
    errors = {activations: measure_errors(model, activations) for activations in activations_here()}
    rows = [speed_row(*of, row) for of, each in speeds.items() for row in each]
    rows += [start, *built, *(row for row, _ in errors.values())]
    by_name = {" ".join(of): each for of, each in speeds.items()}
    return {"rows": rows, "speeds": by_name, "start": pairs, "build": build, "errors": {name: each for name, (_, each) in errors.items()}}
