# SPDX-License-Identifier: Apache-2.0
"""Engines with several entries: built from several models, run by name."""

from __future__ import annotations

import json
import tempfile
import unittest
from pathlib import Path

import numpy as np
from small_models import ROOT, report, tenon

MODEL = ROOT / "examples/mlp.onnx"  # x: f32[batch,16]


class Entries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.alone, cls.engine = cls.folder / "alone.tenon", cls.folder / "two.tenon"
        for engine, options in ((cls.alone, []), (cls.engine, ["--entry", f"second={MODEL}", "--shape", "x=4x16"])):
            done = tenon("build", MODEL, "-o", engine, *options)
            assert done.returncode == 0, done.stderr
        cls.x = cls.folder / "x.npy"
        np.save(cls.x, np.linspace(-1, 1, 112, dtype=np.float32).reshape(7, 16))

    def error(self, *arguments: object) -> dict:
        done = tenon(*arguments, "--json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return json.loads(done.stdout)["error"]

    def test_an_entry_is_run_by_its_name(self):
        expected = report("run", self.alone, "--input", f"x={self.x}")["outputs"]
        self.assertEqual(report("run", self.engine, "--entry", "second", "--input", f"x={self.x}")["outputs"], expected)
        self.assertIn("input 'x'", self.error("run", self.engine, "--input", f"x={self.x}")["place"])  # `main` takes 4 rows
        self.assertEqual(tenon("run", self.engine, "--entry", "main").returncode, 0)

    def test_portable_engines_compile_all_entries_where_they_are_loaded(self):
        portable = self.folder / "portable.tenon"
        done = tenon("build", MODEL, "--portable", "-o", portable, "--entry", f"second={MODEL}", "--shape", "x=4x16")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(report("inspect", portable)["manifest"]["entries"], ["main", "second"])
        given = ["--entry", "second", "--input", f"x={self.x}"]
        self.assertEqual(report("run", portable, *given)["outputs"], report("run", self.engine, *given)["outputs"])
        self.assertEqual(tenon("run", portable, "--entry", "main").returncode, 0)
        self.assertIn("did you mean 'second'", self.error("run", portable, "--entry", "secnod")["advice"])
        one = self.folder / "one_portable.tenon"
        self.assertEqual(tenon("build", MODEL, "--portable", "-o", one).returncode, 0)
        kept = [{s["name"]: s["bytes"] for s in report("inspect", e)["sections"]}["weights"] for e in (one, portable)]
        self.assertEqual(*kept)

    def test_inspect_lists_entries(self):
        entries = report("inspect", self.engine)["entries"]
        self.assertEqual([e["name"] for e in entries], ["main", "second"])
        self.assertEqual([e["inputs"][0]["shape"] for e in entries], [["4", "16"], ["batch", "16"]])
        self.assertIn("second: in", tenon("inspect", self.engine).stdout)

    def test_equal_weights_are_kept_once(self):
        alone, both = (report("inspect", engine)["memory"]["weight_bytes"] for engine in (self.alone, self.engine))
        self.assertLess(both, alone + 1024)

    def test_steps_of_each_entry_are_listed(self):
        self.assertTrue(any(row["step"].startswith("second: ") for row in report("inspect", self.engine)["steps"]))

    def test_an_entry_that_there_is_not_names_the_nearest(self):
        error = self.error("run", self.engine, "--entry", "secnod")
        self.assertEqual((error["place"], error["expected"]), ("entry 'secnod'", "main, second"))
        self.assertEqual(error["advice"], "did you mean 'second'?")

    def test_entries_need_names_that_differ(self):
        out = self.folder / "refused.tenon"
        for entry in (f"main={MODEL}", "second", f"={MODEL}", "second="):
            with self.subTest(entry):
                self.assertIn("entry", self.error("build", MODEL, "--entry", entry, "-o", out)["place"])
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
