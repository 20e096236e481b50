# SPDX-License-Identifier: Apache-2.0
"""Plugins that are functions over tensors of PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
import tenon  # noqa: E402
from tenon.rewriting import Graph  # noqa: E402

X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
kept = []


@tenon.plugin("torch_test::Gelu", arrays="torch", definition="Mul(Mul(x, 0.5), Add(Erf(Div(x, 1.4142135)), 1))")
def gelu(x):
    return torch.nn.functional.gelu(x)


@tenon.plugin("torch_test::Into", arrays="torch")
def into(x, *, out):
    torch.mul(x, 2, out=out)


@tenon.plugin("torch_test::Wrong", arrays="torch")
def wrong(x):
    return x.double()


@tenon.plugin("torch_test::Keeps", arrays="torch")
def keeps(x):
    kept.append(x[:1])
    return x + 1


@tenon.plugin("torch_test::Shared")
def shared(x):
    return torch.from_dlpack(x.copy()).mul(2).t().contiguous().t()


def answer(op: str, x, dtype: str = "f32", out=None):
    graph = Graph.parse(f"graph main(x: {dtype}[n,3]) {{ y = torch_test::{op}(x) return y }}")
    return tenon.compile(graph).run({"x": x}, out=out)["y"]


def test_tensors_of_pytorch_go_in_and_come_out():
    for x in (X, X[:1], X[:0]):
        np.testing.assert_allclose(answer("Gelu", x), torch.nn.functional.gelu(torch.from_numpy(x)).numpy(), atol=1e-6)
        np.testing.assert_array_equal(answer("Into", x), 2 * x)
        np.testing.assert_array_equal(answer("Shared", x), 2 * x)


def test_bfloat16():
    x = torch.from_numpy(X).bfloat16()
    y = torch.empty_like(x)
    assert answer("Into", x, "bf16", {"y": y}) is y
    assert torch.equal(y, x * 2)
    y = answer("Into", x, "bf16")  # an array of ml_dtypes, or a DLPack capsule where that is not installed
    y = torch.from_numpy(y.view(np.uint16)).view(torch.bfloat16) if isinstance(y, np.ndarray) else torch.from_dlpack(y)
    assert torch.equal(y, x * 2)


def test_what_is_wrong_is_reported():
    with pytest.raises(tenon.TenonError, match=r"result 'y' is torch.float64 torch.Size\(\[4, 3\]\), and not torch.float32 \(4, 3\)"):
        answer("Wrong", X)
    with pytest.raises(tenon.TenonError, match="it has to copy what it keeps"):
        answer("Keeps", X)
