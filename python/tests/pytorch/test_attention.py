# SPDX-License-Identifier: Apache-2.0
"""Attention in every form of mask, rank and head count, exported and by torch.compile, against eager PyTorch."""

import pytest

torch = pytest.importorskip("torch")
import tenon.torch  # noqa: E402
from networks import Function  # noqa: E402
from tenon.torch.dynamo import backend  # noqa: E402
from torch.nn import functional as F  # noqa: E402

CLOSE = {"rtol": 1e-4, "atol": 1e-5}
ROADS = ["export", "torch.compile"]


def f(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def compiled(function, given, road: str):
    """By one of the roads, with all that does work in Tenon."""
    if road == "export":
        return tenon.torch.compile(Function(function), inputs=given, require_full_compilation=True)
    torch._dynamo.reset()
    return torch.compile(Function(function), backend=backend, options={"require_full_compilation": True})


def check(function, given, road: str):
    with torch.no_grad():
        torch.testing.assert_close(compiled(function, given, road)(*given), function(*given), **CLOSE)


def left_padded(queries: int, keys: int, hidden: int) -> torch.Tensor:
    """A causal mask whose first columns are hidden in the first of two batches: its first rows have no key."""
    mask = torch.ones(2, 1, queries, keys, dtype=torch.bool).tril(keys - queries)
    mask[0, :, :, :hidden] = False
    return mask


BOOL = left_padded(5, 5, 3)
MASKS = {
    "bool": BOOL,
    "float": torch.zeros(2, 1, 5, 5).masked_fill(~BOOL, -torch.inf),
    "all hidden": torch.zeros(5, 5, dtype=torch.bool),
    "one for all columns": torch.tensor([True, False, True, True, False])[:, None],
    "lowest number": torch.zeros(2, 1, 5, 5).masked_fill(~BOOL, torch.finfo(torch.float32).min),
}


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("name", MASKS)
def test_rows_without_keys_are_zero(name, road):
    q, k, v = f(2, 2, 5, 4), f(2, 2, 5, 4) + 1, f(2, 2, 5, 6)
    check(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m), [q, k, v, MASKS[name]], road)


@pytest.mark.parametrize("road", ROADS)
def test_rows_without_keys_are_zero_in_the_math_form(road):
    def function(q, m):
        return torch.ops.aten._scaled_dot_product_attention_math(q, q, q, m)[0]

    check(function, [f(2, 2, 5, 4), MASKS["float"]], road)


def test_safe_softmax_is_zero_where_a_row_is_minus_infinity():
    inf, nan = torch.inf, torch.nan
    x = torch.tensor([[-inf, -inf, -inf], [nan, -inf, 1], [1, 2, inf], [-inf, nan, -inf], [1, 2, -inf]])
    for dim in (0, 1):
        made = compiled(lambda x, d=dim: torch.ops.aten._safe_softmax(x, d) * 1, [x], "export")(x)
        torch.testing.assert_close(made, torch.ops.aten._safe_softmax(x, dim), equal_nan=True)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("masked", [False, True, "causal"])
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_keys_and_values_of_fewer_heads(kv_heads, masked, road):
    q, k, v = f(2, 4, 5, 8), f(2, kv_heads, 5, 8), f(2, kv_heads, 5, 6)
    if masked is True:
        check(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, enable_gqa=True), [q, k, v, BOOL], road)
    else:
        causal = masked == "causal"
        check(lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True), [q, k, v], road)


def repeated(x: torch.Tensor, count: int) -> torch.Tensor:
    """As transformers writes it."""
    batch, heads, length, size = x.shape
    return x[:, :, None].expand(batch, heads, count, length, size).reshape(batch, heads * count, length, size)


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("repeat", [repeated, lambda x, count: x.repeat_interleave(count, 1)])
def test_heads_that_are_repeated_before(repeat, road):
    def function(q, k):
        k = repeat(k, 2)
        return F.scaled_dot_product_attention(q, k, k, is_causal=True)

    check(function, [f(2, 4, 5, 8), f(2, 2, 5, 8)], road)


SHAPES = {
    "matrices": ((5, 4), (6, 4), (6, 3), (5, 6)),
    "three axes": ((2, 5, 4), (2, 6, 4), (2, 6, 3), (2, 5, 6)),
    "three axes, one mask": ((2, 5, 4), (2, 6, 4), (2, 6, 3), (5, 6)),
    "five axes": ((3, 2, 2, 5, 4), (3, 2, 2, 6, 4), (3, 2, 2, 6, 3), (3, 1, 2, 5, 6)),
    "five axes, one mask": ((3, 2, 2, 5, 4), (3, 2, 2, 6, 4), (3, 2, 2, 6, 3), (5, 6)),
    "one batch of keys": ((3, 2, 5, 4), (1, 2, 6, 4), (1, 2, 6, 4), (3, 1, 5, 6)),
    "one row of a mask": ((2, 2, 5, 4), (2, 2, 6, 4), (2, 2, 6, 4), (2, 1, 1, 6)),
}


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("name", SHAPES)
def test_operands_of_other_ranks(name, road):
    given = [f(*shape) for shape in SHAPES[name]]
    check(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m, scale=0.3), given, road)
    check(lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, attn_mask=m > 0), given, road)


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_any_batch(rank):
    given = [f(*[3, 2, 2][: rank - 2], 5, 4), f(*[3, 2, 2][: rank - 2], 6, 4)]
    module = Function(lambda q, k: F.scaled_dot_product_attention(q, k, k))
    sizes = ({0: torch.export.Dim.DYNAMIC}, {0: torch.export.Dim.DYNAMIC, rank - 2: torch.export.Dim.DYNAMIC})
    fast = tenon.torch.compile(module, inputs=given, dynamic_shapes=(sizes,), require_full_compilation=True)
    for batch, keys in ((2, 3), (4, 6), (7, 2)):
        q, k = f(batch, *given[0].shape[1:]), f(batch, *[2, 2][: rank - 3], keys, 4)
        torch.testing.assert_close(fast(q, k), module(q, k), **CLOSE)
    assert [s.builds for s in fast.segments.values()] == [1]
