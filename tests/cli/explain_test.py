# SPDX-License-Identifier: Apache-2.0
"""`bench --explain`: each kernel beside its prediction, and what `calibrate` found of the machine. No figure is judged."""

import json
import math
import os
import struct
import tempfile
import unittest
from pathlib import Path

from small_models import o, tenon

BRIEF = ("--runs", 1, "--seconds", "0.1")
LIMITS = ["peak", "latency", "second-level cache", "third-level cache", "memory", "exchange between cores", "start"]
FIGURES = ["f32_gflops", "start_ns", "second_level_bytes", "third_level_bytes"]


def model() -> bytes:
    nodes = [
        o.node("MatMul", ["x", "w"], ["a"], name="/product"),
        o.node("Softmax", ["a"], ["y"], o.attribute_int("axis", 1), name="/soft"),
    ]
    return o.chain(nodes, initializers=[o.tensor("w", [4, 4], struct.pack("<16f", *range(16)))])


class Explains(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.model = cls.folder / "model.onnx"
        cls.model.write_bytes(model())
        cls.env = os.environ | {"XDG_CACHE_HOME": str(cls.folder / "cache")}

    def explained(self, *options: object) -> dict:
        done = tenon("bench", self.model, "--explain", "--json", *options, *BRIEF, env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["explained"]

    def test_each_kernel_has_a_prediction_and_a_limit(self):
        report = self.explained()
        self.assertTrue(report["kernels"])
        for kernel in report["kernels"]:
            for figure in ("ms", "predicted_ms", "ratio", "limit_share"):
                self.assertTrue(math.isfinite(kernel[figure]) and kernel[figure] > 0, kernel)
            self.assertIn(kernel["limit"], LIMITS)
        product = next(k for k in report["kernels"] if k["label"] == "MatMul")
        self.assertTrue(product["why"].startswith("tile "), product)
        self.assertTrue(product["tactic"].startswith("tile="), product)

    def test_the_table_follows_that_of_the_times(self):
        done = tenon("bench", self.model, "--explain", *BRIEF, env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"kernel +calls +ms +predicted +ratio +limit")
        self.assertRegex(done.stdout, r"predictions are \d+\.\d % off in the median")

    def test_goes_by_what_calibrate_found(self):
        self.assertFalse(self.explained("--threads", 1)["calibrated"])
        done = tenon("calibrate", "--backend", "cpu", "--threads", 1, "--json", env=self.env)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)["machine"]
        for figure in [found[f] for f in FIGURES] + [
            found[level]["one_gbps"] for level in ("second_level_cache", "third_level_cache", "memory")
        ]:
            self.assertGreater(figure, 0)
        report = self.explained("--threads", 1)
        self.assertTrue(report["calibrated"])
        self.assertAlmostEqual(report["machine"]["f32_gflops"], found["f32_gflops"], delta=1e-3 * found["f32_gflops"])

    def test_what_was_found_changes_no_engine(self):
        engines = []
        for cache in ("empty", "cache"):
            tenon("calibrate", "--backend", "cpu", env=self.env) if cache == "cache" else None
            engine = self.folder / f"{cache}.tenon"
            env = self.env | {"XDG_CACHE_HOME": str(self.folder / cache)}
            self.assertEqual(tenon("build", self.model, "-o", engine, env=env).returncode, 0)
            engines.append(engine.read_bytes())
        self.assertEqual(*engines)


if __name__ == "__main__":
    unittest.main()
