# SPDX-License-Identifier: Apache-2.0
"""Wrong calls are one TenonError each."""

import copy
import functools
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
import tenon  # noqa: E402
import tenon.torch  # noqa: E402
from networks import Block, Sums, exported  # noqa: E402


@functools.cache
def block() -> torch.export.ExportedProgram:
    return exported(Block().eval(), torch.randn(2, 5, 16))


def refused(**options: object) -> tenon.TenonError:
    with pytest.raises(tenon.TenonError) as raised:
        tenon.torch.compile(block(), **options)
    return raised.value


def test_what_is_refused():
    error = refused(torch_executed_ops=["aten::gelo"])
    assert error.code == "bad_usage" and "aten::gelu" in error.advice
    assert "feed" in refused(torch_executed_modules=["fed"]).advice
    assert refused(min_block_size=0).code == refused(memory_limit=0).code == "bad_usage"
    assert refused(backends=["cuda"]).what == "there is no such backend"
    error = refused(torch_executed_ops=["aten::linear", "aten::gelu"], require_full_compilation=True)
    assert error.code == "not_supported" and error.found == "gelu.default (1x), linear.default (4x)"
    with pytest.raises(tenon.TenonError, match="this is no module"):
        tenon.torch.compile(lambda x: x, inputs=[])
    with pytest.raises(tenon.TenonError, match="traced with inputs"):
        tenon.torch.compile(Sums())
    with pytest.raises(tenon.TenonError, match="traced with inputs"):
        tenon.torch.compile(Sums(), inputs=torch.randn(2, 4))
    for name in ("backends", "torch_executed_ops", "torch_executed_modules"):
        error = refused(**{name: "cpu"})
        assert (error.place, error.what) == (name, "this is no list")
    assert refused(backend_libraries=["onnxruntime"]).place == "backend_libraries"
    with pytest.raises(tenon.TenonError, match="must not fall"):
        tenon.torch.Input(min_shape=(3, 4), max_shape=(2, 4))
    for shape in ((-1, 4), (2.5, 4), ("n", 4)):
        with pytest.raises(tenon.TenonError, match="a size is a number"):
            tenon.torch.Input(shape)
    for size in (0, -2, True, 2.5, "3"):
        assert refused(min_block_size=size).place == "min_block_size"


def test_a_budget_below_one_op():
    error = refused(memory_limit=64, min_block_size=1)
    assert (error.code, error.place, error.what) == ("bad_usage", "memory_limit", "one op alone needs more")


def test_all_that_is_in_the_way_of_a_full_compilation():
    error = refused(torch_executed_modules=["feed"], torch_executed_ops=["aten::layer_norm"], require_full_compilation=True)
    assert error.code == "not_supported" and error.found == "gelu.default (1x), layer_norm.default (2x), linear.default (2x)"


@pytest.mark.parametrize(
    ("pins", "place", "found", "advice"),
    [
        ({"feed": "xla"}, "pins feed=xla", "xla", "name it in backends too"),
        ({"feed": "torhc"}, "pins feed=torhc", "torhc", "did you mean 'torch'?"),
        ({"feed": "reference"}, "pins feed=reference", "reference", "name it in backends too"),
        ({"fead": "torch"}, "pins", "fead", "did you mean 'feed'?"),
        ({"gelu_1": "torch"}, "pins", "gelu_1", "did you mean 'gelu'?"),
    ],
)
def test_pins_that_mean_nothing(pins, place, found, advice):
    error = refused(pins=pins)
    assert (error.code, error.place, error.found, error.advice) == ("bad_usage", place, found, advice)


@pytest.mark.parametrize(
    ("constraints", "found"),
    [
        ({"pins": {"gelu": "tenon"}, "torch_executed_ops": ["aten::gelu"]}, "torch_executed_ops aten::gelu and pins gelu=tenon"),
        ({"pins": {"feed": "tenon"}, "torch_executed_ops": ["aten::gelu"]}, "pins feed=tenon and torch_executed_ops aten::gelu"),
        ({"pins": {"feed": "tenon"}, "torch_executed_modules": ["/feed"]}, "pins feed=tenon and torch_executed_modules /feed"),
        ({"pins": {"feed/1": "tenon", "feed.1": "torch"}}, "pins feed.1=torch and pins feed/1=tenon"),
    ],
)
def test_constraints_against_each_other(constraints, found):
    error = refused(**constraints)
    assert (error.code, error.what, error.found) == ("bad_usage", "it is to run in two places", found)


def test_a_pin_that_tenon_refuses():
    class Written(torch.nn.Module):
        def forward(self, x):
            return torch.nonzero(torch.relu(x))

    with pytest.raises(tenon.TenonError) as raised:
        tenon.torch.compile(Written(), inputs=[torch.randn(3)], pins={"nonzero": "tenon"})
    assert raised.value.code == "not_supported" and raised.value.place == "node 'nonzero' (nonzero.default)"


def test_a_pin_that_its_backend_refuses():
    """cpu has no kernel for an op that reference computes."""
    constraints = {"backends": ["cpu", "reference"], "min_block_size": 1}
    module, x = torch.nn.ReLU(), torch.randn(3)
    compiled = tenon.torch.compile(module, inputs=[x], pins={"relu": "reference"}, **constraints)
    torch.testing.assert_close(compiled(x), module(x))
    with pytest.raises(tenon.TenonError, match="not listed"):
        tenon.torch.compile(module, inputs=[x], pins={"relu": "onnxruntime"}, **constraints)


@functools.cache
def sums_of_batches() -> tenon.torch.Compiled:
    batches = tenon.torch.Input(min_shape=(1, 4), opt_shape=(3, 4), max_shape=(8, 4))
    return tenon.torch.compile(Sums().eval(), inputs=[batches], min_block_size=1)


@pytest.mark.parametrize(
    "wrong",
    [
        torch.zeros(9, 4),
        torch.zeros(2, 5),
        torch.zeros(2),
        torch.zeros(2, 4, dtype=torch.float64),
        torch.zeros(2, 4, device="meta"),
        3,
        None,
    ],
)
def test_inputs_that_the_program_was_not_exported_for(wrong):
    compiled = copy.deepcopy(sums_of_batches())  # which has not been called
    for call in (lambda: compiled(wrong), lambda: compiled(x=wrong)):
        with pytest.raises(tenon.TenonError) as raised:
            call()
        error = raised.value
        assert (error.code, error.place) == ("bad_input", "input 'x'") and "..8, 4]" in error.expected and "Input(" in error.advice
    assert compiled(torch.zeros(8, 4)).shape == compiled(x=torch.zeros(8, 4)).shape == (8, 4)


def test_arguments_that_the_module_does_not_take():
    compiled = copy.deepcopy(sums_of_batches())
    for given in ([], [torch.zeros(2, 4)] * 2):
        with pytest.raises(TypeError):
            compiled(*given)


LOAD = """
import sys, torch, tenon, tenon.torch
program = torch.export.load(sys.argv[1]).module()
sys.path[:] = ["/nowhere"]
try:
    program(torch.zeros(3, 4))
except tenon.TenonError as e:
    print(e.code, e.place)
"""


def test_an_engine_whose_backend_is_absent(tmp_path):
    """A program that was saved where ONNX Runtime is, and is loaded where it is not."""
    pytest.importorskip("onnxruntime")
    module, x = Sums().eval(), torch.randn(3, 4)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1, backends=["onnxruntime", "cpu"])
    program = torch.export.export(compiled, (x,))
    torch.export.save(program, tmp_path / "sums.pt2")
    done = subprocess.run([sys.executable, "-c", LOAD, tmp_path / "sums.pt2"], capture_output=True, text=True)
    assert done.stdout.strip() == "file_missing backend 'onnxruntime'", done.stderr[-2000:]
