# SPDX-License-Identifier: Apache-2.0
"""Measures ONNX Runtime's graph optimizer: the time to create a session with all optimizations, less the time with none. In milliseconds.

python tools/bench/ort_optimiser.py MODEL.onnx [RUNS]
"""

import json
import statistics
import sys
import time

import onnxruntime


def session_ms(model: str, level: onnxruntime.GraphOptimizationLevel) -> float:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    start = time.process_time()
    onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return (time.process_time() - start) * 1e3


def main() -> None:
    model, runs = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    off, every = [], []
    for _ in range(runs):
        off.append(session_ms(model, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL))
        every.append(session_ms(model, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL))
    spent = statistics.median(every) - statistics.median(off)
    print(json.dumps({"optimiser_ms": spent, "off_ms": off, "all_ms": every, "version": onnxruntime.__version__}))


if __name__ == "__main__":
    main()
