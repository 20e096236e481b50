# SPDX-License-Identifier: Apache-2.0
"""What Torch-TensorRT's tests of fallback hold, of modules of our own: values that are no tensors, branches, loops, casts, memory, models.

Its lists of segments and its partitioners are in tests/partition/original_lists_test.cpp and original_dynamo_test.cpp."""

import functools

import pytest

torch = pytest.importorskip("torch")
import tenon.torch  # noqa: E402
from networks import Bottlenecks, Counter, Inverted, exported, run  # noqa: E402
from torch.nn import functional as F  # noqa: E402

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def held(module, given, script=False, **constraints):
    """Compiled; gives what eager gives."""
    source = torch.jit.script(module) if script else module
    compiled = tenon.torch.compile(source, inputs=[g.clone() for g in given], min_block_size=1, **constraints)
    for sign in (1, -1):
        ours, theirs = ([g.clone() * sign for g in given] for _ in range(2))
        torch.testing.assert_close(run(compiled, *ours), run(module, *theirs), **CLOSE)
        torch.testing.assert_close(ours, theirs)
    return compiled


def pieces(compiled) -> str:
    """In running order: a segment of Tenon's is T, a piece of PyTorch's p."""
    report = compiled if isinstance(compiled, dict) else compiled.report
    return "".join("T" if s["backend"] == "tenon" else "p" for s in report["segments"])


class TwoBranches(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
        flag = bool(x.sum() > 0)
        if flag:
            a = x + y
        else:
            a = x - y
        a = torch.relu(a) * 2
        if flag:
            a = a - y
        else:
            a = a * y
        return torch.sigmoid(a - x)


class GroupsOfASize(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 1, 3, 3))

    def forward(self, x):
        return torch.relu(F.conv2d(torch.lgamma(x.abs() + 1), self.weight, groups=x.size(1)))


class LoopedProduct(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.up = torch.nn.Linear(8, 8), torch.nn.ConvTranspose2d(4, 4, 2)

    def forward(self, x: torch.Tensor):
        y = self.up(self.linear(x))
        count = 1
        for size in y.shape:
            count *= size
        return torch.relu(y.reshape(count)) + count


class SharedList(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        parts = [torch.relu(x), x + 1, torch.exp(x)]
        return torch.cat(parts, 0) * 2, torch.stack(parts)


class Written(torch.nn.Module):
    def forward(self, x, places):
        kept = {"a": torch.relu(x) + 1, "b": x * 2}
        kept["a"].index_put_((places.abs().long(),), kept["b"][:2])
        return torch.sigmoid(kept["a"] * 3)


def test_two_branches_on_one_flag():
    x = torch.randn(3, 4).abs()
    compiled = held(TwoBranches(), [x, torch.randn(3, 4)], script=True, torch_executed_ops=["aten::sub"])
    assert compiled.segments


def test_a_size_is_an_attribute():
    assert pieces(held(GroupsOfASize(), [torch.randn(2, 4, 5, 5)])) == "TpT"


def test_a_product_in_a_loop():
    compiled = held(LoopedProduct().eval(), [torch.randn(2, 4, 8, 8)], torch_executed_ops=["aten::conv_transpose2d"])
    assert pieces(compiled) == "TpT"


@pytest.mark.parametrize(("forced", "expected"), [("aten::cat", "TpT"), ("aten::stack", "Tp"), ("aten::exp", "Tp")])
def test_a_list_of_tensors_crosses(forced, expected):
    compiled = held(SharedList(), [torch.randn(3, 4)], torch_executed_ops=[forced])
    assert sorted(pieces(compiled)) == sorted(expected)


def test_a_dict_that_is_written_to():
    """Each is on one side; what is written is written between what was before and what comes after."""
    compiled = held(Written(), [torch.randn(4, 4), torch.tensor([0.0, 2.0])], torch_executed_ops=["aten::index_put"])
    assert pieces(compiled) == "TpT"


class Branch(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor):
        y = torch.relu(self.linear(x)) + 1
        if bool(x.sum() > 0):
            y = F.logsigmoid(self.linear(y)) * 2
        else:
            y = y + 1
            y.mul_(3)
        return torch.tanh(y) + x


def test_branches_with_ops_that_are_forced_and_writes():
    x = torch.randn(3, 4).abs()
    assert pieces(held(Branch().eval(), [x], script=True)).count("T") == 2
    held(Branch().eval(), [x], script=True, torch_executed_ops=["aten::tanh"])


class Loop(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        for k in range(4):
            x = torch.cat([x + k, torch.ones_like(x)], 1)[:, :4] * 0.5
        return x


def test_loops_of_known_length():
    for forced in ([], ["aten::ones_like"]):
        assert "T" in pieces(held(Loop(), [torch.randn(3, 4)], script=True, torch_executed_ops=forced))


def test_a_branched_program_comes_back(tmp_path):
    module, x = Branch().eval(), torch.randn(3, 4).abs()
    compiled = tenon.torch.compile(torch.jit.script(module), inputs=[x], min_block_size=1)
    torch.export.save(torch.export.export(compiled, (x,)), tmp_path / "branch.pt2")
    loaded = torch.export.load(tmp_path / "branch.pt2").module()
    for given in (x, -x):
        torch.testing.assert_close(loaded(given), run(module, given), **CLOSE)


class Typed(torch.nn.Module):
    """Integers of 64 bits, and of 8, where others had to cast."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


TYPES = {
    "a cast upstream": (lambda x: torch.zeros(3, 4).scatter(1, (x > 0).to(torch.int64), torch.relu(x)) + 1, "aten::scatter.src"),
    "integers of 64 bits": (lambda x: (x > 0).long().sum(1, keepdim=True).expand(3, 4) * 2 + 1, "aten::expand"),
    "integers of 8 bits": (lambda x: (torch.ones(4, dtype=torch.uint8) + (x > 0).to(torch.uint8)) * 2, "aten::ones"),
}


@pytest.mark.parametrize("way", TYPES)
def test_types_at_borders(way):
    function, forced = TYPES[way]
    module, x = Typed(function), torch.randn(3, 4)
    compiled = held(module, [x], torch_executed_ops=[forced])
    assert compiled(x).dtype == module(x).dtype and "T" in pieces(compiled)


class Columns(torch.nn.Module):
    """Convolution, normalisation, activation, four times; a pool after each two."""

    def __init__(self):
        super().__init__()
        rows = lambda a, b: [torch.nn.Conv2d(a, b, 3, padding=1), torch.nn.BatchNorm2d(b), torch.nn.ReLU()]  # noqa: E731
        self.body = torch.nn.Sequential(
            *rows(16, 32), *rows(32, 32), torch.nn.MaxPool2d(2), *rows(32, 32), *rows(32, 16), torch.nn.MaxPool2d(2)
        )

    def forward(self, x):
        return self.body(x)


GROUP = ["aten::conv2d", "aten::_native_batch_norm_legit_no_training", "aten::relu"]


@pytest.mark.parametrize(
    ("limit", "constraints", "expected"),
    [
        (1 << 20, {}, "T"),
        (80_000, {}, "TT"),  # two of the four convolutions have room
        (80_000, {"torch_executed_ops": ["aten::max_pool2d"]}, "TpTp"),
        (50_000, {"torch_executed_ops": ["aten::max_pool2d"]}, "TTpTTp"),
    ],
)
def test_memory_divides_segments(limit, constraints, expected):
    compiled = held(Columns().eval(), [torch.randn(1, 16, 8, 8)], memory_limit=limit, **constraints)
    assert pieces(compiled) == expected


@functools.cache
def columns() -> torch.export.ExportedProgram:
    return exported(Columns().eval(), torch.randn(1, 16, 8, 8))


@pytest.mark.parametrize("limit", [50_000, 60_000, 80_000, 100_000])
def test_no_limit_divides_a_group(limit):
    whole = tenon.torch.compile(columns(), min_block_size=1, memory_limit=limit, dryrun=True)
    report = tenon.torch.compile(columns(), min_block_size=1, memory_limit=limit, atomic_groups=[GROUP], dryrun=True)
    assert len(report["nodes"]) == len(whole["nodes"]) - 8  # four groups are one row each
    assert pieces(report).count("T") >= pieces(whole).count("T")


def test_what_is_written_to_stays_outside():
    compiled = tenon.torch.compile(Counter().eval(), inputs=[torch.zeros(2, 4)], min_block_size=1)
    rows = {r["name"]: r["backend"] for r in compiled.report["nodes"] if r["op"] == "copy_.default"}
    assert rows and set(rows.values()) == {"torch"}


@pytest.mark.parametrize(
    ("make", "shape", "forced"), [(Bottlenecks, (2, 3, 32, 32), "aten::add"), (Inverted, (2, 3, 32, 32), "aten::hardtanh")]
)
def test_models_of_which_one_op_is_forced(make, shape, forced):
    module = make().eval()
    compiled = held(module, [torch.randn(shape)], torch_executed_ops=[forced])
    count = sum(r["op"].startswith(forced.removeprefix("aten::")) for r in compiled.report["nodes"])
    assert count >= 4 and {r["backend"] for r in compiled.report["nodes"] if r["op"].startswith(forced.removeprefix("aten::"))} == {"torch"}
    assert pieces(compiled).count("T") >= count
