# SPDX-License-Identifier: Apache-2.0
"""Other engines beside Tenon: `bench --vs` and `compare --with`, on a small model."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/bad_input"))
import onnx_bytes as o  # noqa: E402

TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
MODEL = ROOT / "examples/mlp.onnx"
PYTHON = ROOT / ".venv-peers/bin/python"
BRIEF = ("--runs", 2, "--seconds", 5, "--json")


def tenon(*arguments: object, **environment: object) -> subprocess.CompletedProcess:
    given = os.environ | {key: str(value) for key, value in environment.items()}
    return subprocess.run([str(TENON), *map(str, arguments)], capture_output=True, text=True, timeout=300, env=given)


def has(package: str) -> bool:
    return PYTHON.exists() and subprocess.run([PYTHON, "-c", f"import {package}"], capture_output=True).returncode == 0


class Peers(unittest.TestCase):
    def bench(self, peer: str, *options: object) -> dict:
        if not has(peer):
            self.skipTest(f"needs the package {peer} in .venv-peers")
        done = tenon("bench", MODEL, "--vs", peer, *options, *BRIEF)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def expect_agreement(self, report: dict, peer: str):
        vs = report["vs"]
        self.assertEqual(vs["name"], peer)
        self.assertTrue(vs["version"])
        self.assertLess(vs["largest_difference"], 1e-4)
        self.assertGreater(vs["median_ms"], 0)
        self.assertLessEqual(vs["ratio_low"], vs["ratio"])
        self.assertLessEqual(vs["ratio"], vs["ratio_high"])

    def test_each_is_measured_at_the_requested_shapes(self):
        for peer in ("onnxruntime", "openvino", "torch"):
            for options in ([], ["--shape", "x=7x16"], ["--cold"]):
                with self.subTest(peer=peer, options=options):
                    self.expect_agreement(self.bench(peer, *options), peer)

    def test_cold_is_reported_in_the_result(self):
        self.assertEqual([self.bench("onnxruntime", *options)["regime"] for options in ([], ["--cold"])], ["hot", "cold"])

    def test_shares_of_the_machine_are_reported(self):
        report = self.bench("onnxruntime")
        self.assertGreater(report["memory_gbps"], 0.1)
        self.assertAlmostEqual(report["roofline_share"], max(report["peak_share"], report["memory_share"]))

    def test_compare_shows_the_other_engines_error(self):
        for peer in ("onnxruntime", "openvino"):
            if not has(peer):
                self.skipTest(f"needs the package {peer} in .venv-peers")
            report = json.loads(tenon("compare", MODEL, "--with", peer, "--json").stdout)
            self.assertEqual((report["verdict"], report["with"]), ("good", peer))
            self.assertIsNotNone(report["outputs"][0]["other_error"])

    def test_both_have_the_selected_outputs_alone(self):
        for peer in ("onnxruntime", "openvino", "torch"):
            with self.subTest(peer=peer), tempfile.TemporaryDirectory() as folder:
                if not has(peer):
                    self.skipTest(f"needs the package {peer} in .venv-peers")
                model = Path(folder) / "two.onnx"
                nodes, values = [o.node("Relu", ["x"], ["y"]), o.node("Exp", ["x"], ["z"])], [o.value_info(v, ["n", 4]) for v in "xyz"]
                model.write_bytes(o.model(o.graph(nodes, values[:1], values[1:])))
                report = json.loads(tenon("compare", model, "--with", peer, "--only-output", "z", "--json").stdout)
                self.assertEqual([each["name"] for each in report["outputs"]], ["z"])
                self.assertIsNotNone(report["outputs"][0]["other_error"])

    def test_a_missing_package_is_named_with_what_installs_it(self):
        if not PYTHON.exists():
            self.skipTest("needs .venv-peers")
        with tempfile.TemporaryDirectory() as folder:
            bare = Path(folder) / "python"
            # OpenVINO hidden from a Python that has it, as where it is not installed.
            bare.write_text(f'#!/bin/sh\nexec {PYTHON} -c \'import runpy, sys; sys.modules["openvino"] = None; sys.argv = sys.argv[1:]; '
                            'runpy.run_path(sys.argv[0], run_name="__main__")\' "$@"\n')  # fmt: skip
            bare.chmod(0o755)
            done = tenon("bench", MODEL, "--vs", "openvino", *BRIEF, TENON_PEERS_PYTHON=bare)
        error = json.loads(done.stdout)["error"]
        self.assertEqual((done.returncode, error["name"]), (1, "file_missing"), error)
        self.assertIn("requirements-openvino.txt", error["advice"])

    def installed(self, folder: str, program: str = "bin/tenon", **environment: object) -> subprocess.CompletedProcess:
        """A comparison by a program as `cmake --install` puts it, away from the project."""
        tree = Path(folder) / "tree"
        for source, place in ((TENON, program), (ROOT / "tools/bench/peer_bench.py", "share/tenon/peer_bench.py")):
            (tree / place).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, tree / place)
        given = {key: value for key, value in os.environ.items() if key != "TENON_PEERS_PYTHON"} | environment
        call = [tree / program, "compare", MODEL, "--with", "onnxruntime", "--json"]
        return subprocess.run(call, capture_output=True, text=True, timeout=300, env=given, cwd=folder)

    def test_an_installed_program_takes_the_active_python(self):
        if not has("onnxruntime"):
            self.skipTest("needs the package onnxruntime in .venv-peers")
        for program in ("bin/tenon", "tenon"):  # of cmake --install; of a wheel
            with self.subTest(program), tempfile.TemporaryDirectory() as folder:
                done = self.installed(folder, program, VIRTUAL_ENV=str(PYTHON.parent.parent))
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertIsNotNone(json.loads(done.stdout)["outputs"][0]["other_error"])

    def test_an_active_python_without_the_package_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            bare = Path(folder) / "environment/bin/python3"
            bare.parent.mkdir(parents=True)
            bare.write_text('#!/bin/sh\necho "error missing onnxruntime"\n')
            bare.chmod(0o755)
            done = self.installed(folder, VIRTUAL_ENV=str(bare.parent.parent))
            error = json.loads(done.stdout)["error"]
            self.assertEqual(error["name"], "file_missing")
            self.assertIn(f"{bare} -m pip install", error["advice"])

    def test_an_engine_is_not_for_others_to_read(self):
        with tempfile.TemporaryDirectory() as folder:
            engine = Path(folder) / "mlp.tenon"
            tenon("build", MODEL, "-o", engine)
            self.assertEqual(tenon("bench", engine, "--vs", "onnxruntime").returncode, 2)


if __name__ == "__main__":
    unittest.main()
