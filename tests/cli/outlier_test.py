# SPDX-License-Identifier: Apache-2.0
"""compare --outlier: the error of the results that one large element must leave alone."""

import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
sys.path.insert(0, str(ROOT / "tests/bad_input"))

import onnx_bytes as o  # noqa: E402


class Outlier(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        numbers = random.Random(1)
        weights = struct.pack("<2304f", *(numbers.gauss(0, 1 / 12) for _ in range(2304)))
        conv = o.node("Conv", ["x", "w"], ["y"], o.attribute_ints("pads", [1, 1, 1, 1]))
        shapes = [o.value_info("x", [1, 16, 32, 32])], [o.value_info("y", [1, 16, 32, 32])]
        self.model = self.folder / "conv.onnx"
        self.model.write_bytes(o.model(o.graph([conv], *shapes, initializers=[o.tensor("w", [16, 16, 3, 3], weights)])))

    def compare(self, *options: str) -> subprocess.CompletedProcess:
        return subprocess.run([str(TENON), "compare", str(self.model), *options], capture_output=True, text=True, timeout=120)

    def error(self, *options: str) -> float:
        done = self.compare("--json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["outputs"][0]["small_half_error"]

    def test_small_results_have_the_error_of_the_plain_sum(self):
        for outlier in ("1e2", "1e6", "1e20"):
            self.assertLessEqual(self.error("--outlier", outlier), 4 * self.error("--outlier", outlier, "--no-winograd"), outlier)

    def test_the_table_has_a_column_for_small_results(self):
        self.assertIn("of the smaller half", self.compare("--outlier", "1e6").stdout)
        self.assertNotIn("of the smaller half", self.compare().stdout)
        self.assertIsNone(self.error())


if __name__ == "__main__":
    unittest.main()
