# SPDX-License-Identifier: Apache-2.0
"""One case, measured: all engines by turns, the machine's limits before and after each sample, results compared first."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import figures
import numpy as np
from engines import TENON_NAME, Engine, EngineError, Work
from figures import Sample

SAMPLE_MS = 20  # at least, so that the limits beside a sample see the same weather
TRIES = 3  # rounds, for each that is wanted; and samples, until one is not disturbed
MOST_RUNS = 1000


@dataclass
class Budget:
    rounds: int = 15
    seconds: float = 90  # after which no round begins
    cold: bool = False


def started(names: list[str], work: Work, log: Callable[[str], None]) -> tuple[dict[str, Engine], dict[str, str]]:
    """The engines that run the model, and why the others do not."""
    running, failed = {}, {}
    for name in names:
        log(f"loading {name}")
        try:
            running[name] = Engine(name, work)
        except EngineError as error:
            failed[name] = str(error)
    return running, failed


def differences(engines: dict[str, Engine]) -> dict[str, float]:
    """How far the results of the others are from ours."""
    ours = engines[TENON_NAME].outputs()
    return {name: figures.difference(ours, each.outputs()) for name, each in engines.items() if name != TENON_NAME}


def runs_in_sample(engine: Engine) -> int:
    usual = statistics.median(engine.times_ms(3))
    return min(MOST_RUNS, math.ceil(SAMPLE_MS / max(usual, 1e-3)))


def sample_between(times_ms: list[float], before: list[float], after: list[float]) -> Sample:
    peaks, *short_peaks, rates = [list(both) for both in zip(before, after, strict=True)]
    return Sample(times_ms, peaks, rates, short_peaks)


def sample_of(engine: Engine, runs: int, cold: bool, limits: Engine, before: list[float]) -> tuple[Sample, list[float]]:
    """A sample, taken again where the machine was disturbed meanwhile, and the limits after it."""
    for _ in range(TRIES):
        times, after = engine.times_ms(runs, cold), limits.numbers("limits")
        sample = sample_between(times, before, after)
        if figures.is_quiet(sample.peaks, 0):
            break
        before = after
    return sample, after


def one_round(order: list[str], engines: dict[str, Engine], runs: dict[str, int], cold: bool) -> dict[str, Sample]:
    limits = engines[TENON_NAME]
    before, samples = limits.numbers("limits"), {}
    for name in order:
        samples[name], before = sample_of(engines[name], runs[name], cold, limits, before)
    return samples


def best_peak(rounds: list[dict[str, Sample]]) -> float:
    return max((peak for each in rounds for sample in each.values() for peak in sample.peaks), default=0)


def quiet_rounds(rounds: list[dict[str, Sample]]) -> int:
    best = best_peak(rounds)
    return sum(figures.is_quiet([peak for sample in each.values() for peak in sample.peaks], best) for each in rounds)


def take_rounds(engines: dict[str, Engine], budget: Budget, log: Callable[[str], None]) -> list[dict[str, Sample]]:
    """Each round begins with the next engine. Rounds go on until enough of them are quiet, or the time is up."""
    runs = {name: runs_in_sample(engine) for name, engine in engines.items()}
    names, rounds, start = list(engines), [], time.monotonic()
    while len(rounds) < TRIES * budget.rounds and quiet_rounds(rounds) < budget.rounds:
        if len(rounds) >= min(figures.ENOUGH, budget.rounds) and time.monotonic() - start > budget.seconds:
            break
        first = len(rounds) % len(names)
        rounds.append(one_round(names[first:] + names[:first], engines, runs, budget.cold))
        log(f"round {len(rounds)}, {quiet_rounds(rounds)} quiet")
    return rounds


def cache_bytes() -> int:
    """What the last cache holds; 0 where the system does not say."""
    sizes = [path.read_text().strip() for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    return max((int(size[:-1]) << {"K": 10, "M": 20}[size[-1]] for size in sizes), default=0)


def from_memory(weight_bytes: float, cold: bool) -> float:
    """The bytes of weights that a run must fetch: none where they all stay in the last cache."""
    return weight_bytes if cold or weight_bytes > cache_bytes() else 0


def row_of(engines: dict[str, Engine], rounds: list[dict[str, Sample]], cold: bool) -> dict:
    """The figures of a case: our share of the machine's limit, and the ratio to each other engine and to the best one."""
    best = best_peak(rounds)
    ours = [each[TENON_NAME] for each in rounds]
    *flops, weight_bytes = engines[TENON_NAME].numbers("work")
    row = figures.share(ours, flops, from_memory(weight_bytes, cold), best) | {
        "gflop": sum(flops) / 1e9,
        "weights_mb": weight_bytes / 1e6,
        "vs": {},
    }
    for name, engine in engines.items():
        if name != TENON_NAME:
            row["vs"][name] = figures.compared(ours, [each[name] for each in rounds], best) | {"version": engine.version}
    return row


def with_those_that_last(engines: dict[str, Engine], failed: dict[str, str], call: Callable[[], object]) -> object:
    """What the call gives, once more without each other engine that ends in it."""
    while True:
        try:
            return call()
        except EngineError as error:
            if error.engine == TENON_NAME:
                raise
            failed[error.engine] = str(error)
            engines.pop(error.engine).end()


def measure(names: list[str], work: Work, budget: Budget, log: Callable[[str], None]) -> dict:
    """Errors: EngineError, where Tenon does not run the model."""
    engines, failed = started([TENON_NAME, *names], work, log)
    try:
        if TENON_NAME in failed:
            raise EngineError(TENON_NAME, failed[TENON_NAME])
        log("comparing results")
        off = with_those_that_last(engines, failed, lambda: differences(engines))
        judged = figures.judged(off, work.precision)
        for name in judged["unlike"] if judged["counts"] else []:
            engines.pop(name).end()
        row = row_of(engines, with_those_that_last(engines, failed, lambda: take_rounds(engines, budget, log)), budget.cold)
    finally:
        for engine in engines.values():
            engine.end()
    row |= judged | {
        "failed": failed,
        "largest_difference": {name: value if math.isfinite(value) else "inf" for name, value in off.items()},
    }
    row["best"] = min(row["vs"], key=lambda name: row["vs"][name]["median_ms"], default=None)
    return row


def with_inputs(arrays: dict[str, np.ndarray], measured: Callable[[Path], dict]) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "inputs.npz"
        np.savez(file, **arrays)
        return measured(file)
