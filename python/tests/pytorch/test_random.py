# SPDX-License-Identifier: Apache-2.0
"""Random modules, with random ops forced to PyTorch, at several sizes, against eager."""

import random

import pytest

torch = pytest.importorskip("torch")
import tenon.torch  # noqa: E402
from networks import exported  # noqa: E402
from torch.nn import functional as F  # noqa: E402

# Functions of tensors [batch, 4] and [batch, 4] to one such.
STEPS = {
    "aten::relu": lambda a, b: F.relu(a),
    "aten::add": lambda a, b: a + b,
    "aten::mul": lambda a, b: a * 0.5 * b,
    "aten::sigmoid": lambda a, b: torch.sigmoid(a),
    "aten::softmax": lambda a, b: F.softmax(a, -1),
    "aten::layer_norm": lambda a, b: F.layer_norm(a, (4,)),
    "aten::matmul": lambda a, b: torch.matmul(a.unsqueeze(1), b.unsqueeze(2)).squeeze(2) + a,
    "aten::cat": lambda a, b: torch.cat([a[:, :2], b[:, 2:]], 1),
    "aten::transpose": lambda a, b: torch.tanh(a.t()).t() - b,
    "aten::flip": lambda a, b: a.flip(1),
    "aten::where": lambda a, b: torch.where(a > b, a, b * 2),
    "aten::mean": lambda a, b: a - b.mean(0),
    "aten::cumsum": lambda a, b: a.cumsum(1) * 0.3,
    "aten::lgamma": lambda a, b: torch.lgamma(a.abs() + 1),
    "aten::roll": lambda a, b: a.roll(1, 1),
    "aten::expand": lambda a, b: a[:1].expand(a.shape[0], 4) * b,
    "aten::view": lambda a, b: (a.view(-1) * 1.5).view(a.shape[0], 4),
    "aten::mul_": lambda a, b: a.clone().mul_(b).sub_(1),
    "aten::select": lambda a, b: a[:, 1:2] + b,
    "aten::argmax": lambda a, b: a + a.argmax(1, keepdim=True),
}
SIZES = (2, 3, 6)


class Drawn(torch.nn.Module):
    def __init__(self, seed: int) -> None:
        super().__init__()
        draw = random.Random(seed)
        self.names = [draw.choice(list(STEPS)) for _ in range(draw.randint(4, 14))]
        self.operands = [(draw.randint(0, k + 1), draw.randint(0, k + 1)) for k in range(len(self.names))]
        self.results = sorted(draw.sample(range(2, 2 + len(self.names)), draw.randint(1, 3)))

    def forward(self, x, y):
        made = [x, y]
        for name, (first, second) in zip(self.names, self.operands, strict=True):
            made.append(STEPS[name](made[first], made[second]))
        return [made[k] for k in self.results]


@pytest.mark.parametrize("seed", range(16))
def test_gives_what_eager_gives(seed):
    module = Drawn(seed)
    sizes = tenon.torch.Input(min_shape=(2, 4), opt_shape=(5, 4), max_shape=(64, 4))
    program = exported(module, sizes, sizes)
    used = {r["op"].split(".")[0] for r in tenon.torch.compile(program, min_block_size=1, dryrun=True)["nodes"]}
    forced = [f"aten::{op}" for op in sorted(used & {s.removeprefix("aten::") for s in STEPS}) if random.Random(seed).random() < 0.3]
    compiled = tenon.torch.compile(program, min_block_size=1, torch_executed_ops=forced)
    for batch in SIZES:
        given = [torch.randn(batch, 4, generator=torch.Generator().manual_seed(seed + k)) for k in range(2)]
        torch.testing.assert_close(compiled(*given), module(*given), rtol=1e-4, atol=1e-4)
    assert all(s.builds == 1 for s in compiled.segments.values())
