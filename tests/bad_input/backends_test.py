# SPDX-License-Identifier: Apache-2.0
"""Backends that there are none of, and libraries that are missing or something else."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

import onnx_bytes as o
from harness import ROOT, TENON, Case, table, tenon, written

PEERS = sorted((ROOT / ".venv-peers/lib").glob("python3*/site-packages/onnxruntime/capi/libonnxruntime.so.*"))


def build(*arguments: object):
    return written("m.onnx", o.small_model(), "build", "m.onnx", "-o", "m.tenon", *arguments)


class Backends(unittest.TestCase):
    test_are_named = table(
        Case("unknown", build("--backend", "cuda"), 2, "bad_usage", "backend 'cuda'", ["onnxruntime"]),
        Case("twice", build("--backend", "cpu,cpu"), 2, "bad_usage", "backend 'cpu'", []),
    )
    test_libraries_are_files = table(
        Case("no name", build("--backend-lib", "lib.so"), 2, "bad_usage", "--backend-lib", ["NAME=FILE"]),
        Case("no file", build("--backend-lib", "onnxruntime="), 2, "bad_usage", "--backend-lib", ["NAME=FILE"]),
        Case("unknown", build("--backend-lib", "cuda=x.so"), 2, "bad_usage", "backend 'cuda'", ["onnxruntime"]),
        Case("none needed", build("--backend-lib", "cpu=x.so"), 2, "bad_usage", "backend 'cpu'", ["needs no"]),
        Case("missing", build("--backend-lib", "onnxruntime=no.so"), 1, "file_missing", "backend 'onnxruntime'", ["no file no.so"]),
        Case("no library", build("--backend-lib", "onnxruntime=m.onnx"), 1, "bad_file", "backend 'onnxruntime'", ["m.onnx"]),
        Case("foreign", build("--backend-lib", f"onnxruntime={TENON}"), 1, "bad_file", "backend 'onnxruntime'"),
    )

    def test_a_missing_library_is_an_error_where_its_backend_is_requested(self):
        nowhere = {"VIRTUAL_ENV": "/nowhere", "LD_LIBRARY_PATH": "/nowhere"}
        result = tenon("run", ROOT / "examples/mlp.onnx", "--backend", "onnxruntime", environment=nowhere)
        self.assertEqual((result.exit, result.error.get("name")), (1, "file_missing"), str(result))
        self.assertIn("--backend-lib onnxruntime=FILE", result.error["advice"])
        listed = tenon("backends", environment=nowhere).said["backends"]
        self.assertEqual({b["name"]: b["found"] for b in listed}["onnxruntime"], False)
        self.assertEqual(tenon("run", ROOT / "examples/mlp.onnx", environment=nowhere).exit, 0)

    @unittest.skipUnless(PEERS, "needs ONNX Runtime")
    def test_an_engine_says_which_backend_it_misses(self):
        with tempfile.TemporaryDirectory() as folder:
            engine = Path(folder) / "m.tenon"
            library = ["--backend-lib", f"onnxruntime={PEERS[0]}"]
            made = tenon("build", ROOT / "examples/mlp.onnx", "--backend", "onnxruntime", *library, "-o", engine)
            self.assertEqual(made.exit, 0, str(made))
            self.assertEqual(tenon("run", engine, *library).exit, 0)
            missed = tenon("run", engine, environment={"VIRTUAL_ENV": "/nowhere", "LD_LIBRARY_PATH": "/nowhere"})
            self.assertEqual((missed.exit, missed.error.get("name")), (1, "file_missing"), str(missed))
            self.assertIn("onnxruntime", missed.error["place"])


if __name__ == "__main__":
    unittest.main()
