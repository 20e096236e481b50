# SPDX-License-Identifier: Apache-2.0
"""Measures a compiled module and eager PyTorch alternately in this process."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Any

import torch

ROUND_NS = 1_000_000  # of one of the two, at least
TOTAL_NS = 40_000_000  # of all rounds; a call that takes longer than a round has LEAST_ROUNDS
LEAST_ROUNDS, MOST_ROUNDS = 3, 12


@dataclasses.dataclass
class Times:
    """The least measured time of one call, in nanoseconds."""

    tenon_ns: float
    torch_ns: float

    @property
    def microseconds(self) -> dict[str, float]:
        return {"tenon": self.tenon_ns / 1e3, "torch": self.torch_ns / 1e3}

    @property
    def text(self) -> str:
        return f"a call was measured to take {self.tenon_ns / 1e3:.1f} us with Tenon, {self.torch_ns / 1e3:.1f} us without"


def _round_ns(call: Callable[[], Any], times: int) -> float:
    start = time.perf_counter_ns()
    for _ in range(times):
        call()
    return (time.perf_counter_ns() - start) / times


def by_turns(tenon: Callable[[], Any], eager: Callable[[], Any]) -> Times:
    """Calls both, without gradients; the state of PyTorch's random numbers is as before. Both may be called any number of times."""
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        for call in (tenon, eager):  # what the first call allocates
            call()
        first = max(_round_ns(tenon, 1), _round_ns(eager, 1))
        times = max(1, round(ROUND_NS / first))
        rounds = min(MOST_ROUNDS, max(LEAST_ROUNDS, round(TOTAL_NS / (2 * times * first))))
        seen = [(_round_ns(tenon, times), _round_ns(eager, times)) for _ in range(rounds)]
        return Times(min(t for t, _ in seen), min(e for _, e in seen))
