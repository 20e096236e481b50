# SPDX-License-Identifier: Apache-2.0
"""Layouts and tactics of plugins: what a build asks for, measures, keeps and tells."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import small_models  # noqa: E402
from small_models import ROOT, o  # noqa: E402

TUNED = Path(__file__).resolve().parent / "fixtures" / "tuned.c"


@unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
class Measured(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.tuned = cls.compiled("tuned")
        os.environ["XDG_CACHE_HOME"] = str(cls.folder / "cache")

    @classmethod
    def compiled(cls, name: str, *options: str) -> Path:
        out = cls.folder / f"{name}.so"
        flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{ROOT / 'include'}"]
        subprocess.run(["cc", *flags, TUNED, *options, "-o", out, "-lm"], check=True)
        return out

    def one_op(self, op: str, *attributes: bytes, domain: str = "tuned", sizes=(2, 3, 4, 5), results=None, dtype: int = 1) -> Path:
        path = self.folder / f"{op}{len(list(self.folder.iterdir()))}.onnx"
        node = o.node(op, ["x"], ["y"], *attributes, domain=domain, name="it")
        ports = [o.value_info("x", list(sizes), dtype)], [o.value_info("y", list(results or sizes), dtype)]
        path.write_bytes(o.model(o.graph([node], *ports)) + o.message(8, o.text(1, "tuned"), o.number(2, 1)))
        return path

    def told(self, *arguments: object) -> dict:
        done = small_models.tenon(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def error(self, *arguments: object, status: int = 1) -> dict:
        done = small_models.tenon(*arguments, "--json")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)["error"]

    def built(self, model: Path, *options: object) -> tuple[dict, list]:
        """What the build told, and what the engine keeps of plugins."""
        engine = model.with_suffix(".tenon")
        report = self.told("build", model, "-o", engine, "--plugin", self.tuned, *options)
        return report, self.told("inspect", engine).get("plugins", [])

    def test_a_plugin_that_takes_channels_last_alone_gets_them(self):
        for sizes in ([2, 3, 4, 5], [1, 40, 3, 70], [3, 1, 2, 2], [2, 5, 7], [4, 3], [0, 3, 4, 5]):
            with self.subTest(sizes=sizes):
                model = self.one_op("Channels", sizes=sizes)
                self.assertEqual(self.told("compare", model, "--plugin", self.tuned)["verdict"], "good")
                _, kept = self.built(model)
                self.assertEqual(kept[0]["layouts"], ["channels-last", "channels-last"])
        free = self.one_op("Channels", sizes=["n", 3, "h", "w"])
        self.assertEqual(self.told("compare", free, "--plugin", self.tuned, "--shape", "x=2x3x9x33")["verdict"], "good")

    def test_a_plugin_that_takes_strides_gets_them(self):
        model = self.one_op("Strided")
        self.assertEqual(self.told("compare", model, "--plugin", self.tuned)["verdict"], "good")
        self.assertEqual(self.built(model)[1][0]["layouts"], ["strided", "strided"])

    def test_the_reference_of_what_has_no_definition_asks_for_layouts_too(self):
        told = self.told("compare", self.one_op("OnlyChannels"), "--plugin", self.tuned)
        self.assertEqual((told["verdict"], told["not_judged"]), ("good", {"tuned::OnlyChannels": 1}))

    def test_another_dtype_is_an_error_that_names_those_that_are_taken(self):
        error = self.error("build", self.one_op("Narrow", dtype=11), "-o", self.folder / "n.tenon", "--plugin", self.tuned, status=3)
        self.assertIn("it does not take f64 for operand 0 (it takes f32, f16 there)", error["found"])

    def test_a_tactic_that_is_asked_for(self):
        model = self.one_op("Wave")
        _, kept = self.built(model, "--plugin-tactic", "tuned::Wave=2")
        self.assertEqual((kept[0]["tactic"], kept[0]["tactic_name"]), (2, "quick"))
        self.assertEqual(self.built(model)[1][0]["tactic"], 0)
        wrong = self.error(
            "build", model, "-o", self.folder / "w.tenon", "--plugin", self.tuned, "--plugin-tactic", "tuned::Wave=7", status=2
        )
        self.assertEqual(wrong["expected"], "one of 0, 1, 2")
        for text, part in (("tuned::Wvae=1", "'tuned::Wave'"), ("tuned::Wave", ""), ("tuned::Wave=-1", "")):
            self.assertIn(part, self.error("build", model, "--plugin", self.tuned, "--plugin-tactic", text, status=2)["advice"])

    def test_tactics_that_cannot_be_are_errors_by_name(self):
        cases = {
            "TooMany": "more than there is room for",
            "IdZero": "whose id stands for none",
            "IdTwice": "offers one twice",
            "NoTactics": "the tuner has no licence",
        }
        for op, text in cases.items():
            with self.subTest(op):
                error = self.error(
                    "build", self.one_op(op), "-o", self.folder / "e.tenon", "--plugin", self.tuned, "--plugin-tactic", f"tuned::{op}=1"
                )
                self.assertEqual(error["name"], "device_failed")
                self.assertIn(text, error["what"])
                self.assertIn(f"plugin 'tuned::{op}'", error["place"])


if __name__ == "__main__":
    unittest.main()
