# SPDX-License-Identifier: Apache-2.0
"""`tenon run --steps`: steps of one context, which continue each other's states; files of states."""

from __future__ import annotations

import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from small_models import ROOT, report, tenon

MLP = ROOT / "examples/mlp.onnx"  # x: f32[batch,16], no states


class Steps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.engine = cls.folder / "states.tenon"  # append: x: f32[n,2] -> seen: f32[past + n,2], `rows` holds 4; `power` doubles
        subprocess.run([ROOT / "build/bin/state_engine", cls.engine], check=True)

    def file(self, values: list) -> Path:
        path = self.folder / f"{self.id()}.npy"
        np.save(path, np.array(values, np.float32))
        return path

    def run_steps(self, steps: object, values: list, *options: object) -> dict:
        return report("run", self.engine, "--input", f"x={self.file(values)}", "--steps", steps, *options)

    def error(self, *arguments: object) -> dict:
        done = tenon("run", *arguments, "--json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return json.loads(done.stdout)["error"]

    def test_a_value_without_an_axis_of_steps_is_that_of_every_step(self):
        answer = self.run_steps(3, [[1, 2]])
        self.assertEqual(answer["outputs"][0]["values"], [[1, 2], [1, 2], [1, 2]])
        self.assertEqual([step["ms"] > 0 for step in answer["steps"]], [True] * 3)
        rows, power = answer["states"]
        self.assertEqual((rows["name"], rows["type"], rows["length"], rows["capacity"]), ("rows", "f32[3,2]", 3, 4))
        self.assertEqual(power, {"name": "power", "type": "f32[2]"})

    def test_an_axis_of_steps_gives_each_step_its_own_value(self):
        self.assertEqual(self.run_steps(3, [[[1, 2]], [[3, 4]], [[5, 6]]])["outputs"][0]["values"], [[1, 2], [3, 4], [5, 6]])
        self.assertEqual(self.run_steps(1, [[[7, 8]]])["outputs"][0]["values"], [[7, 8]])

    def test_random_inputs_differ_from_step_to_step(self):
        values = report("run", self.engine, "--shape", "x=1x2", "--steps", 3)["outputs"][0]["values"]
        self.assertEqual(len({tuple(row) for row in values}), 3)
        self.assertEqual(values[:1], report("run", self.engine, "--shape", "x=1x2")["outputs"][0]["values"])

    def test_text_has_the_lengths_and_times(self):
        text = tenon("run", self.engine, "--input", f"x={self.file([[1, 2]])}", "--steps", 2).stdout
        self.assertRegex(text, r"rows +f32\[2,2\] +4")
        self.assertRegex(text, r"2 steps: \S+ ms the first, \S+ ms the median of the others")

    def test_steps_beyond_the_capacity_name_the_step(self):
        x = self.file([[1, 2]])
        error = self.error(self.engine, "--input", f"x={x}", "--steps", 6, "--save-state", self.folder / "never.states")
        self.assertEqual((error["place"], error["expected"]), ("step 5 of 6, state 'rows'", "0 .. 4"))
        self.assertFalse((self.folder / "never.states").exists())

    def test_numbers_of_steps_are_checked(self):
        for steps in ("0", "-1", "many", "1.5"):
            with self.subTest(steps):
                error = self.error(self.engine, "--steps", steps)
                self.assertEqual(error["name"], "bad_usage")
                self.assertIn("--steps", error["place"] + error["what"])

    def test_an_axis_of_another_size_is_refused(self):
        error = self.error(self.engine, "--input", f"x={self.file([[[1, 2]], [[3, 4]]])}", "--steps", 3)
        self.assertEqual((error["place"], error["found"]), ("input 'x'", "f32[2,1,2]"))
        self.assertIn("3 in dimension 0", error["expected"])
        self.assertEqual(self.error(self.engine, "--input", f"x={self.file([[[1, 2]]])}")["place"], "input 'x'")  # without --steps

    def test_an_engine_without_states_repeats_its_run(self):
        x = self.folder / "many.npy"
        np.save(x, np.linspace(-1, 1, 96, dtype=np.float32).reshape(3, 2, 16))
        last = self.folder / "last.npy"
        np.save(last, np.load(x)[2])
        answer = report("run", MLP, "--input", f"x={x}", "--steps", 3)
        self.assertEqual(answer["outputs"], report("run", MLP, "--input", f"x={last}")["outputs"])
        self.assertEqual((len(answer["steps"]), answer["states"]), (3, []))

    def test_saved_states_are_gone_on_from(self):
        states = self.folder / "states.bin"
        self.run_steps(2, [[[1, 2]], [[3, 4]]], "--save-state", states)
        for steps in ([], ["--steps", 1], ["--segments"]):
            with self.subTest(steps):
                answer = report("run", self.engine, "--input", f"x={self.file([[5, 6]])}", *steps, "--load-state", states)
                self.assertEqual(answer["outputs"][0]["values"], [[1, 2], [3, 4], [5, 6]])
        self.assertEqual(report("run", self.engine, "--entry", "peek", "--load-state", states)["outputs"][0]["values"], [[1, 2], [3, 4]])

    def test_files_of_states_are_checked(self):
        states = self.folder / "good.bin"
        self.run_steps(1, [[1, 2]], "--save-state", states)
        damaged = self.folder / "damaged.bin"
        damaged.write_bytes(states.read_bytes()[:-3])
        self.assertEqual(self.error(self.engine, "--load-state", damaged)["name"], "bad_file")
        self.assertEqual(self.error(self.engine, "--load-state", self.folder / "missing.bin")["name"], "file_missing")
        self.assertIn("overwrite", self.error(self.engine, "--load-state", states, "--save-state", states)["what"])
        for option in ("--load-state", "--save-state"):
            error = self.error(MLP, option, states if option == "--load-state" else self.folder / "none.bin")
            self.assertEqual((error["place"], error["what"]), (option, "the engine has no states"))

    def test_segments_are_of_one_step(self):
        self.assertEqual(self.error(self.engine, "--segments", "--steps", 2)["name"], "bad_usage")


if __name__ == "__main__":
    unittest.main()
