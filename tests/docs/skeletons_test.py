# SPDX-License-Identifier: Apache-2.0
"""What ./dev new-op and ./dev new-rule write compiles."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("TENON_BUILD", ROOT / "build"))
sys.path.insert(0, str(ROOT / "tools"))

import new_op  # noqa: E402
import new_rule  # noqa: E402


def compiles(path: Path) -> subprocess.CompletedProcess:
    includes = [f"-I{ROOT / 'src'}", f"-I{ROOT / 'include'}", f"-I{BUILD / 'generated'}"]
    return subprocess.run(
        ["clang++-22", "-std=gnu++23", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *includes, str(path)], capture_output=True, text=True
    )


class Skeletons(unittest.TestCase):
    def written(self, module, name: str) -> Path:
        """Runs the tool in an empty tree, which holds only what it reads."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = Path(folder.name)
        for made in ("src/ops/onnx", "src/rules", "tests/rules", "src/import"):
            (root / made).mkdir(parents=True)
        (root / "src/import/onnx_schema.h").write_text((ROOT / "src/import/onnx_schema.h").read_text())
        with mock.patch.object(module, "ROOT", root), mock.patch.object(sys, "argv", ["tool", name]):
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                self.assertEqual(module.main(), 0)
                self.assertEqual(module.main(), 1, "a file that is there is never overwritten")
        return root

    def test_a_new_op(self):
        done = compiles(self.written(new_op, "SomeNewOp") / "src/ops/onnx/some_new_op.cpp")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_new_rule(self):
        root = self.written(new_rule, "some_new_rule")
        self.assertTrue((root / "tests/rules/some_new_rule.tn").exists())
        done = compiles(root / "src/rules/some_new_rule.cpp")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_names(self):
        self.assertEqual([new_op.snake(n) for n in ("HardSwish", "MatMul", "LSTM", "top_k")], ["hard_swish", "mat_mul", "lstm", "top_k"])
        self.assertEqual(new_op.camel("top_k"), "TopK")


if __name__ == "__main__":
    unittest.main()
