# SPDX-License-Identifier: Apache-2.0
"""Times nodes of plugins that are written in Python, for plugins_bench.py: prints JSON, nanoseconds a call over the bare function."""

import json
import sys
import time
from collections.abc import Callable

import numpy as np
import tenon
from tenon.rewriting import Graph

TURNS, MORE, CALLS = 9, 100, 200


@tenon.plugin("bench::Into")
def into(x, *, out):
    pass


@tenon.plugin("bench::Given")
def given(x):
    return x


def engine(op: str, nodes: int) -> tenon.Engine:
    lines = [f"v{k + 1} = bench::{op}(v{k})" for k in range(nodes)]
    return tenon.compile(Graph.parse("graph main(v0: f32[64]) {\n" + "\n".join(lines) + f"\nreturn v{nodes}\n}}"), opt=0)


def ns(call: Callable[[], object]) -> float:
    start = time.perf_counter_ns()
    for _ in range(CALLS):
        call()
    return (time.perf_counter_ns() - start) / CALLS


def over(op: str, bare: Callable[[np.ndarray], object]) -> list[float]:
    x = np.ones(64, np.float32)
    one, many = engine(op, 1), engine(op, 1 + MORE)
    times = []
    for _ in range(TURNS):
        nodes = [ns(lambda e=e: e.run({"v0": x}, threads=1)) for e in (one, many)]
        times.append((nodes[1] - nodes[0]) / MORE - ns(lambda: bare(x)))
    return times


if __name__ == "__main__":
    y = np.ones(64, np.float32)
    json.dump({"into": over("Into", lambda x: into(x, out=y)), "given": over("Given", given)}, sys.stdout)
