# SPDX-License-Identifier: Apache-2.0
"""Asks ONNX Runtime about the random graphs of tests/compiler/random/random_sizes_test.cpp: equal results, or an error from both.

mkdir DIR; TENON_DUMP=DIR TENON_GRAPHS=2000 build/bin/test_compiler --gtest_filter='RandomSizes*'
.venv-peers/bin/python tools/models/compare_sizes.py DIR   prints each difference; exit code 1 where there is one

A run that ONNX Runtime has no kernel for is counted apart. So are those that only one of the two refuses, with both reasons.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import onnxruntime as ort


def session_of(path: Path) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def differs(want: list[np.ndarray], got: list[np.ndarray]) -> str:
    for k, (a, b) in enumerate(zip(want, got, strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {k}: {b.dtype}{list(b.shape)}, ONNX Runtime has {a.dtype}{list(a.shape)}"
        if a.dtype.kind == "f" and not np.allclose(a, b, rtol=2e-3, atol=2e-3, equal_nan=True):
            return f"result {k}: largest difference {np.nanmax(np.abs(a - b))}"
        if a.dtype.kind != "f" and not np.array_equal(a, b):
            return f"result {k}: other elements"
    return ""


def compare(session: ort.InferenceSession, stem: Path) -> tuple[str, str]:
    """What came of one draw: a word for the tally, and what to print."""
    inputs = dict(np.load(f"{stem}.in.npz"))
    wanted = {i.name for i in session.get_inputs()}
    try:
        want = session.run(None, {k: v for k, v in inputs.items() if k in wanted})
    except Exception as e:
        want, why = None, str(e).splitlines()[0]
    error = Path(f"{stem}.error.txt")
    if want is None:
        return ("refused by both", "") if error.exists() else ("accepted here alone", f"ONNX Runtime: {why}")
    if error.exists():
        return "refused here alone", error.read_text()
    with np.load(f"{stem}.out.npz") as out:
        text = differs(want, [out[str(k)] for k in range(len(out.files))])
    return ("different", text) if text else ("equal", "")


def judge(model: Path) -> list[tuple[str, str]]:
    """Word and text of each draw. To be run in a child: ONNX Runtime may end the process."""
    try:
        session = session_of(model)
    except Exception:
        return [("no session", "")]
    stems = [model.with_suffix(f".{draw}") for draw in range(4)]
    return [compare(session, stem) for stem in stems if Path(f"{stem}.in.npz").exists()]


def in_child(model: Path, connection: Connection) -> None:
    connection.send(judge(model))


def judged(model: Path) -> list[tuple[str, str]]:
    ours, theirs = Pipe(duplex=False)
    child = Process(target=in_child, args=(model, theirs))
    child.start()
    theirs.close()
    try:
        return ours.recv()
    except EOFError:
        return [("ONNX Runtime crashed", "")]
    finally:
        child.join()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    args = parser.parse_args()
    tally: Counter[str] = Counter()
    for model in sorted(args.folder.glob("*.onnx"), key=lambda p: int(p.stem)):
        for draw, (word, text) in enumerate(judged(model)):
            tally[word] += 1
            if text:
                print(f"{model.stem}.{draw}: {word}: {text}")
    print(", ".join(f"{count} {word}" for word, count in tally.most_common()))
    return 1 if tally["different"] or tally["accepted here alone"] or tally["refused here alone"] else 0


if __name__ == "__main__":
    sys.exit(main())
