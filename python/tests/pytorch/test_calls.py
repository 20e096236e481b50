# SPDX-License-Identifier: Apache-2.0
"""Calls of what is compiled, over and over."""

import copy

import pytest

torch = pytest.importorskip("torch")
import tenon.torch  # noqa: E402
from networks import Block, Images, Sums, run  # noqa: E402

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def reasons(report: dict) -> set[str]:
    return {r["code"] for n in report["nodes"] for r in n["reasons"]}


@pytest.mark.parametrize("module", [torch.nn.ReLU(), torch.nn.Linear(4, 4), torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())])
def test_modules_too_small_for_a_call_are_left_to_eager(module):
    """With that reason; then it is the module itself that is called."""
    x, calls = torch.randn(2, 4), []
    with pytest.warns(UserWarning, match="no op of the module runs in Tenon"):
        compiled = tenon.torch.compile(module.eval(), inputs=[x])
    assert reasons(compiled.report) == {"does_not_pay"} and not compiled.segments
    module.register_forward_hook(lambda *_: calls.append(1))
    torch.testing.assert_close(compiled(x), run(module, x))
    assert len(calls) == 2


@pytest.mark.parametrize(("make", "shape"), [(Block, (2, 5, 16)), (Images, (2, 3, 12, 12))])
def test_modules_that_pay_are_compiled(make, shape):
    compiled = tenon.torch.compile(make().eval(), inputs=[torch.randn(shape)], measure=False)
    assert len(compiled.segments) == 1 and reasons(compiled.report) == {"chosen"}


def test_a_large_op_alone_does_not_pay():
    """It is memory that takes the time, in both."""
    report = tenon.torch.compile(torch.nn.GELU(), inputs=[torch.zeros(1 << 20)], dryrun=True)
    assert reasons(report) == {"does_not_pay"}
    chain = torch.nn.Sequential(*[torch.nn.GELU() for _ in range(4)])
    assert reasons(tenon.torch.compile(chain, inputs=[torch.zeros(1 << 20)], dryrun=True)) == {"chosen"}


def test_what_is_left_to_eager_follows_no_later_training():
    module, x = torch.nn.Dropout(0.5).eval(), torch.ones(64)
    compiled = tenon.torch.compile(torch.nn.Sequential(module).eval(), inputs=[x])
    compiled._left[0].train()
    torch.testing.assert_close(compiled(x), x)


def test_a_parameter_that_another_takes_the_place_of():
    module, x = Sums().eval(), torch.randn(3, 4)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1)
    compiled(x)
    other = Sums().eval()
    compiled.program.load_state_dict(other.state_dict(), assign=True)
    torch.testing.assert_close(compiled(x), run(other, x), **CLOSE)


def test_copies_call_their_own_segments():
    module, x = Sums().eval(), torch.randn(3, 4)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1)
    compiled(x)
    other = copy.deepcopy(compiled)
    expected = compiled(x)
    with torch.no_grad():
        compiled.program.first.weight.zero_()
    compiled(x)
    torch.testing.assert_close(other(x), expected, **CLOSE)


class Trees(torch.nn.Module):
    def forward(self, x, pair, *, more):
        return {"a": torch.relu(x + pair[0]) * 2, "b": (pair[1] * more["c"], [x])}


def test_arguments_in_trees():
    x, y, z, c = (torch.randn(3, 4) for _ in range(4))
    compiled = tenon.torch.compile(Trees(), inputs=[x, (y, z)], kwargs={"more": {"c": c}}, min_block_size=1)
    for _ in range(2):
        torch.testing.assert_close(compiled(x, (y, z), more={"c": c}), Trees()(x, (y, z), more={"c": c}), **CLOSE)


def test_types_and_layouts_of_inputs():
    """As they lie where they are dense, else copied; bfloat16, which NumPy lacks, too."""
    module = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Sigmoid())
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        for x in (torch.randn(4, 6), torch.randn(6, 4).t(), torch.randn(8, 12)[::2, ::2], torch.randn(1, 6).expand(4, 6)):
            given = x.to(dtype)
            compiled = tenon.torch.compile(module, inputs=[given], min_block_size=1)
            torch.testing.assert_close(compiled(given), module(given), rtol=1e-2, atol=1e-2)
