# SPDX-License-Identifier: Apache-2.0
"""Statistics of timings: medians, intervals, quiet samples, and the share of the machine's limits that a run reaches."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

RESAMPLES = 4000
PRODUCTS = ("f32", "bf16", "int8")  # kinds of products, each with its own peak rate
ENOUGH = 5  # with fewer quiet pairs, noisy ones count too
# Of results, in standard deviations of the output, by the precision of products. Engines round to bf16 at different places; what is
# rounded to 8 bits on the way may be rounded the other way by each engine.
LARGEST_DIFFERENCE = {"f32": 2e-3, "bf16": 0.25, "int8": 0.25}


@dataclass
class Sample:
    """Consecutive runs, and the machine's peak rates (GFLOP/s, GB/s) before and after them."""

    times_ms: list[float]
    peaks: list[float]  # of f32; is_quiet() uses them
    rates: list[float]
    short_peaks: list[list[float]] = field(default_factory=lambda: [[], []])  # of the other PRODUCTS

    @property
    def median_ms(self) -> float:
        return float(np.median(self.times_ms))


@dataclass
class Pairs:
    """The rounds that a comparison of two engines uses, and whether all of them are quiet."""

    kept: list[int] = field(default_factory=list)
    quiet: bool = True


def interval(values: list[float], level: float = 0.95, seed: int = 1) -> tuple[float, float]:
    """Percentile bootstrap interval of the median (Efron, 1979). values: not empty."""
    drawn = np.random.default_rng(seed).choice(np.asarray(values), (RESAMPLES, len(values)))
    low, high = np.quantile(np.median(drawn, axis=1), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def is_quiet(peaks: list[float], best: float) -> bool:
    """Whether other load on the machine was low: the peaks differ by at most 5 % and none is below 80 % of the best one seen."""
    return min(peaks) >= 0.95 * max(peaks) and min(peaks) >= 0.8 * best


def pairs(ours: list[Sample], others: list[Sample], best: float) -> Pairs:
    """The rounds in which both samples are quiet; all rounds where fewer than ENOUGH are quiet."""
    kept = [k for k, (a, b) in enumerate(zip(ours, others)) if is_quiet(a.peaks + b.peaks, best)]
    if len(kept) >= min(ENOUGH, len(ours)):
        return Pairs(kept)
    return Pairs(list(range(min(len(ours), len(others)))), quiet=False)


def compared(ours: list[Sample], others: list[Sample], best: float) -> dict:
    """How many times as fast as the other engine Tenon is: the median of the ratios within rounds, and its interval."""
    counted = pairs(ours, others, best)
    ratios = [others[k].median_ms / ours[k].median_ms for k in counted.kept]
    low, high = interval(ratios)
    return {
        "ratio": float(np.median(ratios)),
        "low": low,
        "high": high,
        "median_ms": float(np.median([others[k].median_ms for k in counted.kept])),
        "kept": len(counted.kept),
        "tried": len(ours),
        "quiet": counted.quiet,
    }


def compute_ms(sample: Sample, flops: list[float]) -> float:
    """The time of the operations where each of PRODUCTS runs at its own peak, one after the other."""
    return sum(each / np.mean(peaks) / 1e6 for each, peaks in zip(flops, [sample.peaks, *sample.short_peaks], strict=True) if each > 0)


def short_products(samples: list[Sample], flops: list[float]) -> dict:
    """Operations and peak of each of PRODUCTS but f32 that a run has."""
    return {
        name: {"gflop": flops[k] / 1e9, "peak_gflops": float(np.median([peak for s in samples for peak in s.short_peaks[k - 1]]))}
        for k, name in enumerate(PRODUCTS)
        if k > 0 and flops[k] > 0
    }


def share(samples: list[Sample], flops: list[float], weight_bytes: float, best: float) -> dict:
    """Of the time that is needed at least (flops at the peaks, weight_bytes at the rate of memory): the median over quiet samples.
    flops: of each of PRODUCTS."""
    counted = [samples[k] for k in pairs(samples, samples, best).kept]
    compute = [compute_ms(s, flops) for s in counted]
    memory = [weight_bytes / np.mean(s.rates) / 1e6 for s in counted]
    return {
        "share": float(np.median([max(a, b) / s.median_ms for a, b, s in zip(compute, memory, counted)])),
        "bound": "compute" if np.median(compute) >= np.median(memory) else "memory",
        "median_ms": float(np.median([s.median_ms for s in counted])),
        "peak_gflops": float(np.median([peak for s in counted for peak in s.peaks])),
        "memory_gbps": float(np.median([rate for s in counted for rate in s.rates])),
    } | ({"products": short} if (short := short_products(counted, flops)) else {})


def deviation(result: np.ndarray) -> float:
    """The standard deviation, or a hundredth of the largest number where that is more: a single number has no deviation."""
    numbers = result[np.isfinite(result)]
    return max(float(numbers.std()), 0.01 * float(np.abs(numbers).max()), 1e-6) if numbers.size else 1e-6


def difference(ours: list[np.ndarray], others: list[np.ndarray]) -> float:
    """The largest over all results, in standard deviations of each; infinite where shapes, types or places without a number differ."""
    if len(ours) != len(others):
        return float("inf")
    largest = 0.0
    for a, b in zip(ours, others):
        if a.shape != b.shape or a.dtype.kind != b.dtype.kind:
            return float("inf")
        if a.dtype.kind != "f":
            largest = max(largest, 0.0 if np.array_equal(a, b) else float("inf"))
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        if same.all():
            continue
        off = np.where(same, 0.0, np.abs(a - b)).max() / deviation(a)
        largest = max(largest, float("inf") if np.isnan(off) else float(off))
    return largest


def judged(differences: dict[str, float], precision: str = "f32") -> dict:
    """The engines whose results agree with Tenon's. A row does not count where half of the other engines or more disagree."""
    unlike = sorted(name for name, off in differences.items() if not off <= LARGEST_DIFFERENCE[precision])
    return {"unlike": unlike, "counts": not unlike or 2 * len(unlike) < len(differences)}
