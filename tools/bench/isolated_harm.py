# SPDX-License-Identifier: Apache-2.0
"""Measures an isolated plugin that ends its process in every run, for plugins_bench.py: prints JSON, milliseconds until each error by
kind of harm, and how many runs behind one were wrong.

python isolated_harm.py LIBRARY TIMES
"""

import json
import os
import sys
import time

import numpy as np
import tenon
from tenon.rewriting import Graph

# As tests/plugin/fixtures/harm.c numbers them.
KINDS = {"segfault": 1001, "abort": 1002, "exit": 1003, "loop": 1004, "leak": 1005, "scribble": 1006}
TIMEOUT = 0.2


def main() -> None:
    library, times = sys.argv[1], int(sys.argv[2])
    graph = Graph.parse("graph main(x: f32[n]) { y = harm::Scaled(x) return y }", plugins=[library])
    engine = tenon.compile(graph, plugins=[library], isolate_plugins=True, plugin_timeout=TIMEOUT, plugin_memory=16 << 20)
    x = np.array([4, 1, -3], np.float32)
    right = engine.run({"x": x})["y"]
    files = len(os.listdir("/proc/self/fd"))
    taken: dict[str, list[float]] = {name: [] for name in KINDS}
    wrong = 0
    for k in range(times):
        name = list(KINDS)[k % len(KINDS)]
        start = time.perf_counter()
        try:
            engine.run({"x": np.array([KINDS[name], 1, -3], np.float32)})
            wrong += 1
        except tenon.TenonError:
            taken[name].append((time.perf_counter() - start) * 1e3)
        wrong += not np.array_equal(engine.run({"x": x})["y"], right)
    left = len(os.listdir("/proc/self/fd")) - files
    print(json.dumps({"ms": taken, "wrong": wrong, "files_left": left, "timeout_ms": TIMEOUT * 1e3}))


if __name__ == "__main__":
    main()
