# SPDX-License-Identifier: Apache-2.0
"""Holds Tenon's results for every network family against the fp64 reference, with ONNX Runtime's error beside them.

.venv-peers/bin/python tools/models/compare_families.py [--models DIR] [--opt 0] [FAMILY ...]

Without --models the small models of all families, both exporters and two opsets each are exported into build/families
by tools/models/make_models.py, which needs PyTorch: it goes into .venv-models. Each model is asked first whether a mistake
would show in it. An output is good where its error is no more than twice ONNX Runtime's, or than the bound of
`tenon compare` where that is more. The exit code is 1 where an output is not, or a model hides mistakes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
from environment import ROOT, TENON, models_python
from model_checks import faults

MODELS = ROOT / "build" / "families"


def make_models(folder: Path) -> None:
    """Exports what is not there yet."""
    if not any(folder.glob("*.onnx")):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run([models_python(), ROOT / "tools" / "models" / "make_models.py", "--out", folder], check=True)


def compare(model: Path, sample: Path, opt: int) -> dict:
    """The verdict on one model and input, with the output that comes closest to its limit."""
    command = [TENON, "compare", model, "--with", "onnxruntime", "--input", sample, "--opt", opt, "--json"]
    environment = os.environ | {"TENON_PEERS_PYTHON": sys.executable}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=environment)
    report = json.loads(done.stdout or "{}")
    if "outputs" not in report:
        return {"verdict": "bad", "why": report.get("error", {}).get("what") or f"exit code {done.returncode} {done.stderr}"}
    worst = max(report["outputs"], key=share_of_limit)
    first = report["first_bad"]
    why = f"first bad value: {first['value']} of {first['op']}, {first['found']}" if first else ""
    return worst | {"verdict": report["verdict"], "why": why}


def share_of_limit(output: dict) -> float:
    """An output's error over the most that it may be; ONNX Runtime's may be missing or infinite, as JSON's null."""
    limit = max(output["bound"], 2 * (output["other_error"] or 0))
    error = output["largest_error"]
    return math.inf if error is None else error / limit if limit else float(error > 0)


def line_of(case: str, found: dict) -> str:
    if "largest_error" not in found:
        return f"  {case:28} {found['verdict']:5} {found['why']}"
    share = share_of_limit(found)
    errors = "".join(f"{math.inf if found[key] is None else found[key]:12.2e}" for key in ("largest_error", "other_error", "bound"))
    return f"  {case:28}{errors}{share:8.3f}  {found['verdict']:5} {found['name']}  {found['why']}"


def judge(model: Path, opt: int) -> tuple[list[str], list[dict], int]:
    """Lines of the table, the cases, and how many things are bad."""
    samples = [model.with_suffix(f".{k}.npz") for k in range(9)]
    samples = [sample for sample in samples if sample.exists()]
    label = model.name.removesuffix(".onnx").partition(".")[2]
    lines, cases, bad = [], [], 0
    wrong, seen = faults(model, dict(numpy.load(samples[0])))
    lines.append(f"  {label}: {seen}")
    for each in wrong:
        lines.append(f"  {label}: MISTAKES WOULD HIDE: {each}")
        bad += 1
    for sample in samples:
        found = compare(model, sample, opt)
        shape = "x".join(map(str, next(iter(numpy.load(sample).values())).shape))
        lines.append(line_of(f"{label} {shape}", found))
        bad += found["verdict"] != "good"
        cases.append(found)
    return lines, cases, bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", nargs="*", help="default: all")
    parser.add_argument("--models", type=Path, help="a folder that tools/models/make_models.py wrote")
    parser.add_argument("--opt", type=int, default=3, choices=range(4))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    folder = asked.models or MODELS
    if not asked.models:
        make_models(folder)
    models = [m for m in sorted(folder.glob("*.onnx")) if not asked.family or m.name.partition(".")[0] in asked.family]
    cases, bad = [], 0
    family = ""
    with ThreadPoolExecutor(asked.jobs) as pool:
        for model, (lines, more, wrong) in zip(models, pool.map(lambda m: judge(m, asked.opt), models)):
            if family != (family := model.name.partition(".")[0]):
                print(f"{family:30}{'error':>12}{'ORT':>12}{'bound':>12}{'of limit':>10}")
            print("\n".join(lines), flush=True)
            cases, bad = cases + more, bad + wrong
    known = [case for case in cases if case.get("other_error") is not None]
    near = sum(case["largest_error"] <= 2 * case["other_error"] for case in known)
    print(f"{len(models)} models, {len(cases)} cases at --opt {asked.opt}, {bad} bad; {near} within twice ONNX Runtime's error alone")
    return 1 if bad or not models else 0


if __name__ == "__main__":
    sys.exit(main())
