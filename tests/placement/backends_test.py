# SPDX-License-Identifier: Apache-2.0
"""Backends by name, and the libraries that some of them run on: missing, something else, too old."""

import ctypes.util
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from small_models import tenon  # noqa: E402

MODEL = Path(__file__).resolve().parent.parent.parent / "examples/mlp.onnx"
NAMES = {"onnxruntime": "libonnxruntime.so", "openvino": "libopenvino_c.so"}
# As of a library from before the interface that is needed.
OLD = {
    "onnxruntime": """
        static const void* table(unsigned version) { return 0; }
        static const char* version(void) { return "1.8.1"; }
        static const struct { const void* (*table)(unsigned); const char* (*version)(void); } base = {table, version};
        const void* OrtGetApiBase(void) { return &base; }""",
    "openvino": """
        struct version { const char *build, *description; };
        int ov_get_openvino_version(struct version* out) { out->build = "2023.1.0-12185"; out->description = ""; return 0; }
        void ov_version_free(struct version* out) {}""",
}


class Backends(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def error(self, status: int, *arguments: object) -> dict:
        done = tenon("build", MODEL, "-o", self.folder / "m.tenon", *arguments, "--json")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.assertFalse((self.folder / "m.tenon").exists())
        return json.loads(done.stdout)["error"]

    def with_library(self, backend: str, file: object) -> dict:
        return self.error(1, "--backend", backend, "--backend-lib", f"{backend}={file}")

    def test_the_nearest_name_is_reported(self):
        for wrong, right in (("onnxruntme", "onnxruntime"), ("openvin", "openvino"), ("refrence", "reference")):
            error = self.error(2, "--backend", wrong)
            self.assertEqual(error["place"], f"backend '{wrong}'")
            self.assertIn(right, error["advice"])
        self.assertNotIn("did you mean", self.error(2, "--backend", "abacus")["advice"])
        self.assertIn("openvino", self.error(2, "--backend-lib", "openvno=/x.so")["advice"])

    def test_a_missing_library(self):
        for backend in NAMES:
            error = self.with_library(backend, "/nowhere/lib.so")
            self.assertEqual((error["name"], error["place"]), ("file_missing", f"backend '{backend}'"))
            self.assertIn("/nowhere/lib.so", error["found"])

    def test_what_is_no_library_or_another(self):
        text = self.folder / "text.so"
        text.write_text("no library")
        math = next(Path("/").glob(f"lib*/**/{ctypes.util.find_library('m')}"))
        for backend in NAMES:
            for file in (text, math):
                error = self.with_library(backend, file)
                self.assertEqual((error["name"], error["place"]), ("bad_file", f"backend '{backend}'"), error)

    def test_one_that_is_too_old(self):
        compiler = shutil.which("cc") or shutil.which("clang") or shutil.which("clang-22")
        if not compiler:
            self.skipTest("needs a C compiler")
        for backend, code in OLD.items():
            file = self.folder / NAMES[backend]
            subprocess.run([compiler, "-shared", "-fPIC", "-xc", "-", "-o", file], input=code, text=True, check=True)
            error = self.with_library(backend, file)
            self.assertEqual((error["name"], error["place"]), ("wrong_target", f"backend '{backend}'"), error)
            self.assertIn("newer", error["expected"])


if __name__ == "__main__":
    unittest.main()
