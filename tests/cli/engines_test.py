# SPDX-License-Identifier: Apache-2.0
"""Engines on the command line: known by their first bytes, held to the shapes that are requested."""

from __future__ import annotations

import json
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np
from small_models import ROOT, tenon

MODEL = ROOT / "examples/mlp.onnx"  # x: f32[batch,16]


class Engines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.engine, cls.portable, cls.fixed = (cls.folder / f"{name}.tenon" for name in ("mlp", "portable", "fixed"))
        for engine, options in ((cls.engine, []), (cls.portable, ["--portable"]), (cls.fixed, ["--shape", "x=4x16"])):
            done = tenon("build", MODEL, "-o", engine, *options)
            assert done.returncode == 0, done.stderr
        cls.bare = cls.folder / "no_suffix"
        shutil.copy(cls.engine, cls.bare)

    def error(self, *arguments: object) -> dict:
        done = tenon(*arguments, "--json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return json.loads(done.stdout)["error"]

    def test_an_engine_is_recognized_by_its_first_bytes(self):
        for name in ("no_suffix", "engine.onnx", "engine.npz"):
            path = self.folder / name
            shutil.copy(self.engine, path)
            with self.subTest(name):
                self.assertEqual(tenon("run", path).returncode, 0)
                self.assertEqual(tenon("bench", path, "--runs", 1).returncode, 0)
                self.assertEqual(json.loads(tenon("inspect", path, "--json").stdout)["format"], "engine")

    def test_a_model_is_recognized_by_its_first_bytes(self):
        path = self.folder / "model.tenon"
        shutil.copy(MODEL, path)
        self.assertEqual(tenon("run", path).returncode, 0)
        self.assertEqual(json.loads(tenon("inspect", path, "--json").stdout)["format"], "onnx")

    def test_a_damaged_engine_is_one(self):
        path = self.folder / "damaged.tenon"
        content = bytearray(self.engine.read_bytes())
        content[0] ^= 1
        path.write_bytes(content)
        self.assertIn("engine", self.error("run", path)["what"])

    def test_verbs_for_models_refuse_engines(self):
        for verb, *options in (
            ["build", "-o", self.folder / "out.tenon"],
            ["export", "-o", self.folder / "out.onnx"],
            ["rewrite"],
            ["bisect", "--against-reference"],
            ["compare"],
            ["partition"],
        ):
            with self.subTest(verb):
                error = self.error(verb, self.bare, *options)
                self.assertEqual(error["expected"], "an ONNX model")
                self.assertIn("engine", error["found"])
                self.assertNotIn("or an engine", tenon(verb, "--help").stdout)

    def test_options_of_a_build_are_refused_for_engines(self):
        given = [["--opt", "3"], ["--precision", "f32"], ["--no-winograd"], ["--without", "winograd"], ["--verify-passes"]]
        given += [["--only-output", "y"], ["--freeze-defaults"], ["--external-data", "w.bin"]]
        for verb in ("run", "bench"):
            for option in given:
                for engine in (self.engine, self.portable):
                    with self.subTest(verb=verb, option=option, engine=engine.name):
                        error = self.error(verb, engine, *option)
                        self.assertEqual((error["name"], error["place"]), ("bad_usage", option[0]))

    def test_verbs_for_engines_say_so(self):
        for verb in ("run", "bench", "inspect"):
            self.assertIn("or an engine", " ".join(tenon(verb, "--help").stdout.split()))

    def test_a_shape_is_checked_as_with_a_model(self):
        wrong = {
            "z=1x16": "such|have",  # no input of this name
            "x=16": "other rank",
            "x=1x2x16": "other rank",
            "x=1x17": "fixed",
        }
        for verb in (["run"], ["bench", "--runs", 1]):
            for shape, what in wrong.items():
                for model in (MODEL, self.engine, self.portable, self.bare):
                    with self.subTest(verb=verb[0], shape=shape, model=model.name):
                        error = self.error(verb[0], model, *verb[1:], "--shape", shape)
                        self.assertEqual(error["name"], "bad_input")
                        self.assertRegex(error["what"], what)

    def test_a_shape_that_fits_is_taken(self):
        for engine in (self.engine, self.portable):
            for shape in ("x=7x16", "x=7x*"):
                [y] = json.loads(tenon("run", engine, "--shape", shape, "--json").stdout)["outputs"]
                self.assertEqual(y["shape"][0], 7)

    def test_a_fixed_engine_has_its_size(self):
        self.assertIn("fixed", self.error("run", self.fixed, "--shape", "x=5x16")["what"])
        self.assertEqual(tenon("run", self.fixed, "--shape", "x=4x16").returncode, 0)

    def test_symbols_and_bounds_are_settled(self):
        for shape in ("x=rows,16", "x=1x16:2x16:4x16"):
            self.assertEqual(self.error("run", self.engine, "--shape", shape)["name"], "bad_usage")
        self.assertEqual(tenon("run", self.engine, "--shape", "x=batch,16").returncode, 0)

    def test_inspect_checks_shapes_too(self):
        self.assertIn("other rank", self.error("inspect", self.engine, "--shape", "x=3")["what"])

    def test_a_file_of_another_shape_than_requested_is_refused(self):
        x = self.folder / "x.npy"
        np.save(x, np.ones((2, 16), np.float32))
        for model in (MODEL, self.engine):
            self.assertEqual(self.error("run", model, "--input", f"x={x}", "--shape", "x=3x16")["name"], "bad_input")
            self.assertEqual(tenon("run", model, "--input", f"x={x}", "--shape", "x=2x16").returncode, 0)


if __name__ == "__main__":
    unittest.main()
