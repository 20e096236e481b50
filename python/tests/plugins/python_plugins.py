# SPDX-License-Identifier: Apache-2.0
"""Plugins for test_plugins.py, in a module of their own: whoever imports it has them."""

import sys

import numpy as np
import tenon


@tenon.plugin("acme::Swish", definition="Mul(x, Sigmoid(Mul(x, beta)))")
def swish(x, *, beta=1.0):
    """x * sigmoid(beta * x)"""
    return x / (1 + np.exp(-beta * x))


@tenon.plugin("py::Everything", shape=lambda a, b, *rest: ((*a[:-1], a[-1] * 2), (3,)), dtype=[None, "i64"], results=["y", "seen"])
def everything(a, b=None, *rest, scale=2.0, times=3, mode="plain", weights=(1.0, 2.0), flag=True, maybe: int | None = None, needed: int):
    report = [scale, times, mode, weights, flag, needed]
    assert [type(v) for v in report] == [float, int, str, tuple, bool, int]
    y = np.concatenate([a * np.float32(scale)] * 2, axis=-1) + np.float32(sum(weights))
    return y, np.array([-1 if b is None else b.size, len(rest), needed + times + flag + len(mode) + (maybe or 0)])


@tenon.plugin("py::Into")
def into(x, *, out):
    np.add(x, 1, out=out)


@tenon.plugin("py::Copied")
def copied(x, *, what: str):
    return {
        "transposed": lambda: np.asfortranarray(x),
        "same": lambda: x,
        "f64": lambda: x.astype(np.float64),
        "flat": lambda: x.ravel(),
        "none": lambda: None,
        "written": lambda: x.__setitem__(0, 1),
        "raised": lambda: (_ for _ in ()).throw(ValueError("no such axis")),
        "exit": lambda: sys.exit(3),
        "big": lambda: x.astype(">f4"),
    }[what]()


kept = []


@tenon.plugin("py::Keeps")
def keeps(x):
    kept.append(x[:1])
    return x + 0


@tenon.plugin("py::Circle")
def circle(x):
    def inner(depth):
        return x + 1 if depth == 0 else inner(depth - 1)

    return inner(2)


@tenon.plugin("py::Pairs", shape=lambda x: (x[0].ceil_div(2) if not isinstance(x[0], int) else -(-x[0] // 2), x[1]))
def pairs(x):
    return np.add.reduceat(x, np.arange(0, len(x), 2), axis=0)
