# SPDX-License-Identifier: Apache-2.0
"""Sizes that vary."""

import pytest

torch = pytest.importorskip("torch")
import tenon.torch  # noqa: E402
from networks import run  # noqa: E402
from torch.export import Dim  # noqa: E402

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


class Halves(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 1)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        return x[:, :, : x.shape[2] // 2] * 2, x.reshape(x.shape[0], -1), x + x.shape[3]


class Shifted(torch.nn.Module):
    def forward(self, x, y):
        return torch.relu(torch.cat([x, y], 0)[1:] + 1).view(-1, 2)


TWICE = {"x": {0: Dim("b", min=1, max=8), 2: 2 * Dim("h", min=4, max=32), 3: 2 * Dim("w", min=4, max=32)}}
MORE = {"x": {0: Dim("n", min=2, max=9)}, "y": {0: Dim("n", min=2, max=9) + 1}}
CASES = [
    (Halves(), TWICE, [(4, 3, 64, 32)], [(2, 3, 20, 12)]),
    (torch.nn.Conv2d(3, 4, 3, stride=2, padding=1), {"input": TWICE["x"]}, [(4, 3, 64, 32)], [(2, 3, 20, 12)]),
    (Shifted(), MORE, [(4, 2), (5, 2)], [(6, 2), (7, 2)]),
]


@pytest.mark.parametrize(("module", "dynamic_shapes", "first", "second"), CASES)
def test_sizes_that_are_no_input_s_own(module, dynamic_shapes, first, second):
    """An input is twice as high as something that no input has as a size; saved programs know it too."""
    given, others = ([torch.randn(s) for s in shapes] for shapes in (first, second))
    compiled = tenon.torch.compile(module.eval(), inputs=given, dynamic_shapes=dynamic_shapes, min_block_size=1)
    exported = torch.export.export(compiled, tuple(given), dynamic_shapes=(tuple(dynamic_shapes.values()),)).module()
    for x in (given, others):
        torch.testing.assert_close(compiled(*x), run(module, *x), **CLOSE)
        torch.testing.assert_close(exported(*x), run(module, *x), **CLOSE)
    assert [s.builds for s in compiled.segments.values()] == [1] * len(compiled.segments)


class Named(torch.nn.Module):
    def forward(self, x, pair, *, scale, shift=None):
        return torch.relu(x * scale).sum(0) + pair[0].sum() + pair[1].sum(0) + shift.mean(0)


def test_ranges_of_named_inputs():
    def rows(least, most):
        return tenon.torch.Input(min_shape=(least, 4), opt_shape=(3, 4), max_shape=(most, 4))

    compiled = tenon.torch.compile(
        Named(), inputs=[rows(1, 8), (torch.ones(2), rows(2, 5))], kwargs={"scale": torch.ones(4), "shift": rows(1, 16)}, min_block_size=1
    )
    for sizes in ((1, 2, 16), (8, 5, 3)):
        x, y, z = (torch.randn(n, 4) for n in sizes)
        given, named = (x, (torch.ones(2), y)), {"scale": torch.randn(4), "shift": z}
        torch.testing.assert_close(compiled(*given, **named), Named()(*given, **named), **CLOSE)
    with pytest.raises(tenon.TenonError, match="exported for others"):
        compiled(torch.randn(9, 4), (torch.ones(2), torch.randn(2, 4)), scale=torch.ones(4), shift=torch.ones(2, 4))


@pytest.mark.parametrize(("least", "most"), [(1, 2), (0, 1), (0, 2), (2, 3)])
def test_ranges_of_few_sizes(least, most):
    module = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Sigmoid())
    given = tenon.torch.Input(min_shape=(least, 4), max_shape=(most, 4))
    compiled = tenon.torch.compile(module, inputs=[given], min_block_size=1)
    for size in range(least, most + 1):
        x = torch.randn(size, 4)
        torch.testing.assert_close(compiled(x), module(x))


def test_inputs_have_the_type_of_the_weights():
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).double().eval()
    compiled = tenon.torch.compile(module, inputs=[tenon.torch.Input((2, 4))], min_block_size=1)
    x = torch.randn(2, 4, dtype=torch.float64)
    torch.testing.assert_close(compiled(x), run(module, x))
