# SPDX-License-Identifier: Apache-2.0
"""What the rules of examples/rules/NAME.rules rewrite, and what they leave alone."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import onnx
import onnx.parser

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = os.environ.get("TENON", str(ROOT / "build/bin/tenon"))
RULES = ROOT / "examples/rules/NAME.rules"


class Rules(unittest.TestCase):
    def rewritten(self, dtype: str, nodes: str) -> list[str]:
        """The ops that are left of a model from x to y. Each rewrite is compared with what it replaces."""
        model = onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": 18]> main ({dtype}[4] x) => ({dtype}[4] y) {{ {nodes} }}')
        with tempfile.TemporaryDirectory() as folder:
            before, after = Path(folder) / "before.onnx", Path(folder) / "after.onnx"
            onnx.save(model, before)
            command = [TENON, "rewrite", before, "-o", after, "--rules", RULES, "--only", "--verify", "all", "--json"]
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(json.loads(done.stdout)["verification"]["wrong"], 0, done.stdout)
            return [node.op_type for node in onnx.load(after).graph.node]

    def test_a_minus_sign_within(self):
        self.assertEqual(self.rewritten("float", "a = Neg(x) y = Abs(a)"), ["Abs"])

    def test_something_else_within(self):
        self.assertEqual(self.rewritten("float", "a = Exp(x) y = Abs(a)"), ["Exp", "Abs"])

    def test_integers(self):
        self.assertEqual(self.rewritten("int32", "a = Neg(x) y = Abs(a)"), ["Neg", "Abs"])


if __name__ == "__main__":
    unittest.main()
