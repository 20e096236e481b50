# SPDX-License-Identifier: Apache-2.0
"""Plugins for test_plugin_decorator.py, in a module of their own: whoever imports it has them."""

import numpy as np
import tenon


@tenon.plugin(
    "late::Positive",
    shape=lambda x: ((tenon.sized_by_data(x[0] * x[1]),), (tenon.sized_by_data(x[0]), 3)),
    dtype=[None, "i64"],
    results=["values", "rows"],
)
def positive(x):
    rows = x.max(axis=1, initial=-1) > 0
    return x[x > 0], np.broadcast_to(np.flatnonzero(rows)[:, None], (rows.sum(), 3))


@tenon.plugin("late::Wrong", shape=lambda x: (tenon.sized_by_data(x[0]), 3))
def wrong(x, *, what: str):
    return {"dtype": lambda: x.astype(np.float64), "rank": lambda: x[0], "none": lambda: 3.5, "right": lambda: x[:2]}[what]()


@tenon.plugin("late::Out", shape=lambda x: (tenon.sized_by_data(x[0]), 3))
def into(x, *, out):
    out[:] = x


def power_of(x, *, times):
    assert x.dtype == "f32" and len(x.shape) == 2
    return "x" if times == 1 else f"Mul({'x, ' * (times - 1)}x)" if times == 2 else f"Mul({power_of(x, times=times - 1)}, x)"


@tenon.plugin("by::Power", definition=power_of, samples=["f32[2,3]; times=3", "f32[4,1]"], ranges={"times": (1, 5)})
def power(x, *, times=2):
    return x**times


@tenon.plugin(
    "by::Halves",
    results=["low", "high"],
    definition=lambda x, bias=None: (
        "graph(x: f32[n,3]) { two: f32[] = Neg(x) return x, two }"
        if bias is None
        else "graph(x: f32[n,3], bias: f32[3]) { low = Sub(x, bias) high = Add(x, bias) return low, high }"
    ),
)
def halves(x, bias=None):
    return (x, -x) if bias is None else (x - bias, x + bias)


@tenon.plugin("by::Limited", ranges={"scale": (0, 10), "shift": (-1, 1)}, choices={"mode": ["plain", "fancy"]})
def limited(x, *, scale=1.0, shift=0, mode="plain"):
    return x * np.float32(scale) + np.float32(shift)
