# SPDX-License-Identifier: Apache-2.0
"""--precision bf16: said in the engine, judged by its own bounds, refused where the CPU has no products of bf16."""

import json
import math
import os
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

HAS_BF16 = "avx512_bf16" in Path("/proc/cpuinfo").read_text()


def tenon(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(TENON), *map(str, arguments)], capture_output=True, text=True, timeout=120)


class Precision(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

        weights = struct.pack("<4096f", *(math.sin(1.7 * k) for k in range(4096)))
        shapes = [o.value_info("x", ["n", 64])], [o.value_info("y", ["n", 64])]
        self.model = self.folder / "product.onnx"
        self.model.write_bytes(
            o.model(o.graph([o.node("MatMul", ["x", "w"], ["y"])], *shapes, initializers=[o.tensor("w", [64, 64], weights)]))
        )

    def manifest(self, *options: str) -> dict:
        engine = self.folder / "m.tenon"
        built = tenon("build", self.model, "-o", engine, *options)
        self.assertEqual(built.returncode, 0, built.stderr)
        return json.loads(tenon("inspect", engine, "--json").stdout)["manifest"]

    def test_an_engine_says_its_precision_where_it_is_not_f32(self):
        self.assertEqual(self.manifest("--precision", "bf16", "--target", "x86_avx512_bf16")["options"], {"precision": "bf16"})
        self.assertEqual(self.manifest("--target", "x86_avx512_bf16")["options"], {})
        self.assertEqual(tenon("run", self.folder / "m.tenon", "--precision", "bf16").returncode, 2)

    def test_an_engine_needs_of_a_cpu_what_its_types_need(self):
        def needs(*options: str) -> str:
            self.manifest("--target", "x86_avx512_bf16", *options)
            return tenon("inspect", self.folder / "m.tenon").stdout

        self.assertIn("AVX-512 with VNNI and BF16", needs("--precision", "bf16"))
        self.assertIn("AVX-512", needs())
        self.assertNotIn("BF16", needs())

    def test_code_without_products_of_bf16_is_refused_with_what_to_do(self):
        for target in ("x86_avx2", "x86_avx512", "x86_avx512_vnni"):
            refused = tenon("build", self.model, "-o", self.folder / "m.tenon", "--precision", "bf16", "--target", target)
            self.assertNotEqual(refused.returncode, 0)
            for words in ("AVX512_BF16", "--target x86_avx512_bf16", "found:"):
                self.assertIn(words, refused.stderr)
        self.assertEqual(tenon("run", self.model, "--precision", "bf8").returncode, 2)

    @unittest.skipUnless(HAS_BF16, "needs a CPU with AVX512_BF16")
    def test_results_are_judged_as_bf16(self):
        f32, bf16 = tenon("compare", self.model, "--json"), tenon("compare", self.model, "--precision", "bf16", "--json")
        self.assertEqual((f32.returncode, bf16.returncode), (0, 0), bf16.stderr)
        f32, bf16 = json.loads(f32.stdout), json.loads(bf16.stdout)
        self.assertEqual((f32["precision"], bf16["precision"]), ("f32", "bf16"))
        self.assertGreater(bf16["outputs"][0]["largest_error"], 10 * f32["outputs"][0]["largest_error"])
        self.assertIn("judged as bf16", tenon("compare", self.model, "--precision", "bf16").stdout)


if __name__ == "__main__":
    unittest.main()
