# SPDX-License-Identifier: Apache-2.0
"""What is measured decides between Tenon and eager PyTorch. The times are made up here."""

import copy
import logging

import pytest

torch = pytest.importorskip("torch")
import tenon.torch  # noqa: E402
from networks import Block, Counter, Function, run  # noqa: E402
from tenon.torch import ahead, eager, measure  # noqa: E402
from tenon.torch.dynamo import backend  # noqa: E402

CLOSE = {"rtol": 1e-4, "atol": 1e-5}
X = torch.randn(2, 5, 16)


@pytest.fixture
def times(monkeypatch):
    """Sets what is measured: after times(a, b) Tenon takes a ns, PyTorch b. Returns how often it was requested."""
    torch._dynamo.reset()
    asked: list[int] = []

    def set_times(tenon_ns: float, torch_ns: float) -> list[int]:
        def by_turns(ours, theirs) -> measure.Times:
            asked.append(1)
            ours(), theirs()
            return measure.Times(tenon_ns, torch_ns)

        for module in (ahead, eager):
            monkeypatch.setattr(module, "by_turns", by_turns)
        return asked

    return set_times


def reasons(report: dict) -> set[str]:
    return {r["text"] for n in report["nodes"] for r in n["reasons"]}


def test_a_module_that_is_slower_is_left_to_eager(times):
    times(2e6, 1e6)
    with pytest.warns(UserWarning, match="no op of the module runs in Tenon"):
        compiled = tenon.torch.compile(Block().eval(), inputs=[X])
    assert not compiled.segments and compiled.report["measured_us"] == {"tenon": 2000, "torch": 1000}
    assert reasons(compiled.report) == {"a call was measured to take 2000.0 us with Tenon, 1000.0 us without"}


def test_a_module_that_is_faster_runs_in_tenon(times):
    times(1e6, 2e6)
    compiled = tenon.torch.compile(Block().eval(), inputs=[X])
    assert len(compiled.segments) == 1 and compiled.report["measured_us"] == {"tenon": 1000, "torch": 2000}
    (segment,) = compiled.report["segments"]
    assert segment["backend"] == "tenon" and 0 < segment["guessed_us"]["tenon"] < segment["guessed_us"]["torch"]


@pytest.mark.parametrize(
    "decision", [{"min_block_size": 1}, {"require_full_compilation": True}, {"pins": {"gelu": "tenon"}}, {"measure": False}]
)
def test_what_the_user_decides_is_not_measured(times, decision):
    asked = times(2e6, 1e6)
    assert tenon.torch.compile(Block().eval(), inputs=[X], **decision).segments and not asked


def compiled_calls(module, reports: list, **more):
    return torch.compile(module, backend=backend, options={"on_report": reports.append}, **more)


def test_a_piece_that_is_slower_is_left_to_eager(times):
    """Above the time that guards may take, the piece is looked at again for other sizes."""
    times(2e9, 1e9)
    module, reports = Block().eval(), []
    fast = compiled_calls(module, reports)
    for batch in (2, 3):
        x = torch.randn(batch, 5, 16)
        torch.testing.assert_close(run(fast, x), run(module, x))
    assert len(reports) == 2
    assert all(r["segments"][0]["backend"] == "torch" and r["measured_us"]["torch"] == 1e6 for r in reports)


def test_a_short_piece_is_left_without_guards(times):
    """Dynamo skips the function from then on."""
    asked = times(30_000, 20_000)
    module, reports = Function(lambda x: torch.relu(x * 2 + 1).exp().sin().cos().tanh() - 1), []
    fast = compiled_calls(module, reports)
    for batch in (2, 3):
        x = torch.randn(batch, 4)
        torch.testing.assert_close(run(fast, x), run(module, x))
    first = len(asked)
    run(fast, torch.randn(9, 9))
    assert len(asked) == first > 0


def test_a_short_piece_keeps_its_guards_under_fullgraph(times):
    times(30_000, 20_000)
    module, reports = Block().eval(), []
    torch.testing.assert_close(run(compiled_calls(module, reports, fullgraph=True), X), run(module, X))
    assert len(reports) == 1


def test_guards_count_where_they_can_be_left_out(times):
    """Tenon alone takes less time than PyTorch, with guards it takes more."""
    times(18_000, 20_000)
    module, reports = Block().eval(), []
    run(compiled_calls(module, reports), X)
    assert reports[0]["segments"][0]["backend"] == "torch"


def test_measuring_writes_to_nothing(times):
    """Neither to inputs and buffers, nor to the state of random numbers."""
    times(1e6, 2e6)
    module, reports = Counter().eval(), []
    other, state = copy.deepcopy(module), torch.random.get_rng_state()
    fast = compiled_calls(module, reports)
    x = torch.randn(2, 4)
    torch.random.set_rng_state(state)
    y = x.clone()
    torch.testing.assert_close(run(fast, x), run(other, y), **CLOSE)
    torch.testing.assert_close((x, module.seen), (y, other.seen))
    assert torch.equal(torch.random.get_rng_state(), state)


def test_times_are_the_least_of_rounds_by_turns():
    calls: list[str] = []
    times = measure.by_turns(lambda: calls.append("tenon"), lambda: calls.append("torch"))
    assert times.tenon_ns > 0 and times.torch_ns > 0 and calls[:2] == ["tenon", "torch"] and calls.count("tenon") == calls.count("torch")


def test_modules_that_need_gradients_warn_once(caplog):
    compiled = tenon.torch.compile(Block().eval(), inputs=[X], min_block_size=1)
    with caplog.at_level(logging.WARNING), torch.no_grad():
        compiled(X)
    assert "gradients" not in caplog.text
    with caplog.at_level(logging.WARNING):
        compiled(X)
        compiled(X)
    assert caplog.text.count("gradients are wanted") == 1


def test_modules_that_need_no_gradients_do_not_warn(caplog):
    compiled = tenon.torch.compile(Block().eval().requires_grad_(False), inputs=[X], min_block_size=1)
    with caplog.at_level(logging.WARNING):
        compiled(X)
    assert "gradients" not in caplog.text
