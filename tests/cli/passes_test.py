# SPDX-License-Identifier: Apache-2.0
"""The passes of a build: left out, checked, and the plan after each of them."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
sys.path.insert(0, str(ROOT / "tests/bad_input"))

import onnx_bytes as o  # noqa: E402

MODEL = ROOT / "examples/mlp.onnx"


def tenon(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(TENON), *map(str, arguments)], capture_output=True, text=True, timeout=120)


class Passes(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def plans(self, *options: str, model: Path = MODEL) -> dict[str, str]:
        """The plan after each planning pass that changed it, by the pass's name."""
        out = Path(tempfile.mkdtemp(dir=self.folder))
        built = tenon("build", model, "-o", self.folder / "m.tenon", "--dump-plan", out, *options)
        self.assertEqual(built.returncode, 0, built.stderr)
        files = sorted(out.iterdir())
        return {f.stem.split("-", 1)[1]: f.read_text() for f in files}

    def test_the_plan_is_written_after_each_pass_that_changed_it(self):
        plans = self.plans()
        self.assertEqual(list(plans)[:2], ["collect", "find_contractions"])
        self.assertNotIn("\ncontract\n", plans["collect"])
        self.assertIn("\ncontract\n", plans["find_contractions"])
        self.assertIn("then for", plans["absorb_epilogues"])

    def test_a_pass_that_is_left_out_does_nothing(self):
        plans = self.plans("--without", "absorb_epilogues")
        self.assertNotIn("absorb_epilogues", plans)
        self.assertFalse([name for name, plan in plans.items() if "then for" in plan])

    def test_a_pass_that_there_is_not_is_refused_with_the_names(self):
        refused = tenon("run", MODEL, "--without", "nothing")
        self.assertEqual(refused.returncode, 2)
        for name in ("absorb_epilogues", "common_subexpressions"):
            self.assertIn(name, refused.stderr)

    def convolution(self) -> Path:
        conv = o.node("Conv", ["x", "w"], ["y"], o.attribute_ints("pads", [1, 1, 1, 1]), name="conv")
        weights = o.tensor("w", [32, 32, 3, 3], bytes(32 * 32 * 9 * 4))
        shapes = [o.value_info("x", ["n", 32, 28, 28])], [o.value_info("y", ["n", 32, 28, 28])]
        model = self.folder / "conv.onnx"
        model.write_bytes(o.model(o.graph([conv], *shapes, initializers=[weights])))
        return model

    def test_a_tactic_of_a_convolution_by_tiles_is_that_of_its_products(self):
        (self.folder / "tactics").write_text("conv: tile=3x2\n")
        built = tenon("build", self.convolution(), "-o", self.folder / "c.tenon", "--tactic", self.folder / "tactics")
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertEqual(tenon("inspect", self.folder / "c.tenon").stdout.count("tile=3x2"), 1)

    def test_winograd_may_be_refused(self):
        model = self.convolution()
        self.assertIn("winograd", self.plans(model=model))
        self.assertNotIn("winograd", self.plans("--no-winograd", model=model))
        self.assertNotIn("winograd", self.plans("--without", "winograd", model=model))

    def test_passes_are_checked(self):
        self.assertEqual(tenon("run", MODEL, "--verify-passes").returncode, 0)


if __name__ == "__main__":
    unittest.main()
