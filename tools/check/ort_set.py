# SPDX-License-Identifier: Apache-2.0
"""Runs what the rules for ONNX Runtime write in ONNX Runtime, with its optimiser off.

.venv-peers/bin/python tools/check/ort_set.py build/bin/rule_models [--verbose]

Every case of tests/rules/onnxruntime/*.tn that its rules rewrite is written as two models by `rule_models`. Both are run on the same
inputs; the outputs must be those of Tenon's reference. Where ONNX Runtime cannot run the first model, a rule has mended that; it must
run the second, unless that is by a rule of the set onnxruntime_cuda or onnxruntime_other, for whose ops the CPU build has no kernel. The
exit code is 1 where that fails.
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
from onnx import TensorProto, helper

ROOT = Path(__file__).resolve().parents[2]
NO_KERNEL = ("NOT_IMPLEMENTED", "INVALID_GRAPH", "Could not find an implementation")
FLOAT = TensorProto.FLOAT


def with_wide_borders(model: onnx.ModelProto) -> onnx.ModelProto:
    """NumPy has no bf16: such inputs and outputs are handed over as f32."""
    graph = model.graph
    first, last = [], []
    for value in graph.input:
        if value.type.tensor_type.elem_type == TensorProto.BFLOAT16:
            first.append(helper.make_node("Cast", [value.name + "_wide"], [value.name], to=TensorProto.BFLOAT16))
            value.name, value.type.tensor_type.elem_type = value.name + "_wide", FLOAT
    for value in graph.output:
        if value.type.tensor_type.elem_type == TensorProto.BFLOAT16:
            last.append(helper.make_node("Cast", [value.name], [value.name + "_wide"], to=FLOAT))
            value.name, value.type.tensor_type.elem_type = value.name + "_wide", FLOAT
    nodes = [*first, *graph.node, *last]
    del graph.node[:]
    graph.node.extend(nodes)
    return model


def run(path: Path, arrays: dict) -> list[numpy.ndarray]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    model = with_wide_borders(onnx.load(path))
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {given.name: arrays[f"in{k}"] for k, given in enumerate(session.get_inputs())})


def tolerance(case: dict, kind: int) -> float:
    """Of an output, over its largest value."""
    if case["approximate"]:
        return 2e-3
    return {TensorProto.BFLOAT16: 2e-2, TensorProto.FLOAT16: 4e-3, TensorProto.FLOAT: 2e-5}.get(kind, 1e-9)


def largest_difference(found: list, arrays: dict) -> float:
    """Over the largest value of each output; inf where shapes or places of NaN differ."""
    worst = 0.0
    for k, value in enumerate(found):
        wanted = arrays[f"out{k}"].astype(numpy.float64)
        value = value.astype(numpy.float64)
        if value.shape != wanted.shape or not numpy.array_equal(numpy.isnan(value), numpy.isnan(wanted)):
            return numpy.inf
        if value.size:
            worst = max(worst, float(numpy.nanmax(numpy.abs(value - wanted)) / max(1.0, numpy.nanmax(numpy.abs(wanted)))))
    return worst


def outcome(path: Path, arrays: dict) -> tuple[float | None, str]:
    """Largest difference from the reference; None and why where ONNX Runtime cannot run it."""
    try:
        return largest_difference(run(path, arrays), arrays), ""
    except Exception as error:  # ONNX Runtime's errors have no class of their own in common
        return None, str(error).splitlines()[0]


def judge(case: dict, folder: Path) -> tuple[bool, str]:
    arrays = dict(numpy.load(folder / f"{case['case']}.npz"))
    kinds = {v.type.tensor_type.elem_type for v in onnx.load(folder / f"{case['case']}.after.onnx").graph.output}
    limit = max(tolerance(case, kind) for kind in kinds)
    before, why_before = outcome(folder / f"{case['case']}.before.onnx", arrays)
    after, why_after = outcome(folder / f"{case['case']}.after.onnx", arrays)
    for_gpu = "onnxruntime_cuda" in case["set"] or "onnxruntime_other" in case["set"]
    if after is None:
        lacks = any(word in why_after for word in NO_KERNEL)
        return for_gpu and lacks, "no CPU kernel" if for_gpu and lacks else why_after
    shown = f"before {f'refused ({why_before[:60]}...)' if before is None else f'{before:.1e}'}, after {after:.1e}"
    return after <= limit and (before is None or before <= limit), shown


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="rule_models")
    parser.add_argument("--verbose", action="store_true", help="a line a case")
    o = parser.parse_args()
    bad, ran = 0, 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        subprocess.run([o.program.resolve(), ROOT / "tests" / "rules", "onnxruntime/", folder], check=True)
        for line in (folder / "cases.jsonl").read_text().splitlines():
            case = json.loads(line)
            good, shown = judge(case, folder)
            ran += 1
            bad += not good
            if o.verbose or not good:
                print(f"{'ok ' if good else 'BAD'} {case['rules']:60} {case['name']}: {shown}")
    print(f"{ran} rewritten cases, {bad} of them bad")
    return int(bad > 0 or ran == 0)


if __name__ == "__main__":
    sys.exit(main())
