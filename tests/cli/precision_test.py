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


class Activations(unittest.TestCase):
    """--activations: of products with matrices in blocks; here those of MatMulNBits."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        codes = bytes((37 * k + k // 7) % 256 for k in range(64 * 2 * 16))
        scales = struct.pack("<128f", *(0.02 + 0.01 * math.sin(k) for k in range(128)))
        kind = [o.attribute_int(name, value) for name, value in (("K", 64), ("N", 64), ("bits", 4), ("block_size", 32))]
        product = o.node("MatMulNBits", ["x", "w", "s"], ["y"], *kind, domain="com.microsoft")
        constants = [o.tensor("w", [64, 2, 16], codes, dtype=2), o.tensor("s", [128], scales)]
        shapes = [o.value_info("x", ["n", 64])], [o.value_info("y", ["n", 64])]
        self.model = self.folder / "blocks.onnx"
        self.model.write_bytes(o.model(o.graph([product], *shapes, initializers=constants)))

    def test_an_engine_says_them_and_needs_what_they_need(self):
        engine = self.folder / "m.tenon"
        for activations, needs in (("i8", "AVX-512 with VNNI"), ("bf16", "AVX-512 with VNNI and BF16")):
            built = tenon("build", self.model, "-o", engine, "--target", "x86_avx512_bf16", "--activations", activations)
            self.assertEqual(built.returncode, 0, built.stderr)
            self.assertEqual(json.loads(tenon("inspect", engine, "--json").stdout)["manifest"]["options"], {"activations": activations})
            self.assertIn(needs, tenon("inspect", engine).stdout)

    def test_code_without_the_instruction_is_refused_with_what_to_do(self):
        for activations, target, words in (("i8", "x86_avx512", "AVX512_VNNI"), ("bf16", "x86_avx512_vnni", "AVX512_BF16")):
            refused = tenon("build", self.model, "-o", self.folder / "m.tenon", "--activations", activations, "--target", target)
            self.assertEqual(refused.returncode, 1, refused.stderr)
            for text in (words, "--target x86_avx512_", "found:"):
                self.assertIn(text, refused.stderr)
        self.assertEqual(tenon("run", self.model, "--activations", "int8").returncode, 2)

    @unittest.skipUnless(HAS_BF16, "needs a CPU with AVX512_BF16")
    def test_results_are_judged_by_what_rounding_does(self):
        errors = {}
        for activations in ("f32", "bf16", "i8"):
            judged = tenon("compare", self.model, "--activations", activations, "--shape", "x=7x64", "--json")
            self.assertEqual(judged.returncode, 0, judged.stdout + judged.stderr)
            answer = json.loads(judged.stdout)
            self.assertEqual(answer["activations"], activations)
            errors[activations] = answer["outputs"][0]["largest_error"]
        self.assertGreater(errors["bf16"], 10 * errors["f32"])
        self.assertGreater(errors["i8"], errors["bf16"])


if __name__ == "__main__":
    unittest.main()
