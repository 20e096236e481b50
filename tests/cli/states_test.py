# SPDX-License-Identifier: Apache-2.0
"""An engine with states, which the program state_engine writes: its runs begin at the initial values."""

from __future__ import annotations

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from small_models import ROOT, report, tenon


class States(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.engine = cls.folder / "states.tenon"
        subprocess.run([ROOT / "build/bin/state_engine", cls.engine], check=True)
        cls.x = cls.folder / "x.npy"
        np.save(cls.x, np.array([[1, 2]], np.float32))

    def test_a_run_is_one_step_from_the_initial_values(self):
        given = ["--input", f"x={self.x}"]
        for options in ([], ["--segments"]):  # which runs twice
            outputs = report("run", self.engine, *given, *options)["outputs"]
            self.assertEqual(outputs[0]["values"], [[1, 2]])
        self.assertEqual(report("run", self.engine, "--entry", "peek")["outputs"][0]["shape"], [0, 2])

    def test_bench_runs_more_often_than_the_capacity(self):
        self.assertEqual(tenon("bench", self.engine, "--input", f"x={self.x}", "--runs", "2", "--seconds", "0.1").returncode, 0)

    def test_bench_against_an_engine_without_states_is_refused(self):
        states = ["--state", "past_*=present_*:8", "--shape", "x=1x1x16", "--vs", "onnxruntime", "--json"]
        error = json.loads(tenon("bench", ROOT / "examples/attention.onnx", *states).stdout)["error"]
        self.assertEqual((error["name"], error["place"], error["found"]), ("not_supported", "--vs onnxruntime", "2 states"))

    def test_inspect_lists_states(self):
        rows, power = report("inspect", self.engine)["states"]
        self.assertEqual((rows["name"], rows["type"], rows["growing_axis"]), ("rows", "f32[..4,2]", 0))
        self.assertEqual((power["type"], power["initial"]), ("f32[2]", "[1, 1]"))
        self.assertNotIn("growing_axis", power)
        self.assertRegex(tenon("inspect", self.engine).stdout, r"state +rows +f32\[\.\.4,2\]")

    def test_more_rows_than_the_capacity_are_refused(self):
        many = self.folder / "many.npy"
        np.save(many, np.zeros((5, 2), np.float32))
        done = tenon("run", self.engine, "--input", f"x={many}")
        self.assertEqual(done.returncode != 0, True)
        self.assertIn("state 'rows'", done.stderr)


if __name__ == "__main__":
    unittest.main()
