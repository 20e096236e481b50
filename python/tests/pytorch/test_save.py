# SPDX-License-Identifier: Apache-2.0
"""Segments in exported programs."""

import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
import tenon.torch  # noqa: E402
from networks import Block, run  # noqa: E402

CLOSE = {"rtol": 1e-4, "atol": 1e-5}

LOAD = """
import sys, torch, tenon, tenon.torch
import tenon.torch.segment
def built(*_, **__): raise SystemExit("it was built again")
tenon.torch.segment.compile = tenon._tenon.compile = built
program = torch.export.load(sys.argv[1]).module()
for x, y in torch.load(sys.argv[2]):
    torch.testing.assert_close(program(x), y, rtol=1e-4, atol=1e-5)
print("fine")
"""


def test_come_back_unbuilt(tmp_path):
    module = Block().eval()
    sizes = tenon.torch.Input(min_shape=(2, 5, 16), opt_shape=(3, 5, 16), max_shape=(64, 5, 16))
    compiled = tenon.torch.compile(module, inputs=[sizes], torch_executed_ops=["aten::gelu"], min_block_size=1)
    x = torch.randn(3, 5, 16)
    program = torch.export.export(compiled, (x,), dynamic_shapes=(({0: torch.export.Dim.DYNAMIC(min=2, max=64)},),))
    called = [n for n in program.graph.nodes if n.target is torch.ops.tenon.segment.default]
    assert len(called) == 2
    torch.export.save(program, tmp_path / "block.pt2")
    cases = [(x, run(module, x)) for x in (torch.randn(b, 5, 16) for b in (2, 3, 9))]
    torch.save(cases, tmp_path / "cases.pt")
    done = subprocess.run([sys.executable, "-c", LOAD, tmp_path / "block.pt2", tmp_path / "cases.pt"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip() == "fine", done.stderr[-3000:]


def test_the_operator_keeps_its_promises():
    module = Block().eval()
    x = torch.randn(3, 5, 16)
    compiled = tenon.torch.compile(module, inputs=[x], min_block_size=1)
    (segment,) = compiled.segments.values()
    torch.library.opcheck(torch.ops.tenon.segment.default, (segment.file(), segment.signature, [x], []))
