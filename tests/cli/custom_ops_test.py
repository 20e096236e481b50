# SPDX-License-Identifier: Apache-2.0
"""--custom-ops: ops that Tenon does not know run in ONNX Runtime, by an operator library."""

import json
import os
import subprocess
import sysconfig
import tempfile
import unittest
from pathlib import Path

import small_models
from small_models import ROOT, o

PEERS = next(ROOT.glob(".venv-peers/lib/*/site-packages"), Path())
LIBRARY = next(PEERS.glob("onnxruntime_extensions/_extensions_pydll*.so"), None)
RUNTIME = next(PEERS.glob("onnxruntime/capi/libonnxruntime.so*"), None)
# The wheel's library is a module of Python's too, whose symbols it looks for in the process.
FOLDERS = [Path(sysconfig.get_config_var("LIBDIR")), Path("/usr/lib") / (sysconfig.get_config_var("MULTIARCH") or "")]
PYTHON = next((found for folder in FOLDERS for found in folder.glob(f"libpython{sysconfig.get_python_version()}.so*")), None)


def tenon(*arguments: object) -> subprocess.CompletedProcess:
    return small_models.tenon(*arguments, env=os.environ | {"LD_PRELOAD": str(PYTHON)})


def numbers(done: subprocess.CompletedProcess) -> dict:
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@unittest.skipUnless(LIBRARY and RUNTIME and PYTHON, "needs onnxruntime and onnxruntime_extensions in .venv-peers, and libpython")
class CustomOps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.there = ["--backend-lib", f"onnxruntime={RUNTIME}", "--custom-ops", LIBRARY]
        node = o.node("StringUpper", ["x"], ["y"], domain="ai.onnx.contrib", name="up")
        size = o.node("Shape", ["y"], ["n"])
        text = [o.value_info("x", ["n"], 8)]
        graph = o.graph([node, size], text, [o.value_info("y", ["n"], 8), o.value_info("n", [1], 7)])
        cls.small = cls.folder / "upper.onnx"
        cls.small.write_bytes(o.model(graph) + o.message(8, o.text(1, "ai.onnx.contrib"), o.number(2, 1)))

    def error(self, *arguments: object, status: int = 1) -> dict:
        done = tenon("build", self.small, "-o", self.folder / "m.tenon", "--json", *arguments)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)["error"]

    def test_without_the_library_the_op_is_missed(self):
        for backends in ([], ["--backend", "onnxruntime", "--backend-lib", f"onnxruntime={RUNTIME}"]):
            error = self.error(*backends, status=3)
            self.assertIn("of the model's ops", error["what"])
            self.assertIn("ai.onnx.contrib::StringUpper (1x)", error["found"])

    def test_a_library_that_is_missing_or_no_operator_library(self):
        given = ["--backend", "onnxruntime", "--backend-lib", f"onnxruntime={RUNTIME}", "--custom-ops"]
        self.assertEqual(self.error(*given, "/nowhere/ops.so")["name"], "file_missing")
        self.assertEqual(self.error(*given, RUNTIME)["name"], "bad_file")

    def test_partition_says_who_runs_it(self):
        report = numbers(tenon("partition", self.small, "--backend", "onnxruntime,cpu", *self.there, "--json"))
        rows = {n["name"]: n for n in report["nodes"]}
        self.assertEqual(rows["up"]["backend"], "onnxruntime")

    def test_compare_has_no_reference_for_it(self):
        """One error, whatever is compared; what failed is no failure of a backend."""
        for options in ([], ["--by-segment"], ["--all-values"]):
            done = tenon("compare", self.small, "--backend", "onnxruntime,cpu", *self.there, "--json", *options)
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            error = json.loads(done.stdout)["error"]
            self.assertEqual((error["name"], error["place"]), ("not_supported", "node 'up' (ai.onnx.contrib::StringUpper)"))
            self.assertIn("it has no reference function", error["what"])
            self.assertEqual(error["expected"], "known ops (docs/ops.md)")
            self.assertEqual(error["found"], "StringUpper(string[1])")
            self.assertIn("compare a model without it", error["advice"])

    def test_an_engine_needs_the_library_again(self):
        engine = self.folder / "upper.tenon"
        done = tenon("build", self.small, "-o", engine, "--backend", "onnxruntime", *self.there)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(tenon("run", engine, *self.there).returncode, 0)
        missing = tenon("run", engine, *self.there[:2], "--json")
        self.assertEqual(missing.returncode, 1)
        self.assertIn("StringUpper", json.loads(missing.stdout)["error"]["what"])


if __name__ == "__main__":
    unittest.main()
