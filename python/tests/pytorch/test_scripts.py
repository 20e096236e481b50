# SPDX-License-Identifier: Apache-2.0
"""TorchScript modules."""

import pytest

torch = pytest.importorskip("torch")
import tenon.torch  # noqa: E402
from networks import run  # noqa: E402

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def test_scripts_with_branches():
    """Loops of known length are written out, branches are PyTorch's."""

    class Branches(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)

        def forward(self, x):
            y = self.linear(x)
            if bool(y.sum() > 0):
                y = torch.relu(y) + 1
            else:
                y = torch.exp(y) * 2
            for k in range(3):
                y = y * float(k + 1)
            return y

    module = Branches().eval()
    compiled = tenon.torch.compile(torch.jit.script(module), inputs=[torch.randn(3, 4)], min_block_size=1)
    assert [s["backend"] for s in compiled.report["segments"]].count("tenon") == 2
    for sign in (1, -1):
        x = sign * torch.linspace(1, 2, 12).view(3, 4)
        torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)


class Nested(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x + 1, [x * 2, x * 3], ({"a": x}, (x.size(0), None))


class OfLists(torch.nn.Module):
    def forward(self, z: list[torch.Tensor], scale: float = 2.0):
        return (torch.relu(z[0]) * scale + z[1],)


def test_results_are_tuples_where_the_script_makes_tuples():
    x = torch.randn(3, 4)
    made = tenon.torch.compile(torch.jit.script(Nested()), inputs=[x], min_block_size=1)(x)
    expected = Nested()(x)
    torch.testing.assert_close(made, expected)
    assert type(made) is tuple and type(made[1]) is list and type(made[2]) is type(made[2][1]) is tuple and made[2][1] == (3, None)


@pytest.mark.parametrize("given", [[], [torch.zeros(2)], [[torch.zeros(2)] * 2, 1.0, 3], [[3.0, 4.0], 1.0], [[torch.zeros(2)] * 2]])
def test_inputs_that_a_script_does_not_take_are_an_error(given):
    """PyTorch's converter would read past them."""
    with pytest.raises(tenon.TenonError) as raised:
        tenon.torch.compile(torch.jit.script(OfLists()), inputs=given, min_block_size=1)
    assert (raised.value.code, raised.value.place) == ("bad_usage", "inputs") and "z: List[Tensor]" in raised.value.expected


def test_lists_of_tensors():
    z = [torch.randn(3), torch.randn(3)]
    compiled = tenon.torch.compile(torch.jit.script(OfLists()), inputs=[z, 3.0], min_block_size=1)
    torch.testing.assert_close(compiled(z, 3.0), OfLists()(z, 3.0), **CLOSE)
