# SPDX-License-Identifier: Apache-2.0
"""`tenon compare` of models with states: steps that follow each other, against the reference and beside another engine."""

from __future__ import annotations

import json
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
from small_models import ROOT, o, report, tenon

ATTENTION = ROOT / "examples/attention.onnx"
PYTHON = ROOT / ".venv-peers/bin/python"
STATES = ("--state", "past_*=present_*:16", "--shape", "x=1x2x16")


def has(package: str) -> bool:
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True).returncode == 0


def running_sum() -> bytes:
    """y = n = m + x * 0.5, m: f32[4]; n replaces m."""
    nodes = [o.node("Mul", ["x", "half"], ["s"], name="/scale"), o.node("Add", ["m", "s"], ["n"], name="/sum"), o.node("Exp", ["n"], ["y"])]
    values = [o.value_info(v, [4]) for v in ("x", "m", "y", "n")]
    return o.model(o.graph(nodes, values[:2], values[2:], [o.tensor("half", [], struct.pack("<f", 0.5))]))


class CompareStates(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.sum = cls.folder / "sum.onnx"
        cls.sum.write_bytes(running_sum())

    def rows(self, *arguments: object) -> list[dict]:
        answer = report("compare", *arguments)
        self.assertEqual(answer.get("verdict"), "good", answer)
        return answer["outputs"]

    def error(self, *arguments: object) -> dict:
        done = tenon("compare", *arguments, "--json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return json.loads(done.stdout)["error"]

    def test_each_step_and_the_last_states_are_judged(self):
        rows = self.rows(ATTENTION, *STATES)
        self.assertEqual([(row.get("step"), row["name"], row["type"]) for row in rows[:4]], [(k, "y", "f32[1,2,16]") for k in (1, 2, 3, 4)])
        self.assertEqual([(row["name"], row["type"], row["state"]) for row in rows[4:]],
                         [(f"past_{name}", "f32[1,8,16]", True) for name in ("key", "value")])  # fmt: skip
        self.assertTrue(all(row["of_bound"] <= 1 for row in rows))

    def test_the_number_of_steps_is_chosen(self):
        self.assertEqual(len(self.rows(ATTENTION, *STATES, "--steps", 7)), 9)
        self.assertEqual(len(self.rows(self.sum, "--state", "m=n", "--steps", 1)), 2)
        self.assertEqual([row["step"] for row in self.rows(self.sum, "--steps", 2) if row["name"] == "y"], [1, 2])  # without states

    def test_steps_read_their_own_inputs(self):
        x = self.folder / "x.npy"
        np.save(x, np.arange(12, dtype=np.float32).reshape(3, 4) / 8)
        rows = self.rows(self.sum, "--state", "m=n", "--steps", 3, "--input", f"x={x}")
        self.assertEqual(len(rows), 4)
        self.assertEqual(self.error(self.sum, "--state", "m=n", "--steps", 2, "--input", f"x={x}")["place"], "input 'x'")

    def test_options_that_look_inside_look_at_one_step(self):
        answer = report("compare", ATTENTION, *STATES, "--all-values", "--by-segment")
        self.assertEqual(answer["verdict"], "good", answer)
        self.assertIn("scores", [value["value"] for value in answer["values"]])
        self.assertTrue(answer["segments"])

    @unittest.skipUnless("avx512_bf16" in Path("/proc/cpuinfo").read_text(), "needs a CPU with AVX512_BF16")
    def test_products_of_bf16_are_judged_by_their_tolerance(self):
        self.assertEqual(report("compare", ATTENTION, *STATES, "--precision", "bf16")["verdict"], "good")

    def test_steps_beyond_the_capacity_name_the_step(self):
        error = self.error(ATTENTION, *STATES, "--steps", 9)
        self.assertEqual((error["place"], error["expected"]), ("step 9 of 9, state 'past_key'", "0 .. 16"))

    def test_numbers_of_steps_are_checked(self):
        for steps in ("0", "-1"):
            self.assertEqual(self.error(ATTENTION, *STATES, "--steps", steps)["name"], "bad_usage")

    def test_another_engine_carries_the_states(self):
        for peer in ("onnxruntime", "openvino"):
            with self.subTest(peer):
                if not has(peer):
                    self.skipTest(f"needs the package {peer} in .venv-peers")
                for model, states in ((ATTENTION, STATES), (self.sum, ("--state", "m=n"))):
                    rows = self.rows(model, *states, "--with", peer)
                    self.assertTrue(all(row["other_error"] is not None and row["other_error"] < 1e-4 for row in rows), rows)

    def test_torch_is_refused_where_it_cannot_carry_states(self):
        error = self.error(ATTENTION, *STATES, "--with", "torch")
        self.assertEqual((error["name"], error["place"], error["found"]), ("not_supported", "--with torch", "4 steps"))


if __name__ == "__main__":
    unittest.main()
