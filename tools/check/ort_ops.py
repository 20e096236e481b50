# SPDX-License-Identifier: Apache-2.0
"""Runs the samples of Tenon's ops of ONNX Runtime's own domain and of ai.onnx.ml in ONNX Runtime.

.venv-peers/bin/python tools/check/ort_ops.py build/bin/op_models [--filter OP] [--verbose]

`op_models` writes each sample as a model, with what Tenon's reference makes of it; ONNX Runtime must make the same. Where it cannot run a
sample, REFUSED names the case and says why; a listed case that runs is an error too. The exit code is 1 where something is otherwise.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import multiprocessing
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import numpy
from ort_set import run

DOMAINS = ("com.microsoft", "ai.onnx.ml")
TOLERANCES = {numpy.dtype(numpy.float16): 4e-3, numpy.dtype(numpy.float32): 2e-5, numpy.dtype(numpy.float64): 1e-9}
# ONNX Runtime computes the inverse of the normal distribution by an approximation.
PROBIT_TOLERANCE = 1e-3
# Cases that ONNX Runtime's CPU build does not run, and why.
REFUSED = {
    "com.microsoft.BiasGelu.2": "no kernel for f64",
    "com.microsoft.Gelu.2": "no kernel for this dtype",
    "com.microsoft.BiasSoftmax.*": "for GPUs alone",
    "com.microsoft.BiasSplitGelu.*": "for GPUs alone",
    "com.microsoft.FusedMatMulActivation.*": "for GPUs alone",
    "com.microsoft.GemmFastGelu.*": "for GPUs alone",
    "com.microsoft.ComplexMul*": "for GPUs alone",
    "com.microsoft.DecoderAttention.0": "for GPUs alone",
    "com.microsoft.GatedRelativePositionBias.*": "for GPUs alone",
    "com.microsoft.RelativePositionBias.*": "for GPUs alone",
    "com.microsoft.GemmaRotaryEmbedding.*": "for GPUs alone",
    "com.microsoft.GroupQueryAttention.[01234]": "head sizes must be multiples of 8",
    "com.microsoft.GroupQueryAttention.5": "norms of heads for GPUs alone",
    "com.microsoft.Attention.2": "crashes: attention_bias without bias",
    "com.microsoft.Attention.8": "no mask of rank 4",
    "com.microsoft.MultiHeadAttention.[45]": "no packed queries, keys and values",
    "com.microsoft.DynamicQuantizeLSTM.1": "weights and zero points must be constants",
    "com.microsoft.DynamicQuantizeLSTM.2": "zero points must be 0",
    "com.microsoft.MatMulBnb4.3": "infers another shape for transB=0",
    "com.microsoft.GatherBlockQuantized.[34]": "its Python interface takes no arrays of 4-bit types",
    "com.microsoft.Trilu.3": "no kernel for bool",
    "ai.onnx.ml.Binarizer.[123]": "no kernel but for f32",
    "ai.onnx.ml.OneHotEncoder.2": "no kernel for i32",
}
# Products of u8 and i8 whose sums saturate where a CPU has no VNNI: there ONNX Runtime is no judge of them.
SATURATES = (
    "DynamicQuantizeLSTM.0",
    "DynamicQuantizeLSTM.3",
    "DynamicQuantizeMatMul.0",
    "MatMulIntegerToFloat.0",
    "QAttention.0",
    "QAttention.2",
    "QGemm.0",
)


def has_vnni() -> bool:
    return "vnni" in Path("/proc/cpuinfo").read_text()


def is_judged(case: dict) -> bool:
    return has_vnni() or case["case"].removeprefix("com.microsoft.") not in SATURATES


def difference(found: numpy.ndarray, wanted: numpy.ndarray, tolerance: float) -> str:
    """Empty where both agree. 8-bit results may lie one apart: ONNX Runtime rounds f32, the reference f64."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"{found.dtype}{found.shape}, not {wanted.dtype}{wanted.shape}"
    if wanted.dtype.kind in "iub":
        limit = 1 if wanted.dtype.itemsize == 1 and wanted.dtype.kind != "b" else 0
        worst = numpy.abs(found.astype(numpy.int64) - wanted.astype(numpy.int64)).max(initial=0)
        return "" if worst <= limit else f"integers differ by {worst}"
    finite = numpy.isfinite(wanted)
    if not numpy.array_equal(finite, numpy.isfinite(found)) or not numpy.array_equal(found[~finite], wanted[~finite], equal_nan=True):
        return "other infinities or NaN"
    size = max(1.0, float(numpy.abs(wanted[finite]).max(initial=0)))
    worst = float(numpy.abs(found[finite].astype(numpy.float64) - wanted[finite]).max(initial=0)) / size
    return "" if worst <= max(tolerance, TOLERANCES[wanted.dtype]) else f"differs by {worst:.1e}"


def is_listed(case: dict) -> bool:
    return any(fnmatch.fnmatchcase(case["case"], pattern) for pattern in REFUSED)


def judge_apart(case: dict, folder: Path) -> str:
    """`judge` in a process of its own: ONNX Runtime may crash."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        try:
            return pool.submit(judge, case, folder).result()
        except BrokenProcessPool:
            return "" if is_listed(case) else "ONNX Runtime crashes"


def judge(case: dict, folder: Path) -> str:
    """Empty where ONNX Runtime agrees, or refuses what is listed."""
    arrays = dict(numpy.load(folder / f"{case['case']}.npz"))
    listed = is_listed(case)
    try:
        found = run(folder / f"{case['case']}.onnx", arrays)
    except Exception as error:  # noqa: BLE001  ONNX Runtime's errors have no class of their own in common
        return "" if listed else f"ONNX Runtime: {str(error).splitlines()[0]}"
    if listed:
        return "runs, but is listed as refused"
    tolerance = PROBIT_TOLERANCE if "PROBIT" in case["sample"] else 0
    texts = [difference(value, arrays[f"out{k}"], tolerance) for k, value in enumerate(found)]
    return next((f"result {k} {text}" for k, text in enumerate(texts) if text), "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="op_models")
    parser.add_argument("--filter", default="", help="only cases whose names contain this")
    parser.add_argument("--verbose", action="store_true", help="a line a case")
    o = parser.parse_args()
    bad, ran = 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        subprocess.run([o.program.resolve(), folder, *DOMAINS], check=True)
        for line in (folder / "cases.jsonl").read_text().splitlines():
            case = json.loads(line)
            if o.filter not in case["case"] or not is_judged(case):
                continue
            text = judge_apart(case, folder)
            ran += 1
            bad += bool(text)
            if text or o.verbose:
                print(f"{'BAD' if text else 'ok '} {case['case']} ({case['sample']}): {text}")
    print(f"{ran} samples, {bad} of them bad")
    return int(bad > 0 or ran == 0)


if __name__ == "__main__":
    sys.exit(main())
