# SPDX-License-Identifier: Apache-2.0
"""Another inference engine in a process of its own, so that its threads can be stopped while Tenon is measured.

python peer_bench.py onnxruntime MODEL INPUTS.npz THREADS [EXTERNAL_DATA_DIR]

It answers "ready LOAD_MS FIRST_MS VERSION", then one line a command on stdin:
  run N         N runs back to back after one that does not count: "times MS MS ..."
  outputs FILE  the results as an .npz of arr_0, arr_1, ...: "written"
A line "error WHY" ends it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

Feeds = dict[str, np.ndarray]


def onnxruntime_runner(model: str, threads: int, external: str) -> tuple[Callable[[Feeds], list[np.ndarray]], str]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    options.log_severity_level = 3
    source: str | bytes = model
    if external:
        options.add_session_config_entry("session.model_external_initializers_file_folder_path", external)
        source = Path(model).read_bytes()
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    wanted = {value.name for value in session.get_inputs()}
    return lambda feeds: session.run(None, {name: feeds[name] for name in feeds if name in wanted}), onnxruntime.__version__


RUNNERS = {"onnxruntime": onnxruntime_runner}


def milliseconds_of(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return (time.perf_counter() - start) * 1e3


def serve(answer: Callable[[str], None], peer: str, model: str, inputs: str, threads: str, external: str = "") -> None:
    with np.load(inputs) as archive:
        feeds = {name: archive[name] for name in archive.files}
    start = time.perf_counter()
    run, version = RUNNERS[peer](model, int(threads), external)
    load = (time.perf_counter() - start) * 1e3
    first = milliseconds_of(lambda: run(feeds))
    answer(f"ready {load:.6f} {first:.6f} {version}")
    for line in sys.stdin:
        command, _, argument = line.rstrip("\n").partition(" ")
        if command == "run":
            run(feeds)
            answer("times " + " ".join(f"{milliseconds_of(lambda: run(feeds)):.6f}" for _ in range(int(argument))))
        elif command == "outputs":
            np.savez(argument, *run(feeds))
            answer("written")
        else:
            raise ValueError(f"there is no command {command!r}")


def main() -> int:
    # What a library prints goes to stderr; the answers have the real stdout to themselves.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    try:
        serve(lambda text: print(text, file=answers), *sys.argv[1:])
    except Exception as error:  # whatever a peer raises is an answer
        print("error", " ".join(f"{type(error).__name__}: {error}".split()), file=answers)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
