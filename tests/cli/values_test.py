# SPDX-License-Identifier: Apache-2.0
"""The values of a run: `run --print`, and those in `--json`."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

import numpy as np
from small_models import o, tenon

F32, I64, STRING, BOOL, F16, U64 = 1, 7, 8, 9, 10, 13


class Values(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def run_on(self, value: np.ndarray, dtype: int, *options: object):
        """What a model that gives its input back shows."""
        model, x = self.folder / "m.onnx", self.folder / "x.npy"
        ports = [[o.value_info(name, list(value.shape), dtype)] for name in "xy"]
        model.write_bytes(o.model(o.graph([o.node("Identity", ["x"], ["y"])], *ports)))
        np.save(x, value)
        done = tenon("run", model, "--input", f"x={x}", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def values(self, value: np.ndarray, dtype: int, *options: object):
        return json.loads(self.run_on(value, dtype, "--json", *options))["outputs"][0]["values"]

    def test_json_has_every_value_as_it_is(self):
        for dtype, value in (
            (F32, np.array([[0.1, -2.5, 3e38], [0, 1e-45, 7]], np.float32)),
            (F16, np.array([0.1, 65504], np.float16)),
            (I64, np.array([[2**63 - 1], [-(2**63)]], np.int64)),
            (U64, np.array([2**64 - 1, 0], np.uint64)),
            (BOOL, np.array([True, False])),
            (F32, np.zeros((2, 0, 3), np.float32)),
            (F32, np.float32(0.1)),
        ):
            with self.subTest(value=value):
                self.assertEqual(self.values(np.asarray(value), dtype), np.asarray(value).tolist())

    def test_what_json_has_no_number_for_is_text(self):
        self.assertEqual(self.values(np.array([np.nan, np.inf, -np.inf], np.float32), F32), ["nan", "inf", "-inf"])

    def test_many_values_are_requested(self):
        many = np.arange(1001, dtype=np.float32)
        self.assertIsNone(self.values(many, F32))
        self.assertEqual(self.values(many, F32, "--print"), many.tolist())
        self.assertEqual(self.values(many[:1000], F32), many[:1000].tolist())

    def test_print_shows_every_element(self):
        value = np.array([[[0.1, 2], [3, 4]], [[5, 6], [7, 1e20]]], np.float32)
        text = self.run_on(value, F32, "--print")
        self.assertEqual(text, "y: f32[2,2,2]\n[[[0.1, 2],\n  [3, 4]],\n [[5, 6],\n  [7, 1e+20]]]\n")
        self.assertEqual(self.run_on(np.array([True, False]), BOOL, "--print"), "y: bool[2]\n[true, false]\n")
        many = self.run_on(np.arange(5000, dtype=np.int64), I64, "--print")
        self.assertEqual(json.loads(many.split("\n", 1)[1]), list(range(5000)))


class Bench(unittest.TestCase):
    def test_names_the_shape_that_it_ran_and_percentiles(self):
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "m.onnx"
            model.write_bytes(o.chain([o.node("Relu", ["x"], ["y"])]))
            call = ("bench", model, "--shape", "x=7x4", "--runs", 2)
            text = tenon(*call).stdout
            report = json.loads(tenon(*call, "--json").stdout)
        self.assertIn("at x[7,4]\n", text)
        self.assertRegex(text, r"p50 \S+ ms, p95 \S+, p99 \S+;")
        self.assertEqual(report["shapes"], {"x": [7, 4]})
        self.assertLessEqual(report["p50_ms"], report["p95_ms"])
        self.assertLessEqual(report["p95_ms"], report["p99_ms"])
        self.assertEqual(report["p50_ms"], report["median_ms"])
        self.assertEqual(report["peak_disturbed"], report["peak_share"] > 1)


if __name__ == "__main__":
    unittest.main()
