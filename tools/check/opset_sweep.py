# SPDX-License-Identifier: Apache-2.0
"""Checks what export writes of each op, in each element type, at each opset: valid and equal, or refused.

.venv-peers/bin/python tools/check/opset_sweep.py build/bin/opset_models [--share 1000] [--seed N] [--filter OP] [--verbose]

`opset_models` writes the samples of all ops in all types that a schema gives them at all opsets: of these files a share, drawn by the
seed; with `--share 1000` (TENON_SWEEP=1000) all. Each file must pass onnx.checker and shape inference in strict mode, and load in ONNX
Runtime where that has the opset and a kernel; where both compute it, its results must be those of Tenon's reference. KNOWN has what is
otherwise though the file is right, with the reason. The exit code is 1 where a file is bad.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import fnmatch
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper, shape_inference
from onnxruntime import OrtValue
from ort_ops import difference, has_vnni

SHARE, SEED = 500, 1  # thousandths of all files
NO_KERNEL = ("NOT_IMPLEMENTED", "Could not find an implementation", "is not a registered function/op", "is not currently registered")
TOLERANCES = {"float16": 1e-2, "bfloat16": 2e-2, "float32": 1e-4, "float64": 1e-4}
# "domain.op (type) at opset: what is wrong", as a pattern; why the file is right.
KNOWN = {
    # The package onnx.
    "onnx.MeanVarianceNormalization*: onnx: *": "its function for the op has constants of f32, and none that opset 28 takes",
    # What ONNX Runtime's kernels do not take.
    "*: ONNX Runtime: *Tensor type mismatch. T !=*": "a kernel that reads one type where the schema has two",
    "*: ONNX Runtime: *not supported*": "named by the kernel",
    "*: ONNX Runtime: *not implemented*": "named by the kernel",
    "*: ONNX Runtime: *does not support*": "named by the kernel",
    "onnx.Attention*: ONNX Runtime: *attention_helper.h*": "a cache and lengths of keys together",
    "onnx.Attention*: ONNX Runtime: *Unrecognized attribute: *_window_size*": "its schema is older than that of the package onnx",
    "com.microsoft.Attention*: ONNX Runtime crashes": "attention_bias without bias",
    "com.microsoft.*: ONNX Runtime: *_inlfunc_*": "its own function needs a newer opset",
    "onnx.AveragePool*: ONNX Runtime: *output dimension is negative*": "a dilated window larger than the image",
    "onnx.DequantizeLinear*: ONNX Runtime: *quantize_linear.cc*": "zero points of float8 other than 0",
    "com.microsoft.DynamicQuantizeLSTM*: ONNX Runtime: *zero point must be zero*": "of weights",
    "com.microsoft.DynamicQuantizeLSTM*: ONNX Runtime: *point must be constant*": "of weights",
    "com.microsoft.GatherBlockQuantized*: ONNX Runtime: *ShapeInferenceError*": "codes of a type other than the sample's",
    "com.microsoft.GemmaRotaryEmbedding*: ONNX Runtime: *": "for GPUs alone",
    "com.microsoft.GroupQueryAttention*: ONNX Runtime: *head_size must be a multiple of 8*": "heads of other sizes",
    "onnx.LRN*: ONNX Runtime: *size_ % 2 == 1*": "an even size",
    "com.microsoft.MatMulBnb4*: ONNX Runtime: *Incompatible dimensions*": "infers another shape for transB=0",
    "com.microsoft.MatMulNBits*: ONNX Runtime: *matmul_nbits.cc*": "a type of scales or zero points",
    "onnx.MatMulInteger*: ONNX Runtime: *matmul_integer.cc*": "a zero point for each row",
    "onnx.ConvInteger*: ONNX Runtime: *conv_integer.cc*": "a zero point for each channel",
    "onnx.QLinearMatMul*: ONNX Runtime: *quantize_linear_matmul.cc*": "a zero point for each row",
    "onnx.Multinomial (f16?0,3?*: ONNX Runtime: *": "no rows",
    "com.microsoft.QLinearConcat*: ONNX Runtime: *": "one type of zero points",
    "com.microsoft.Range*: ONNX Runtime: *can not be zero*": "a step of 0.25 as an integer",
    "onnx.ReduceM??*(T = bool)*: ONNX Runtime: *not defined for empty set*": "of no elements",
    "onnx.*: ONNX Runtime: *division by zero*": "by random integers",
    "onnx.Mod*: ONNX Runtime: *modulo by zero*": "by random integers",
    # What it computes otherwise.
    "onnx.*Window*: result 0 integers differ by 1": "cut to integers beside a whole number",
    "onnx.Attention*: result * other infinities or NaN": "masks by the lowest number, not by -infinity",
    "onnx.Cast*: result 0 *differ*": "numbers that the type cannot hold",
    "onnx.Dropout*outputs=2*: result 1 integers differ by 1": "a mask that ONNX leaves open before opset 12",
    "onnx.Dropout*seed=7*: result *": "random",
    "com.microsoft.DynamicQuantizeLSTM*: result *": "rounds the input and the state to 8 bits",
    "onnx.Gather*(T = string)*: result 0 other texts": "1.31 copies the first text of each slice alone",
    "onnx.GroupNormalization*(stash_type = f16)*: result 0 differs*": "computes in f16",
    "onnx.LSTM (f32?0,2,4?*: result *": "the state of a layer without steps is not set",
    "onnx.LSTM*(T = bf16)*: ONNX Runtime: *running Scan node*": "a Scan of no steps",
    "onnx.MaxUnpool*1,1,5,5*: result 0 differs*": "places are those of an image of the inferred size",
    "onnx.Mod*(T = u64)*: result 0 integers differ*": "by way of floats",
    "com.microsoft.MoE*(T = f16)*: result 0 differs*": "its f16 kernel gives other values than its f32 kernel on the same numbers",
    "onnx.NonZero (u8??)*: result 0 int64*": "a scalar as one element",
    "onnx.Pow*: result 0 integers differ*": "powers that the type cannot hold",
    "onnx.ReduceMax*(T = bool)*: result 0 integers differ by 1": "of no elements",
    "onnx.Resize*: result 0 integers differ by 1": "rounds, where it was cut",
    "onnx.Softplus*: result 0 other infinities or NaN": "the function of opset 18 overflows",
    "com.microsoft.SkipLayerNormalization*: result * differs*": "statistics in 16 bits",
}
# Sums of products of u8 and i8 that saturate at 16 bits where a CPU has no VNNI.
KNOWN_WITHOUT_VNNI = {
    f"{op}*: result * differ*": "sums of 8 bits saturate on this CPU"
    for op in (
        "com.microsoft.DynamicQuantizeMatMul",
        "com.microsoft.MatMulIntegerToFloat",
        "com.microsoft.QAttention",
        "com.microsoft.QGemm",
        "onnx.MatMulInteger",
        "onnx.QLinearConv",
        "onnx.ConvInteger",
        "onnx.QLinearMatMul",
    )
}
if not has_vnni():
    KNOWN |= KNOWN_WITHOUT_VNNI


@dataclass
class Counts:
    """Of the files that were written."""

    written: int = 0
    loaded: int = 0
    compared: int = 0
    bad: list[str] = field(default_factory=list)

    def add(self, other: Counts) -> None:
        self.written += other.written
        self.loaded += other.loaded
        self.compared += other.compared
        self.bad += other.bad


def runtime_session(model: bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def newest_runtime_opset() -> int:
    """The newest opset that this ONNX Runtime has released; it refuses others."""

    def is_read(opset: int) -> bool:
        ports = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1]) for name in ("x", "y")]
        graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", ports[:1], ports[1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        try:
            runtime_session(model.SerializeToString())
        except Exception:  # noqa: BLE001  ONNX Runtime's errors have no class of their own in common
            return False
        return True

    return max(filter(is_read, range(13, onnx.defs.onnx_opset_version() + 1)))


def fault_by_onnx(model: bytes) -> str:
    """Empty where the file is valid."""
    try:
        onnx.checker.check_model(model, full_check=True)
        shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
    except Exception as error:  # noqa: BLE001  nor the checker's
        return f"onnx: {' '.join(str(error).split())[:400]}"
    return ""


def is_plain(dtype: numpy.dtype) -> bool:
    """NumPy's own, not one of ml_dtypes."""
    return dtype.isbuiltin == 1


def bits_of(dtype: numpy.dtype) -> int:
    return next((bits for bits in (4, 2) if dtype.name in (f"int{bits}", f"uint{bits}", "float4_e2m1fn")), 8 * dtype.itemsize)


def runtime_value(array: numpy.ndarray) -> OrtValue | None:
    """None: ONNX Runtime's Python interface takes no such arrays."""
    if is_plain(array.dtype):
        return OrtValue.ortvalue_from_numpy(array)
    number = helper.np_dtype_to_tensor_dtype(array.dtype)
    return OrtValue.ortvalue_from_numpy_with_onnx_type(array, number) if bits_of(array.dtype) >= 8 else None


def array_of(value: OrtValue, dtype: numpy.dtype) -> numpy.ndarray:
    """Of types that NumPy lacks: the bytes of ONNX Runtime, small integers unpacked."""
    if is_plain(dtype) or value.data_type() != f"tensor({dtype.name.replace('_', '').replace('e8m0fnu', 'e8m0')})":
        return value.numpy()
    bits, count = bits_of(dtype), int(numpy.prod(value.shape()))
    raw = numpy.frombuffer(ctypes.string_at(value.data_ptr(), (count * bits + 7) // 8), numpy.uint8)
    if bits < 8:
        parts = numpy.unpackbits(raw, bitorder="little").reshape(-1, bits)[:count]
        raw = numpy.packbits(numpy.pad(parts, ((0, 0), (0, 8 - bits)), "edge" if dtype.name.startswith("int") else "constant"), 1, "little")
    return raw.ravel().view(dtype).reshape(value.shape())


def fault_by_values(found: numpy.ndarray, wanted: numpy.ndarray) -> str:
    tolerance = TOLERANCES.get(wanted.dtype.name, 0)
    if wanted.dtype.kind == "O":
        return "" if found.shape == wanted.shape and found.tolist() == wanted.tolist() else "other texts"
    if found.dtype == wanted.dtype and not is_plain(found.dtype):
        found, wanted = found.astype(numpy.float32), wanted.astype(numpy.float32)
    if wanted.dtype.kind == "c":
        found, wanted = found.view(found.real.dtype), wanted.view(wanted.real.dtype)
    return difference(found, wanted, tolerance)


def run_fault(case: dict, session: onnxruntime.InferenceSession, arrays: dict, counts: Counts) -> str:
    ports = session.get_inputs()
    names = [f"in{k}" for k in range(len(ports))]
    if "out0" not in arrays or not set(names) <= set(arrays):
        return ""
    given = {port.name: arrays[name] for port, name in zip(ports, names, strict=True)}
    wanted = [arrays[f"out{k}"] for k in range(len(session.get_outputs()))]
    if all(is_plain(a.dtype) for a in [*given.values(), *wanted]):
        results = session.run(None, given)
    else:
        values = {name: runtime_value(array) for name, array in given.items()}
        if None in values.values():
            return ""
        made = session.run_with_ort_values(None, values)
        results = [array_of(value, want.dtype) for value, want in zip(made, wanted, strict=True)]
    if case["random"]:
        return ""
    texts = [fault_by_values(result, want) for result, want in zip(results, wanted, strict=True)]
    counts.compared += 1
    return next((f"result {k} {text}" for k, text in enumerate(texts) if text), "")


def fault_by_runtime(case: dict, model: bytes, arrays: dict, counts: Counts) -> str:
    """Empty also where ONNX Runtime has no kernel."""
    try:
        session = runtime_session(model)
        counts.loaded += 1
        return run_fault(case, session, arrays, counts)
    except Exception as error:  # noqa: BLE001  nor ONNX Runtime's
        text = str(error)
        # A node without a name comes from ONNX's function for an op that ONNX Runtime has no kernel for.
        if any(word in text for word in NO_KERNEL) or ("node ()" in text and not onnx.load_from_string(model).functions):
            return ""
        return f"ONNX Runtime: {' '.join(text.split())[:400]}"


def judge(cases: list[dict], models: Path, newest: int) -> Counts:
    counts = Counts()
    with models.open("rb") as file:

        def bytes_at(begin: int, size: int) -> bytes:
            file.seek(begin)
            return file.read(size)

        for case in cases:
            values = onnx.load_from_string(bytes_at(*case["values"])).graph.initializer if case["values"] else []
            arrays = {t.name: numpy_helper.to_array(t) for t in values}
            for opset, begin, size in case["written"]:
                counts.written += 1
                model = bytes_at(begin, size)
                text = fault_by_onnx(model)
                if not text and opset <= newest:
                    text = fault_by_runtime(case, model, arrays, counts)
                if text:
                    counts.bad.append(f"{title(case)} at {opset}: {text}")
    return counts


def title(case: dict) -> str:
    return f"{case['domain'] or 'onnx'}.{case['op']} ({case['sample']}) ({case['type']})"


def judge_apart(cases: list[dict], models: Path, newest: int) -> Counts:
    """In a process of its own, for ONNX Runtime may crash: then half by half."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as pool:
        try:
            return pool.submit(judge, cases, models, newest).result()
        except BrokenProcessPool:
            if len(cases) == 1:
                return Counts(written=len(cases[0]["written"]), bad=[f"{title(cases[0])}: ONNX Runtime crashes"])
    counts = Counts()
    for half in (cases[: len(cases) // 2], cases[len(cases) // 2 :]):
        counts.add(judge_apart(half, models, newest))
    return counts


def reason(text: str) -> str:
    return next((why for pattern, why in KNOWN.items() if fnmatch.fnmatchcase(text, pattern)), "")


def sweep(program: Path, share: int, seed: int, filter: str) -> tuple[list[dict], Counts]:
    newest = newest_runtime_opset()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        subprocess.run([program.resolve(), folder, str(share), str(seed), filter], check=True)
        cases = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
        by_op = collections.defaultdict(list)
        for case in cases:
            by_op[case["op"]].append(case)
        counts = Counts()
        for group in by_op.values():
            counts.add(judge_apart(group, folder / "models", newest))
    return cases, counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path, help="opset_models")
    parser.add_argument("--share", type=int, default=int(os.environ.get("TENON_SWEEP", SHARE)), help="of the files, in thousandths")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--filter", default="", help="only ops whose names contain this")
    parser.add_argument("--verbose", action="store_true", help="a line a refusal, and a file that is listed as known")
    o = parser.parse_args()
    cases, counts = sweep(o.program, o.share, o.seed, o.filter)
    bad = [text for text in counts.bad if not reason(text)]
    for text in bad:
        print(f"BAD {text}")
    for text in counts.bad if o.verbose else []:
        if reason(text):
            print(f"known {text} [{reason(text)}]")
    for case in cases if o.verbose else []:
        for opset, why in case["refused"]:
            print(f"refused {title(case)} at {opset}: {' '.join(why.split())}")
    refused = sum(len(case["refused"]) for case in cases)
    ops = len({(case["domain"], case["op"]) for case in cases})
    print(f"seed {o.seed}, share {o.share}: {ops} ops, {len(cases)} cases, {counts.written} files written, {refused} refused")
    print(f"ONNX Runtime loads {counts.loaded}, {counts.compared} compared; {len(counts.bad) - len(bad)} known, {len(bad)} bad")
    return int(bool(bad) or counts.compared == 0)


if __name__ == "__main__":
    sys.exit(main())
