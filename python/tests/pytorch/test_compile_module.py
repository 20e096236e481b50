# SPDX-License-Identifier: Apache-2.0
"""Modules in segments of Tenon and pieces of PyTorch."""

import copy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

torch = pytest.importorskip("torch")
import tenon  # noqa: E402
import tenon.torch  # noqa: E402
from networks import HAS_BF16, Block, Counter, Found, Function, Images, Sums, exported, run  # noqa: E402
from tenon.torch.functionalize import functional  # noqa: E402

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


def ops(report: dict, backend: str) -> list[str]:
    return sorted({r["op"] for r in report["nodes"] if r["backend"] == backend})


def counts(compiled: tenon.torch.Compiled) -> tuple[int, int]:
    """Segments of Tenon and of PyTorch."""
    ours = [s["backend"] == "tenon" for s in compiled.report["segments"]]
    return sum(ours), len(ours) - sum(ours)


@pytest.mark.parametrize(("make", "shape"), [(Block, (2, 5, 16)), (Images, (2, 3, 12, 12)), (Sums, (3, 4))])
def test_whole_modules(make, shape):
    module, x = make().eval(), torch.randn(shape)
    compiled = tenon.torch.compile(module, inputs=[x], require_full_compilation=True)
    assert counts(compiled)[0] == 1 and compiled.report["accelerated_share"] == 1
    torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)


def test_the_page():
    """Its snippet, with other names."""
    x = torch.randn(2, 4)
    model = Sums().eval()
    ts_model = torch.jit.script(model)
    tenon_model = tenon.torch.compile(
        ts_model, **{"inputs": [x], "min_block_size": 3, "torch_executed_ops": ["aten::add"], "torch_executed_modules": []}
    )
    assert counts(tenon_model) == (2, 1) and ops(tenon_model.report, "torch") == ["add.Tensor"]
    torch.testing.assert_close(tenon_model(x), run(model, x), **CLOSE)


def test_exported_programs():
    x = torch.randn(2, 5, 16)
    module = Block().eval()
    compiled = tenon.torch.compile(torch.export.export(module, (x,)), min_block_size=1)
    torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)


def test_ops_made_of_others_stay_whole():
    """All those that PyTorch keeps, in branches and behind writes too."""

    def mixed(x):
        y = torch.nn.functional.linear(x, torch.ones(4, 4)).ldexp_(torch.tensor(2))
        return torch.cond(x.sum() > 0, lambda x: torch.einsum("ij,ij->i", x, x), lambda x: x.reshape(4, 3).T.logsumexp(1), (y,))

    program = torch.export.export(Function(mixed), (torch.ones(3, 4),))
    made, wanted = functional(program), program.run_decompositions({})
    assert str(made.graph) == str(wanted.graph) and {"linear", "ldexp"} <= {n.name for n in made.graph.nodes}
    for branch in ("true_graph_0", "false_graph_0"):
        assert str(getattr(made.graph_module, branch).graph) == str(getattr(wanted.graph_module, branch).graph)


def test_what_is_forced_stays_in_pytorch():
    module, x = Block().eval(), torch.randn(2, 5, 16)
    program = exported(module, x)
    compiled = tenon.torch.compile(program, torch_executed_ops=["aten::gelu"], min_block_size=1)
    assert counts(compiled) == (2, 1)
    torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)
    for wanted in ("feed", "torch.nn.modules.container.Sequential"):
        report = tenon.torch.compile(program, torch_executed_modules=[wanted], min_block_size=1, dryrun=True)
        assert ops(report, "torch") == ["gelu.default", "linear.default"]
        assert {r["module"].split(".")[0] for r in report["nodes"] if r["backend"] == "torch"} == {"feed"}
        assert any(r["code"] == "fallback_module" for n in report["nodes"] for r in n["reasons"])


def test_small_segments_are_left_to_pytorch():
    module, x = Sums().eval(), torch.randn(2, 4)
    compiled = tenon.torch.compile(module, inputs=[x], torch_executed_ops=["aten::add"], min_block_size=4)
    assert counts(compiled)[0] == 0
    assert any(r["code"] == "too_small" for n in compiled.report["nodes"] for r in n["reasons"])
    torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)
    alone = tenon.torch.compile(torch.nn.ReLU(), inputs=[x], dryrun=True)
    assert alone["nodes"][0]["reasons"][0]["code"] == "does_not_pay"


def test_buffers_and_inputs_are_written():
    module = Counter().eval()
    other = copy.deepcopy(module)
    compiled = tenon.torch.compile(module, inputs=[torch.zeros(2, 4)], min_block_size=1)
    for _ in range(3):
        x = torch.randn(2, 4)
        y = x.clone()
        torch.testing.assert_close(compiled(x), run(other, y), **CLOSE)
        torch.testing.assert_close(x, y)
    torch.testing.assert_close(module.seen, other.seen)
    assert [s.builds for s in compiled.segments.values()] == [1] * len(compiled.segments)


def test_results_that_are_views_stay_views():
    class Views(torch.nn.Module):
        def forward(self, x):
            y = torch.exp(torch.relu(x) + 1)
            return x.view(-1), y, y[0], torch.sigmoid(y) * 2

    x = torch.randn(2, 3)
    of_x, y, row, _ = tenon.torch.compile(Views(), inputs=[x], min_block_size=1)(x)
    assert of_x.data_ptr() == x.data_ptr() and row.data_ptr() == y.data_ptr()


def test_written_weights_are_read_again():
    module, x = Sums().eval(), torch.randn(3, 4)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1)
    with torch.no_grad():
        module.first.weight.mul_(2)
        module.second.bias.fill_(1)
    torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)
    for _ in range(5):  # from the second time on they are read where they lie
        with torch.no_grad():
            module.first.weight.add_(0.1)
        torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)
    assert [s.builds for s in compiled.segments.values()] == [2]


def test_weights_are_read_where_they_lie():
    module, x = Block().eval(), torch.randn(2, 5, 16)
    compiled = tenon.torch.compile(module, inputs=[x], share_weights=True, measure=False)
    (segment,) = compiled.segments.values()
    assert len(segment.engine.inputs) == 1 + len(list(module.parameters()))
    for _ in range(2):
        torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)
        with torch.no_grad():
            module.feed[0].weight.add_(1)
    assert segment.builds == 1


def test_options_that_neither_function_has_are_refused():
    for unknown in ("precison", "winograd"):  # tenon.compile has the second one, for its own callers
        with pytest.raises(TypeError, match=f"unexpected keyword argument '{unknown}'"):
            tenon.torch.compile(torch.nn.ReLU(), inputs=[torch.randn(3)], **{unknown: "f32"})


def test_large_products_take_bf16_on_request():
    module, x = Block(64).eval(), torch.randn(2, 5, 64)
    with pytest.raises(tenon.TenonError, match="there is no such precision"):
        tenon.torch.compile(module, inputs=[x], precision="bf8")
    with pytest.raises(tenon.TenonError, match="are not rounded"):
        tenon.torch.compile(module, inputs=[x], precision="bf16", share_weights=True)
    if not HAS_BF16:
        with pytest.raises(tenon.TenonError, match="AVX512_BF16"):
            tenon.torch.compile(module, inputs=[x], precision="bf16")
        return
    plain = tenon.torch.compile(module, inputs=[x], measure=False)(x)
    rounded = tenon.torch.compile(module, inputs=[x], precision="bf16", measure=False)(x)
    assert (rounded - plain).abs().max() > 1e-4
    torch.testing.assert_close(rounded, plain, rtol=0.016, atol=0.05)


def test_threads_see_their_own_weights():
    """One notices a change while others run."""
    module, x = Sums().eval(), torch.randn(3, 4)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1)
    with torch.no_grad():
        module.first.weight.mul_(2)
    expected = run(module, x)
    with ThreadPoolExecutor(4) as pool:
        for made in pool.map(lambda _: compiled(x), range(32)):
            torch.testing.assert_close(made, expected, **CLOSE)
    assert [s.builds for s in compiled.segments.values()] == [2]


def test_one_build_for_24_batches():
    module = Block().eval()
    sizes = tenon.torch.Input(min_shape=(1, 5, 16), opt_shape=(4, 5, 16), max_shape=(64, 5, 16))
    compiled = tenon.torch.compile(module, inputs=[sizes], torch_executed_ops=["aten::gelu"], min_block_size=1)
    for batch in range(1, 25):
        x = torch.randn(batch, 5, 16)
        torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)
    assert [s.builds for s in compiled.segments.values()] == [1, 1]


def test_a_batch_that_is_usually_one():
    module = Block().eval()
    sizes = tenon.torch.Input(min_shape=(1, 5, 16), opt_shape=(1, 5, 16), max_shape=(8, 5, 16))
    compiled = tenon.torch.compile(module, inputs=[sizes], min_block_size=1)
    for batch in (1, 8):
        x = torch.randn(batch, 5, 16)
        torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)


def test_data_dependent_sizes_stays_eager():
    module = Found()
    x = torch.randn(5, 6)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1)
    assert "nonzero.default" in ops(compiled.report, "torch") and counts(compiled)[0] == 2
    for _ in range(3):
        x = torch.randn(5, 6)
        torch.testing.assert_close(compiled(x), module(x), **CLOSE)


@pytest.mark.parametrize("backends", [["onnxruntime", "cpu"], ["cpu", "reference"], ["reference"]])
def test_segments_on_any_backend(backends):
    if "onnxruntime" in backends:
        pytest.importorskip("onnxruntime")
    module, x = Block().eval(), torch.randn(2, 5, 16)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1, backends=backends)
    torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)


def test_doubles_may_be_cut_short():
    pytest.importorskip("onnxruntime")
    module, x = Function(lambda x: torch.atan(torch.atan(x))), torch.randn(2, 3, dtype=torch.float64)
    options = {"inputs": [x], "min_block_size": 1, "backends": ["onnxruntime", "cpu"]}
    exact, short = (tenon.torch.compile(module, **options, truncate_double=short)(x) for short in (False, True))
    torch.testing.assert_close(exact, module(x), rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(short, module(x), rtol=1e-5, atol=1e-6)
    assert (short - module(x)).abs().max() > 0, "nothing was cut short"


def masked(x):
    y = torch.relu(x)
    y[y > 0.5] = 9
    return y + 1


def put(x, places):
    y = torch.relu(x)
    y.index_put_((places,), torch.zeros(2, 4))
    return y.t() + 1


def parts(y):
    return y[0], y[1:], y.t().reshape(-1)


X = torch.randn(3, 4)
WAYS = {
    "an input given back": (lambda x: (x, torch.relu(x)), X),
    "a result given twice": (lambda x: (torch.relu(x),) * 2, X),
    "a constant": (lambda x: (torch.ones(3), torch.relu(x)), X),
    "a tree": (lambda x: {"a": torch.relu(x), "b": [x + 1, (x + 2, 3, None)]}, X),
    "strides": (lambda x: torch.relu(x) + 1, X.t()),
    "strides of zero": (lambda x: torch.relu(x) + 1, X[:1].expand(3, 4)),
    "nothing": (lambda x: torch.relu(x) + 1, X[:0]),
    "a scalar": (lambda x: torch.relu(x) + 1, torch.tensor(2.0)),
    "bfloat16": (lambda x: torch.relu(x) + 1, X.bfloat16()),
    "complex numbers": (lambda x: torch.view_as_real(x * 2), X.to(torch.complex64)),
    "writes to an input": (lambda x: x.add_(1).mul_(2).relu(), X),
    "writes to a view": (lambda x: (x[0].fill_(3.0), torch.exp(x))[1], X),
    "writes where a mask says": (masked, X),
    "writes where places say": (put, X, torch.tensor([0, 2])),
    "a number of a tensor": (lambda x, n: torch.relu(x) * n.item() + n.item(), X, torch.tensor(3)),
    "a branch": (lambda x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (torch.relu(x),)), X),
    "views of what is transposed in memory": (lambda x: parts(torch.exp(torch.relu(x.t()))), X),
    "memory by strides": (lambda x: torch.exp(torch.relu(x.t())).as_strided((2, 2), (1, 2)) + 1, X),
    "memory around a view": (lambda x: torch.exp(torch.relu(x))[1:, 1:].as_strided((2, 2), (4, 1), 2) + 1, X),
    "images without a batch": (lambda x: torch.nn.functional.adaptive_avg_pool1d(torch.relu(x), 2) + 1, X),
    "ops without a form": (lambda x: torch.fft.rfft(torch.relu(x)).abs() + 1, X),
}


@pytest.mark.parametrize("way", WAYS)
def test_all_that_modules_do(way):
    function, *given = WAYS[way]
    compiled = tenon.torch.compile(Function(function), inputs=[x.clone() for x in given], min_block_size=1)
    for sign in (1, -1):
        ours, theirs = ([x.clone() * sign if k == 0 else x.clone() for k, x in enumerate(given)] for _ in range(2))
        torch.testing.assert_close(compiled(*ours), function(*theirs), **CLOSE)
        torch.testing.assert_close(ours, theirs)


def test_strides_are_those_of_eager():
    module = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 2), torch.nn.ReLU())
    x = torch.randn(2, 3, 5, 5).contiguous(memory_format=torch.channels_last)
    made = tenon.torch.compile(module, inputs=[x], min_block_size=1)(x)
    assert made.stride() == run(module, x).stride() != made.contiguous().stride()
    torch.testing.assert_close(made, run(module, x), **CLOSE)


def test_gradients_are_refused():
    x = torch.randn(3, 4)
    compiled = tenon.torch.compile(Sums().eval(), inputs=[x], min_block_size=1)
    with pytest.raises(tenon.TenonError, match="gradients are wanted"):
        compiled(x.requires_grad_())
    assert not run(compiled, x).requires_grad


def test_named_inputs():
    class Named(torch.nn.Module):
        def forward(self, x, *, scale, shift=None):
            return torch.relu(x * scale) + (0 if shift is None else shift["by"])

    x, named = torch.randn(3, 4), {"scale": torch.randn(4), "shift": {"by": torch.ones(4)}}
    compiled = tenon.torch.compile(Named(), inputs=[x], kwargs=named, min_block_size=1)
    torch.testing.assert_close(compiled(x, **named), Named()(x, **named), **CLOSE)


def test_copies_have_their_own_weights():
    module, x = Sums().eval(), torch.randn(3, 4)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1)
    expected = compiled(x)
    other = copy.deepcopy(compiled)
    with torch.no_grad():
        module.first.weight.zero_()
    torch.testing.assert_close(other(x), expected, **CLOSE)
    torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)


def test_random_ops_keep_their_order():
    class Noise(torch.nn.Module):
        def forward(self, x):
            a = torch.relu(x) + torch.rand_like(x)
            return torch.exp(a) + torch.nn.functional.dropout(a, 0.5, training=True)

    x = torch.randn(3, 4)
    compiled = tenon.torch.compile(Noise(), inputs=[x], min_block_size=1)
    torch.manual_seed(1)
    made = compiled(x)
    torch.manual_seed(1)
    torch.testing.assert_close(made, Noise()(x), **CLOSE)


@pytest.mark.parametrize("draws", [False, True])
def test_random_ops_and_writes_wait_for_those_before_them(draws):
    """Even where a cut into fewer segments would have them earlier."""

    class Late(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", torch.ones(3, 4))

        def forward(self, x):
            first = torch.lgamma(x.abs() + 1)
            y = torch.exp(torch.relu(first + self.last))
            drawn = (torch.rand_like(y), torch.rand_like(x)) if draws else ()
            self.last.copy_(first)
            return y, *drawn

    module, x = Late(), torch.randn(3, 4)
    other = copy.deepcopy(module)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1)
    for seed in range(2):
        torch.manual_seed(seed)
        made = compiled(x)
        torch.manual_seed(seed)
        torch.testing.assert_close(made, other(x), **CLOSE)
    torch.testing.assert_close(module.last, other.last)


def test_a_batch_norm_that_trains_stays_eager():
    module = Images().train()
    other = copy.deepcopy(module)
    x = torch.randn(4, 3, 12, 12)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1)
    assert any("batch_norm" in op for op in ops(compiled.report, "torch"))
    for _ in range(2):
        torch.testing.assert_close(compiled(x), run(other, x), **CLOSE)
    torch.testing.assert_close(module.body[1].running_var, other.body[1].running_var)
    assert module.body[1].num_batches_tracked == 2


def test_switched_off_it_gives_the_module_back():
    module = Sums()
    assert tenon.torch.compile(module, inputs=[torch.randn(2, 4)], enabled=False) is module


def test_groups_and_limits():
    module, x = Images().eval(), torch.randn(2, 3, 12, 12)
    program = exported(module, x)
    whole = tenon.torch.compile(program, min_block_size=1, dryrun=True)
    limit = 12_000
    cut = tenon.torch.compile(program, min_block_size=1, memory_limit=limit)
    assert len(cut.report["segments"]) > len(whole["segments"])
    torch.testing.assert_close(cut(x), run(module, x), **CLOSE)
    group = ["aten::conv2d", "aten::_native_batch_norm_legit_no_training", "aten::relu"]
    kept = tenon.torch.compile(program, min_block_size=1, memory_limit=limit, atomic_groups=[group], dryrun=True)
    places = {n: s["id"] for s in kept["segments"] for n in s["nodes"]}
    assert "relu" not in places, "it is in the row of the convolution"
    with pytest.raises(tenon.TenonError, match="one op alone needs more"):
        tenon.torch.compile(program, min_block_size=1, memory_limit=100)


def test_tenon_itself_never_imports_torch():
    done = subprocess.run(
        [sys.executable, "-c", "import sys, tenon, tenon.rewriting; print('torch' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"
