# SPDX-License-Identifier: Apache-2.0
"""Ops of random sizes: one seed gives one list, each can be measured, and the table says what was found."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/bench"))

import kernels_bench  # noqa: E402
import single_ops  # noqa: E402


def row(ratio: float, **changed: object) -> dict:
    vs = {"torch-eager": {"ratio": ratio, "low": ratio, "high": ratio, "quiet": True}}
    return {"vs": vs, "best": "torch-eager", "counts": True, "share": 0.9} | changed


class SingleOps(unittest.TestCase):
    def test_a_seed_says_all(self):
        for what in single_ops.DRAWN:
            self.assertEqual(single_ops.ops(what, 5), single_ops.ops(what, 5))
            self.assertNotEqual(single_ops.ops(what, 5), single_ops.ops(what, 6))
            for op in single_ops.ops(what, 5, 50):
                self.assertTrue(single_ops.FEWEST_FLOPS <= op.flops <= single_ops.MOST_FLOPS, op.title)

    def test_each_runs_and_is_as_large_as_it_says(self):
        for op in [op for what in single_ops.DRAWN for op in single_ops.ops(what, 3, 2)]:
            with self.subTest(op.title), tempfile.TemporaryDirectory() as folder:
                model, inputs = Path(folder) / "op.onnx", Path(folder) / "inputs.npz"
                single_ops.write(op, model)
                np.savez(inputs, x=np.ones(op.input, np.float32))
                command = [kernels_bench.ROOT / "build/bin/tenon", "bench", model, "--input", inputs, "--threads", "1", "--serve"]
                done = subprocess.run(command, input="work\n", capture_output=True, text=True, timeout=300)
                self.assertEqual(done.returncode, 0, done.stderr)
                flops, _, _, weight_bytes = map(float, done.stdout.splitlines()[1].split()[1:])
                self.assertLessEqual(flops, 1.01 * op.flops)  # windows that stand over the edge have less to do, or a kernel does with less
                self.assertGreaterEqual(weight_bytes, 4 * np.prod(op.weight))  # packed, with rests filled up


class Summary(unittest.TestCase):
    def test_least_and_median_of_those_that_count(self):
        found = [row(0.9), row(1.2), row(1.1), row(9.0, counts=False), {"error": "not supported yet"}]
        self.assertEqual(kernels_bench.summary("ten", found)["figure"], "3 of 5 count: least 0.90, median 1.10, median share 90 %")
        self.assertEqual(kernels_bench.summary("ten", [{"error": "no"}])["figure"], "0 of 1 count")

    def test_a_row_says_what_went_wrong(self):
        op = single_ops.ops("gemms", 1, 1)[0]
        self.assertIn("results differ", kernels_bench.op_row(op, row(2, counts=False))["figure"])
        self.assertIn("Tenon fails: no", kernels_bench.op_row(op, {"error": "no"})["figure"])

    def test_tiles_that_reach_the_bar_are_named(self):
        def tile(rows: int, hot: float, quiet: int) -> dict:
            way = {"share": hot, "quiet": quiet}
            return {"target": "t", "rows": rows, "vectors": 2} | {each: way for each in kernels_bench.WAYS}

        tiles = [tile(6, 0.98, 7), tile(1, 0.5, 0)]
        hot, cold = kernels_bench.summaries_of_tiles(tiles)
        self.assertEqual(hot["figure"], "1 of 2 reach 97 % of the peak: 6x2")
        self.assertEqual(cold["figure"], "1 of 2 reach 85 % of what peak or memory allow; not 1x2")
        self.assertIn("hot 50.0 % (noisy)", kernels_bench.tile_row(tiles[1])["figure"])


if __name__ == "__main__":
    unittest.main()
