# SPDX-License-Identifier: Apache-2.0
"""Pins of nodes and modules, by PyTorch's names."""

import functools

import pytest

torch = pytest.importorskip("torch")
import tenon.torch  # noqa: E402
from networks import Block, Sums, exported, run  # noqa: E402

CLOSE = {"rtol": 1e-4, "atol": 1e-5}
X = torch.randn(2, 5, 16)


def rows(report: dict) -> dict[str, str]:
    return {r["name"]: r["backend"] for r in report["nodes"]}


@functools.cache
def block() -> torch.export.ExportedProgram:
    return exported(Block().eval(), X)


def reported(**constraints: object) -> dict:
    return tenon.torch.compile(block(), dryrun=True, **{"min_block_size": 1, **constraints})


def test_a_node():
    report = reported(pins={"gelu": "torch"})
    assert [name for name, backend in rows(report).items() if backend == "torch"] == ["gelu"]
    assert next(r for r in report["nodes"] if r["name"] == "gelu")["reasons"] == [{"code": "pinned", "text": "pins gelu=torch"}]


def test_a_module_and_a_closer_constraint():
    left = {r["name"] for r in reported(pins={"feed": "torch"})["nodes"] if r["backend"] == "torch"}
    assert "gelu" in left and len(left) == 3
    assert {n for n, b in rows(reported(pins={"feed": "torch", "gelu": "tenon"})).items() if b == "torch"} == left - {"gelu"}
    assert {n for n, b in rows(reported(torch_executed_modules=["feed"], pins={"feed.1": "tenon"})).items() if b == "torch"} == left - {
        "gelu"
    }


@pytest.mark.parametrize("name", ["aten.addmm", "torch.ops.aten.addmm.default", "aten::linear"])
def test_core_ops_mean_the_whole_ones_of_the_program(name):
    left = {r["op"] for r in reported(torch_executed_ops=[name])["nodes"] if r["backend"] == "torch"}
    assert left == {"linear.default"}


def test_what_is_pinned_is_never_too_small():
    assert set(rows(reported(min_block_size=100)).values()) == {"torch"}
    assert rows(reported(min_block_size=100, pins={"gelu": "tenon"}))["gelu"] == "tenon"
    one = tenon.torch.compile(torch.nn.ReLU(), inputs=[X], dryrun=True, pins={"relu": "tenon"})
    assert rows(one) == {"relu": "tenon"} and one["nodes"][0]["reasons"][0]["code"] == "pinned"


def test_a_backend_of_tenons():
    """Within a segment, the node alone."""
    pytest.importorskip("onnxruntime")
    module, x = Sums().eval(), torch.randn(3, 4)
    program, constraints = exported(module, x), {"min_block_size": 1, "backends": ["cpu", "onnxruntime"]}
    compiled = tenon.torch.compile(program, pins={"sigmoid": "onnxruntime", "second": "cpu"}, **constraints)
    torch.testing.assert_close(compiled(x), run(module, x), **CLOSE)
    assert len(compiled.segments) == 1
    steps = [s.engine for s in compiled.segments.values()]
    plain = [s.engine for s in tenon.torch.compile(program, **constraints).segments.values()]
    assert repr(steps) != repr(plain)  # more steps: one of them is the library's


def test_pieces_take_pins_too():
    from tenon.torch.dynamo import backend

    torch._dynamo.reset()
    reports: list = []
    module = Block().eval()
    options = {"pins": {"gelu": "torch", "no_such_node": "torch"}, "min_block_size": 1, "on_report": reports.append}
    torch.testing.assert_close(run(torch.compile(module, backend=backend, options=options), X), run(module, X), **CLOSE)
    assert rows(reports[0])["gelu"] == "torch"
