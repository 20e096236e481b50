# SPDX-License-Identifier: Apache-2.0
"""Writes each model again with `tenon export` or `tenon rewrite` and compares.

ONNX's checker accepts the result and ONNX Runtime gives the same outputs.

python roundtrip.py --tenon build/bin/tenon MODEL.onnx...   (a folder: every model in it)
Inputs are drawn at random; MODEL.0.npz beside the model is used where it is there. Exit code 1 where a model differs.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
}


def session(path):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def inputs_of(path, runtime):
    stored = path.with_name(path.name.removesuffix(".onnx") + ".0.npz")
    if stored.exists():
        return dict(np.load(stored))
    rng, sizes, out = np.random.default_rng(0), {}, {}
    for value in runtime.get_inputs():
        shape = [d if isinstance(d, int) else sizes.setdefault(d, 2 + len(sizes)) for d in value.shape]
        dtype = DTYPES[value.type]
        drawn = rng.standard_normal(shape) if np.issubdtype(dtype, np.floating) else rng.integers(0, 2, shape)
        out[value.name] = drawn.astype(dtype)
    return out


def largest_error(before, after):
    if before.shape != after.shape or before.dtype != after.dtype:
        return f"{before.dtype}{list(before.shape)} became {after.dtype}{list(after.shape)}"
    if before.dtype.kind != "f":
        return None if np.array_equal(before, after) else "values differ"
    scale = max(1.0, float(np.nanmax(np.abs(before), initial=0)))
    error = float(np.nanmax(np.abs(before.astype(np.float64) - after), initial=0)) / scale
    return None if error <= 1e-5 and np.array_equal(np.isnan(before), np.isnan(after)) else f"off by {error:.2g}"


def check(command, path, folder, extra):
    out = folder / path.name
    done = subprocess.run([*command, str(path), "-o", str(out), "--quiet", *extra], capture_output=True, text=True)
    if done.returncode != 0:
        return done.stderr.strip() or f"exit code {done.returncode}"
    onnx.checker.check_model(str(out), full_check=True)
    before, after = session(path), session(out)
    names = [o.name for o in before.get_outputs()]
    if names != [o.name for o in after.get_outputs()]:
        return "the outputs have other names"
    feeds = inputs_of(path, before)
    for name, a, b in zip(names, before.run(names, feeds), after.run(names, feeds)):
        problem = largest_error(a, b)
        if problem:
            return f"{name}: {problem}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenon", required=True)
    parser.add_argument("--verb", default="export", choices=["export", "rewrite"])
    parser.add_argument("--option", action="append", default=[], help="passed on to the verb")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    models = [m for p in args.models for m in (sorted(p.glob("*.onnx")) if p.is_dir() else [p])]
    failed = 0
    for model in models:
        with tempfile.TemporaryDirectory() as folder:
            try:
                problem = check([args.tenon, args.verb], model, pathlib.Path(folder), args.option)
            except Exception as e:  # a checker's or a runtime's refusal is a finding like any other
                problem = f"{type(e).__name__}: {str(e).splitlines()[0]}"
        failed += problem is not None
        print(f"{'ok' if problem is None else 'FAILED'}  {model.name}{'' if problem is None else ': ' + problem}", flush=True)
    print(f"{len(models) - failed} of {len(models)} models")
    return 1 if failed or not models else 0


if __name__ == "__main__":
    sys.exit(main())
