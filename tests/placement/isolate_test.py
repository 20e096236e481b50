# SPDX-License-Identifier: Apache-2.0
"""--isolate: libraries that crash when they are used are one error."""

import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from small_models import ROOT, tenon  # noqa: E402

MODEL = ROOT / "examples" / "mlp.onnx"
COMPILER = next((c for c in ("clang-22", "clang", "cc") if shutil.which(c)), None)
# What looks like ONNX Runtime until its table is requested.
SOURCE = """
#include <stdlib.h>
struct Base { const void* (*table)(unsigned); const char* (*version)(void); };
static const void* table(unsigned version) { END }
static const char* version(void) { return "1.99.0"; }
static struct Base base = {table, version};
const struct Base* OrtGetApiBase(void) { return &base; }
"""


@unittest.skipUnless(COMPILER, "needs a C compiler")
class Isolate(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def library(self, name: str, end: str) -> Path:
        source, library = self.folder / f"{name}.c", self.folder / f"{name}.so"
        source.write_text(SOURCE.replace("END", end))
        subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, source], check=True)
        return library

    def test_who_crashed_is_reported(self):
        ends = {"segfault": "*(volatile int*)0 = 1; return 0;", "abort": "abort();", "leave": "_Exit(0); return 0;"}
        for name, end in ends.items():
            options = ["--backend", "onnxruntime,cpu", "--backend-lib", f"onnxruntime={self.library(name, end)}", "--isolate", "--json"]
            out = self.folder / f"{name}.tenon"
            for verb in (["build", MODEL, "-o", out], ["run", MODEL], ["partition", MODEL]):
                done = tenon(*verb, *options)
                error = json.loads(done.stdout)["error"]
                self.assertEqual((done.returncode, error["name"]), (1, "device_failed"), (name, verb))
                self.assertIn("backend 'onnxruntime' opened its library, and ", error["what"])
            self.assertFalse(out.exists())

    def test_what_ends_well_ends_as_without(self):
        for call in (["run", MODEL, "--json"], ["run", self.folder / "missing.onnx", "--json"], ["run", MODEL, "--shape", "q=1"]):
            alone, isolated = tenon(*call), tenon(*call, "--isolate")
            self.assertEqual((isolated.returncode, isolated.stdout, isolated.stderr), (alone.returncode, alone.stdout, alone.stderr))


if __name__ == "__main__":
    unittest.main()
