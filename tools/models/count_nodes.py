# SPDX-License-Identifier: Apache-2.0
"""Counts the nodes that rewriting leaves on the network families, beside onnxsim and ONNX Runtime's extended optimiser.

.venv-peers/bin/python -m pip install --no-deps -r tools/requirements-onnxsim.txt
.venv-peers/bin/python tools/models/count_nodes.py [--models DIR] [--rules default+onnxruntime] [--keep DIR] [MODEL ...]

Without --models the families are exported first, as tools/models/compare_families.py does. Without onnxsim its column is empty.

A function counts as its body, constants do not count. What Tenon writes is run by ONNX Runtime with its optimiser off, and so is the
original: the outputs must agree. The exit code is 1 where they do not, or where another tool leaves fewer nodes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import onnx
import onnxruntime
from compare_families import MODELS, make_models
from environment import TENON

NEWEST_OPSET = 26  # that ONNX Runtime 1.31 reads
LEVELS = onnxruntime.GraphOptimizationLevel


def count(model: onnx.ModelProto) -> int:
    functions = {(f.domain, f.name, f.overload): f for f in model.functions}

    def of(nodes) -> int:
        total = 0
        for node in nodes:
            function = functions.get((node.domain, node.op_type, node.overload))
            total += of(function.node) if function else node.op_type != "Constant"
            total += sum(of(a.g.node) for a in node.attribute if a.HasField("g"))
        return total

    return of(model.graph.node)


def session(path: Path, level, optimized: Path | None = None) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if optimized:
        options.optimized_model_filepath = str(optimized)
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def extended(path: Path, folder: Path) -> int:
    out = folder / "extended.onnx"
    session(path, LEVELS.ORT_ENABLE_EXTENDED, out)
    return count(onnx.load(out, load_external_data=False))


def simplified(path: Path) -> int | None:
    """None where onnxsim is not installed or refuses the model."""
    try:
        import onnxsim
    except ImportError:
        return None
    try:
        model, _ = onnxsim.simplify(onnx.load(path))
    except Exception:  # whatever a simplifier throws at a model is its own business
        return None
    return count(model)


def rewritten(path: Path, out: Path, rules: str) -> str:
    """Why it could not be written; empty where it was."""
    command = [TENON, "rewrite", path, "-o", out, "--rules", rules, "--raise-opset", NEWEST_OPSET]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stdout + done.stderr).strip() or f"exit code {done.returncode}"


def difference(before: Path, after: Path, samples: list[Path]) -> float:
    """Largest difference of any output over its largest absolute value; inf where NaN or infinity stand elsewhere."""
    first, second = session(before, LEVELS.ORT_DISABLE_ALL), session(after, LEVELS.ORT_DISABLE_ALL)
    worst = 0.0
    for sample in samples:
        inputs = dict(numpy.load(sample))
        inputs = {i.name: inputs[i.name] for i in first.get_inputs()}
        for a, b in zip(first.run(None, inputs), second.run(None, inputs), strict=True):
            if a.shape != b.shape or a.dtype != b.dtype:
                return numpy.inf
            a, b = a.astype(numpy.float64), b.astype(numpy.float64)
            there = numpy.isfinite(a)
            if not numpy.array_equal(a[~there], b[~there], equal_nan=True):
                return numpy.inf
            if there.any():
                worst = max(worst, numpy.abs(a[there] - b[there]).max() / max(1e-6, numpy.abs(a[there]).max()))
    return worst


def row(path: Path, rules: str, folder: Path) -> dict:
    found = {"model": path.stem, "before": count(onnx.load(path, load_external_data=False))}
    found["onnxsim"], found["extended"] = simplified(path), extended(path, folder)
    out = folder / path.name
    if why := rewritten(path, out, rules):
        return found | {"why": why}
    found["tenon"] = count(onnx.load(out, load_external_data=False))
    samples = [s for k in range(2) if (s := path.with_suffix(f".{k}.npz")).exists()]
    try:
        found["difference"] = float(difference(path, out, samples))
    except Exception as error:  # ONNX Runtime says so by many classes
        return found | {"why": str(error).splitlines()[0]}
    return found


def verdict(found: dict) -> str:
    if "why" in found:
        return found["why"]
    others = [found[k] for k in ("onnxsim", "extended") if found[k] is not None]
    if found["difference"] > 1e-4:
        return "DIFFERS"
    return "MORE NODES" if found["tenon"] > min(others) else "ok"


def line_of(found: dict) -> str:
    cells = "".join(f"{'-' if found.get(k) is None else found[k]:>10}" for k in ("before", "onnxsim", "extended", "tenon"))
    shown = f"{found['difference']:12.1e}" if "difference" in found else " " * 12
    return f"{found['model']:28}{cells}{shown}  {verdict(found)}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=Path, help="folder of NAME.onnx with NAME.0.npz beside it")
    parser.add_argument("--rules", default="default+onnxruntime", help="which rules run")
    parser.add_argument("--keep", type=Path, help="folder for what Tenon writes")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("names", nargs="*", metavar="MODEL", help="only models whose name starts so")
    o = parser.parse_args()
    if not o.models:
        make_models(MODELS)
    paths = [p for p in sorted((o.models or MODELS).glob("*.onnx")) if not o.names or any(p.name.startswith(n) for n in o.names)]
    if not o.json:
        print(f"{'model':28}{'before':>10}{'onnxsim':>10}{'extended':>10}{'tenon':>10}{'difference':>12}")
    rows = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = o.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for path in paths:
            rows.append(row(path, o.rules, folder))
            if not o.json:
                print(line_of(rows[-1]), flush=True)
    if o.json:
        print(json.dumps(rows))
    bad = sum(verdict(r) != "ok" for r in rows)
    if not o.json:
        print(f"{len(rows)} models, {bad} of them not ok")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
