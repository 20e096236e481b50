# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers and cells against eager PyTorch."""

import pytest

torch = pytest.importorskip("torch")
import tenon.torch  # noqa: E402
from networks import run  # noqa: E402
from tenon.torch.dynamo import backend  # noqa: E402
from torch import nn  # noqa: E402

CLOSE = {"rtol": 1e-4, "atol": 1e-5}
KINDS = {"LSTM": nn.LSTM, "GRU": nn.GRU, "RNN": nn.RNN, "RNN of relu": lambda *a, **k: nn.RNN(*a, nonlinearity="relu", **k)}
LAYERS = {
    "one": {},
    "without bias": {"bias": False},
    "both ways": {"bidirectional": True},
    "two": {"num_layers": 2, "dropout": 0.5},
    "two, both ways, batch first": {"num_layers": 2, "bidirectional": True, "batch_first": True},
}


def full(module, *given):
    return tenon.torch.compile(module.eval(), inputs=given, require_full_compilation=True)


@pytest.mark.parametrize("layers", LAYERS)
@pytest.mark.parametrize("kind", KINDS)
def test_layers(kind, layers):
    """In evaluation no dropout is random, whatever its probability."""
    module, x = KINDS[kind](4, 6, **LAYERS[layers]).eval(), torch.randn(5, 3, 4)
    torch.testing.assert_close(full(module, x)(x), run(module, x), **CLOSE)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_states_are_given(kind):
    module, x, h = KINDS[kind](4, 6, 2).eval(), torch.randn(5, 3, 4), torch.randn(2, 3, 6)
    state = (h, torch.randn(2, 3, 6)) if kind == "LSTM" else h
    torch.testing.assert_close(full(module, x, state)(x, state), run(module, x, state), **CLOSE)


@pytest.mark.parametrize("cell", [nn.LSTMCell, nn.GRUCell, nn.RNNCell, lambda *a: nn.RNNCell(*a, nonlinearity="relu")])
def test_cells(cell):
    module, x, h = cell(4, 6), torch.randn(3, 4), torch.randn(3, 6)
    state = (h, torch.randn(3, 6)) if isinstance(module, nn.LSTMCell) else h
    torch.testing.assert_close(full(module, x, state)(x, state), run(module, x, state), **CLOSE)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_any_batch(kind):
    """The length is a number to torch.export, which unrolls the layer."""
    module = KINDS[kind](4, 6, batch_first=True, bidirectional=True).eval()
    sizes = tenon.torch.Input(min_shape=(1, 5, 4), opt_shape=(3, 5, 4), max_shape=(8, 5, 4))
    compiled = tenon.torch.compile(module, inputs=[sizes], require_full_compilation=True)
    for batch in (1, 3, 8):
        x = torch.randn(batch, 5, 4)
        torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)
    assert [s.builds for s in compiled.segments.values()] == [1]


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_torch_compile_takes_them_where_dynamo_traces_them(kind):
    torch._dynamo.reset()
    module, x, reports = KINDS[kind](4, 6, 2, bidirectional=True).eval(), torch.randn(5, 3, 4), []
    with torch._dynamo.config.patch(allow_rnn=True):
        fast = torch.compile(module, backend=backend, options={"require_full_compilation": True, "on_report": reports.append})
        torch.testing.assert_close(run(fast, x), run(module, x), **CLOSE)
    assert [r["accelerated_share"] for r in reports] == [1]


def test_dropout_that_drops_is_random():
    module = nn.LSTM(4, 6, 2, dropout=0.5).train()
    report = tenon.torch.compile(module, inputs=[torch.randn(5, 3, 4)], min_block_size=1, dryrun=True)
    assert next(r for r in report["nodes"] if r["op"] == "lstm.input")["reasons"][0]["text"] == "it is random, or may be"


def test_a_projection_is_left_to_eager():
    module, x = nn.LSTM(4, 6, proj_size=2).eval(), torch.randn(5, 3, 4)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1)
    torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)
    assert "projection" in next(r for r in compiled.report["nodes"] if r["op"] == "lstm.input")["reasons"][0]["text"]
