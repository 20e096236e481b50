# SPDX-License-Identifier: Apache-2.0
"""torch.compile(module, backend="tenon")."""

import copy
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
import tenon  # noqa: E402
import tenon.torch  # noqa: E402
from networks import HAS_BF16, Block, Counter, Images, run  # noqa: E402
from tenon.torch.dynamo import backend  # noqa: E402

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


def compiled(module, reports: list, **more: object):
    return torch.compile(module, backend=backend, options={"min_block_size": 1, "on_report": reports.append}, **more)


def test_is_found_by_its_name(tmp_path):
    """As where the package is installed."""
    project = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    report = project[project.index("[project.entry-points.torch_dynamo_backends]") :].splitlines()
    folder = tmp_path / "tenon-0.1.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: tenon\nVersion: 0.1\n")
    (folder / "entry_points.txt").write_text("[torch_dynamo_backends]\n" + report[1].replace('"', "") + "\n")
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    program = "import torch; print(torch.compile(torch.nn.ReLU(), backend='tenon')(torch.ones(2)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.stdout.strip() == "tensor([1., 1.])", done.stderr[-2000:]


@pytest.mark.parametrize(("make", "shape"), [(Block, (2, 5, 16)), (Images, (2, 3, 12, 12))])
def test_whole_modules(make, shape):
    module, x, reports = make().eval(), torch.randn(shape), []
    fast = compiled(module, reports)
    torch.testing.assert_close(run(fast, x), run(module, x), **CLOSE)
    assert len(reports) == 1 and reports[0]["accelerated_share"] == 1


def test_pieces_between_graph_breaks():
    class Broken(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = Block(), Block()

        def forward(self, x):
            y = self.first(x)
            torch._dynamo.graph_break()
            return self.second(y)

    module, x, reports = Broken().eval(), torch.randn(2, 5, 16), []
    torch.testing.assert_close(run(compiled(module, reports), x), run(module, x), **CLOSE)
    assert len(reports) == 2 and all(r["accelerated_share"] == 1 for r in reports)


def test_24_batches_in_two_compilations():
    module, reports = Block().eval(), []
    fast = compiled(module, reports)
    for batch in range(2, 26):
        x = torch.randn(batch, 5, 16)
        torch.testing.assert_close(run(fast, x), run(module, x), **CLOSE)
    assert len(reports) <= 2


def test_buffers_and_inputs_are_written():
    module, reports = Counter().eval(), []
    other = copy.deepcopy(module)
    fast = compiled(module, reports)
    for _ in range(3):
        x = torch.randn(2, 4)
        y = x.clone()
        torch.testing.assert_close(run(fast, x), run(other, y), **CLOSE)
        torch.testing.assert_close(x, y)
    torch.testing.assert_close(module.seen, other.seen)


def test_written_weights_and_other_modules_of_the_class():
    """One piece of code serves modules that are alike: whose weights it has is looked at in each call."""
    first, second, reports = Block().eval(), Block().eval(), []
    x = torch.randn(2, 5, 16)
    for module in (first, second, first):
        torch.testing.assert_close(run(compiled(module, reports), x), run(module, x), **CLOSE)
        with torch.no_grad():
            module.feed[0].weight.mul_(1.5)
        torch.testing.assert_close(run(compiled(module, reports), x), run(module, x), **CLOSE)


def test_training_is_eager_and_says_so(caplog):
    module, reports = Block(), []
    x = torch.randn(2, 5, 16)
    with caplog.at_level(logging.WARNING):
        fast = compiled(module, reports)
        fast(x).sum().backward()
    assert "gradients are wanted" in caplog.text and "gradients" in reports[0]["training"]
    made = {n: p.grad.clone() for n, p in module.named_parameters() if p.grad is not None}
    module.zero_grad()
    module(x).sum().backward()
    for name, parameter in module.named_parameters():
        torch.testing.assert_close(made[name], parameter.grad, **CLOSE)


@pytest.mark.skipif(not HAS_BF16, reason="needs a CPU with AVX512_BF16")
def test_large_products_take_bf16_on_request():
    module, x, reports = Block(64).eval(), torch.randn(2, 5, 64), []
    plain = run(compiled(module, reports), x)
    torch._dynamo.reset()
    options = {"precision": "bf16", "min_block_size": 1}
    rounded = run(torch.compile(module, backend=backend, options=options), x)
    assert (rounded - plain).abs().max() > 1e-4
    torch.testing.assert_close(rounded, plain, rtol=0.016, atol=0.05)


def test_options():
    module, x, reports = Block().eval(), torch.randn(2, 5, 16), []
    options = {"torch_executed_ops": ["aten::gelu"], "min_block_size": 1, "on_report": reports.append}
    torch.testing.assert_close(run(torch.compile(module, backend=backend, options=options), x), run(module, x), **CLOSE)
    assert [s["backend"] for s in reports[0]["segments"]] == ["tenon", "torch", "tenon"]
    torch._dynamo.reset()
    with pytest.raises(Exception, match="there is no such option"):
        run(torch.compile(module, backend=backend, options={"min_block": 1}), x)


def test_a_library_is_named(tmp_path):
    """That file is taken, and no other, by torch.compile and ahead of time."""
    place = Path(pytest.importorskip("onnxruntime").__file__).parent / "capi"
    library = tmp_path / "elsewhere.so"
    library.symlink_to(next(place.glob("libonnxruntime.so.*")))
    module, x = Block().eval(), torch.randn(2, 5, 16)
    options = {"min_block_size": 1, "backends": ["onnxruntime", "cpu"]}
    named = {**options, "backend_libraries": {"onnxruntime": library}}
    for fast in (torch.compile(module, backend=backend, options=named), tenon.torch.compile(module, inputs=[x], **named)):
        torch.testing.assert_close(run(fast, x), run(module, x), **CLOSE)
    torch._dynamo.reset()
    absent = {**options, "backend_libraries": {"onnxruntime": tmp_path / "none.so"}}
    with pytest.raises(tenon.TenonError, match=r"none\.so"):
        tenon.torch.compile(module, inputs=[x], **absent)
    with pytest.raises(Exception, match=r"none\.so"):
        run(torch.compile(module, backend=backend, options=absent), x)
