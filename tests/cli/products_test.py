# SPDX-License-Identifier: Apache-2.0
"""`bench --json` tells operations by what they multiply, each beside its own peak."""

import struct
import tempfile
import unittest
from pathlib import Path

from small_models import o, report, tenon

CPU = Path("/proc/cpuinfo").read_text()
ROWS, WIDTH = 32, 256
GFLOP = 2 * ROWS * WIDTH**2 / 1e9  # of the product


class Products(unittest.TestCase):
    def products(self, nodes: list[bytes], inputs: list[bytes], weights: bytes, *options: object) -> dict:
        """Of a model, and of an engine file that it was built to, which must say the same."""
        model, engine = self.folder / "m.onnx", self.folder / "m.tenon"
        outputs = [o.value_info("y", [ROWS, WIDTH])]
        model.write_bytes(o.model(o.graph(nodes, inputs, outputs, initializers=[weights])))
        built = tenon("build", model, "-o", engine, *options)
        self.assertEqual(built.returncode, 0, built.stderr)
        brief = ["--runs", 1, "--seconds", "0.1", "--threads", 1]
        of_model, of_engine = report("bench", model, *options, *brief), report("bench", engine, *brief)
        gflop = [{name: each["gflop"] for name, each in found["products"].items()} for found in (of_model, of_engine)]
        self.assertEqual(*gflop)
        least_ms = sum(each["gflop"] / each["peak_gflops"] for each in of_model["products"].values()) * 1e3
        self.assertAlmostEqual(of_model["peak_share"], least_ms / of_model["median_ms"])
        return gflop[0]

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.floats = o.tensor("w", [WIDTH, WIDTH], struct.pack("<f", 0.5) * WIDTH**2)
        # Exp: operations of f32 beside the product.
        self.float_nodes = [o.node("MatMul", ["x", "w"], ["p"]), o.node("Exp", ["p"], ["e"]), o.node("Softmax", ["e"], ["y"])]

    def test_f32(self):
        found = self.products(self.float_nodes, [o.value_info("x", [ROWS, WIDTH])], self.floats)
        self.assertEqual(list(found), ["f32"])
        self.assertGreater(found["f32"], GFLOP)

    @unittest.skipUnless("avx512_bf16" in CPU, "needs a CPU with AVX512_BF16")
    def test_bf16(self):
        found = self.products(self.float_nodes, [o.value_info("x", [ROWS, WIDTH])], self.floats, "--precision", "bf16")
        self.assertAlmostEqual(found["bf16"], GFLOP)
        self.assertGreater(found["f32"], 0)

    @unittest.skipUnless("avx512_vnni" in CPU, "needs a CPU with AVX512_VNNI")
    def test_int8(self):
        nodes = [
            o.node("MatMulInteger", ["x", "w"], ["i"]),
            o.node("Cast", ["i"], ["f"], o.attribute_int("to", 1)),
            o.node("Softmax", ["f"], ["y"]),
        ]
        found = self.products(
            nodes, [o.value_info("x", [ROWS, WIDTH], 2)], o.tensor("w", [WIDTH, WIDTH], bytes(range(1, 129)) * (WIDTH**2 // 128), 3)
        )
        self.assertAlmostEqual(found["int8"], GFLOP)
        self.assertGreater(found["f32"], 0)


if __name__ == "__main__":
    unittest.main()
