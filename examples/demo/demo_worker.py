# SPDX-License-Identifier: Apache-2.0
"""One engine in a process of its own: python demo_worker.py tenon|onnxruntime MODEL BATCHES.npz THREADS

Says {"ready_ms"} once it is loaded; then answers each line of stdin with a line of JSON:
  run K        runs batch K; {"ms"}
  save FILE    writes the sentence embeddings of the batches run so far, in their order; {"rows"}
BATCHES.npz holds ids_0, mask_0, ids_1, ... Engines never share a process: their threads would disturb each other.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

import numpy as np

Feeds = dict[str, np.ndarray]


def tenon_runner(model: str, threads: int) -> Callable[[Feeds], np.ndarray]:
    import tenon

    engine = tenon.load(model)
    return lambda feeds: engine.run(feeds, threads=threads)["sentence_embedding"]


def onnxruntime_runner(model: str, threads: int) -> Callable[[Feeds], np.ndarray]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(["sentence_embedding"], feeds)[0]


def main() -> int:
    kind, model, batches, threads = sys.argv[1:5]
    start = time.perf_counter()
    stored = np.load(batches)
    feeds = [{"input_ids": stored[f"ids_{k}"], "attention_mask": stored[f"mask_{k}"]} for k in range(len(stored.files) // 2)]
    runner = {"tenon": tenon_runner, "onnxruntime": onnxruntime_runner}[kind](model, int(threads))
    results: dict[int, np.ndarray] = {}
    print(json.dumps({"ready_ms": (time.perf_counter() - start) * 1e3}), flush=True)
    for line in sys.stdin:
        command, argument = line.split(maxsplit=1)
        if command == "run":
            batch = int(argument)
            begin = time.perf_counter()
            out = runner(feeds[batch])
            answer = {"ms": (time.perf_counter() - begin) * 1e3}
            results[batch] = np.array(out)
        else:
            rows = np.concatenate([results[k] for k in sorted(results)])
            np.save(argument.strip(), rows)
            answer = {"rows": len(rows)}
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
