# SPDX-License-Identifier: Apache-2.0
"""Runs a second of 1, 2, ... threads that call one engine: contexts_worker.py ENGINE INPUTS THREADS TURNS SECONDS CALLERS...

A line a turn, with a number for each of CALLERS.
"""

import sys
import threading
import time

import numpy as np
import tenon


def throughput(engine: tenon.Engine, feeds: dict[str, np.ndarray], callers: int, threads: int, seconds: float) -> float:
    counts, begun = [0] * callers, threading.Barrier(callers + 1)

    def call(caller: int) -> None:
        engine.run(feeds, threads=threads)  # its context and its memory
        begun.wait()
        while time.perf_counter() < end:
            engine.run(feeds, threads=threads)
            counts[caller] += 1

    end = float("inf")
    running = [threading.Thread(target=call, args=(caller,)) for caller in range(callers)]
    for each in running:
        each.start()
    begun.wait()
    start = time.perf_counter()
    end = start + seconds  # which the callers read before each run
    for each in running:
        each.join()
    return sum(counts) / (time.perf_counter() - start)


def main() -> None:
    file, inputs, threads, turns, seconds, *callers = sys.argv[1:]
    engine = tenon.load(file)
    with np.load(inputs) as archive:
        feeds = {name: archive[name] for name in archive.files}
    for _ in range(int(turns)):
        print(*[throughput(engine, feeds, int(each), int(threads), float(seconds)) for each in callers], flush=True)


if __name__ == "__main__":
    main()
