# SPDX-License-Identifier: Apache-2.0
"""What verbs make of inputs with defaults and of --seed."""

import struct
import tempfile
import unittest
from pathlib import Path

import numpy as np
from small_models import o, report, tenon


def scaled() -> bytes:
    """y = reshape(x * w, s) with w = [1, 2, 3] and s = [3, 2] where the caller gives none."""
    weights = [o.tensor("w", [3], struct.pack("<3f", 1, 2, 3)), o.tensor("s", [2], struct.pack("<2q", 3, 2), dtype=7)]
    inputs = [o.value_info("x", [2, 3]), o.value_info("w", [3]), o.value_info("s", [2], 7)]
    nodes = [o.node("Mul", ["x", "w"], ["h"]), o.node("Reshape", ["h", "s"], ["y"])]
    return o.model(o.graph(nodes, inputs, [o.value_info("y", None)], weights))


def drawing() -> bytes:
    return o.model(o.graph([o.node("RandomNormal", [], ["y"], o.attribute_ints("shape", [20]))], [], [o.value_info("y", [20])]))


class RunOptions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.model = cls.folder / "m.onnx"
        cls.model.write_bytes(scaled())
        cls.random = cls.folder / "r.onnx"
        cls.random.write_bytes(drawing())

    def result(self, model: Path, inputs: dict, *options: object) -> np.ndarray:
        given, made = self.folder / "in.npz", self.folder / "out.npz"
        np.savez(given, **inputs)
        done = tenon("run", model, *(["--input", given] if inputs else []), "--output", made, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with np.load(made) as results:
            return results["y"]

    def overrides(self, model: Path, *options: object) -> None:
        x, w = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([7, 0, -1], np.float32)
        s = np.array([6, 1])
        np.testing.assert_array_equal(self.result(model, {"x": x}, *options), (x * [1, 2, 3]).reshape(3, 2))
        np.testing.assert_array_equal(self.result(model, {"x": x, "w": w}, *options), (x * w).reshape(3, 2))
        np.testing.assert_array_equal(self.result(model, {"x": x, "s": s}, *options), (x * [1, 2, 3]).reshape(6, 1))

    def test_run_overrides_defaults(self):
        self.overrides(self.model)
        self.overrides(self.model, "--opt", 0)

    def test_engines_keep_defaults(self):
        for options in ([], ["--portable"]):
            engine = self.folder / "m.tenon"
            self.assertEqual(tenon("build", self.model, "-o", engine, *options).returncode, 0)
            self.overrides(engine)

    def test_rewrite_and_export_keep_defaults(self):
        for verb in ("rewrite", "export"):
            made = self.folder / f"{verb}.onnx"
            done = tenon(verb, self.model, "-o", made)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.overrides(made)

    def test_inspect_shows_defaults(self):
        engine = self.folder / "i.tenon"
        self.assertEqual(tenon("build", self.model, "-o", engine).returncode, 0)
        for model in (self.model, engine):
            ports = report("inspect", model)["inputs"]
            self.assertEqual([p["name"] for p in ports], ["x", "w", "s"])
            self.assertEqual([p.get("default") for p in ports], [None, "[1, 2, 3]", "[3, 2]"])
        for options in ([], ["--html", self.folder / "i.html"]):
            self.assertEqual(report("inspect", engine, "--shape", "w=3", *options)["inputs"][1]["name"], "w")

    def test_frozen_defaults_are_no_inputs(self):
        engine = self.folder / "f.tenon"
        done = tenon("build", self.model, "-o", engine, "--freeze-defaults")
        self.assertEqual((done.returncode, done.stderr.count("is taken as a constant")), (0, 2), done.stderr)
        self.assertEqual([p["name"] for p in report("inspect", engine)["inputs"]], ["x"])

    def test_compare_judges_overridden_defaults(self):
        given = self.folder / "c.npz"
        np.savez(given, w=np.array([5, 5, 5], np.float32))
        self.assertEqual(report("compare", self.model, "--input", given)["verdict"], "good")

    def test_a_seed_repeats_random_numbers(self):
        first, again, other = (self.result(self.random, {}, "--seed", s) for s in (3, 3, 4))
        np.testing.assert_array_equal(first, again)
        self.assertTrue((first != other).all())
        self.assertTrue((self.result(self.random, {}) != self.result(self.random, {})).any())

    def test_compare_draws_the_references_numbers(self):
        self.assertEqual(report("compare", self.random)["verdict"], "good")


if __name__ == "__main__":
    unittest.main()
