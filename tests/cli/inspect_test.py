# SPDX-License-Identifier: Apache-2.0
"""`tenon inspect` of engine files: what it says is what was built."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))


def tenon(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(TENON), *map(str, arguments)], capture_output=True, text=True, timeout=120)


class InspectEngine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.engine, cls.portable = cls.folder / "mlp.tenon", cls.folder / "portable.tenon"
        cls.built = json.loads(tenon("build", ROOT / "examples/mlp.onnx", "-o", cls.engine, "--json").stdout)
        tenon("build", ROOT / "examples/mlp.onnx", "-o", cls.portable, "--portable")

    def test_lists_sections_ports_kernels_and_memory(self):
        report = json.loads(tenon("inspect", self.engine, "--json").stdout)
        self.assertEqual(report["bytes"], self.engine.stat().st_size)
        self.assertEqual(
            {s["name"] for s in report["sections"]},
            {"manifest", "graph text", "programs", "target", "tactics", "plan record", "kernels", "code", "weights"},
        )
        self.assertEqual(report["inputs"], [{"name": "x", "dtype": "f32", "shape": ["batch", "16"], "type": "f32[batch,16]"}])
        self.assertEqual([p["name"] for p in report["outputs"]], ["y"])
        self.assertEqual(len(report["kernels"]), self.built["kernels"])
        self.assertTrue(all(k["bytes"] > 0 and k["computes"] for k in report["kernels"]))
        self.assertEqual(sum(k["steps"] for k in report["kernels"]), sum(s["kind"] == "kernel" for s in report["steps"]))
        self.assertEqual(report["memory"]["weight_bytes"], self.built["weight_bytes"])
        self.assertEqual(report["memory"]["arena_bytes"], self.built["arena_bytes"])
        self.assertEqual(report["manifest"]["opt"], 3)

    def test_memory_grows_with_the_shape(self):
        small, large = (json.loads(tenon("inspect", self.engine, "--shape", f"x={n}x16", "--json").stdout)["memory"] for n in (1, 1000))
        self.assertEqual(large["at"], [[1000, 16]])
        self.assertGreater(large["arena_bytes"], small["arena_bytes"])

    def test_a_portable_engine_has_no_code(self):
        report = json.loads(tenon("inspect", self.portable, "--json").stdout)
        self.assertEqual({s["name"] for s in report["sections"]}, {"manifest", "graph text", "constants index", "weights"})
        self.assertTrue(report["manifest"]["portable"])
        self.assertEqual(report["manifest"]["options"], {})

    def test_a_portable_engine_keeps_the_options_of_its_code(self):
        model, other = ROOT / "examples/mlp.onnx", self.folder / "options.tenon"
        given = ["--no-winograd", "--opt", "2", "--without", "pad_rows", "--threads", "1"]
        self.assertEqual(tenon("build", model, "-o", other, "--portable", *given).returncode, 0)
        options = json.loads(tenon("inspect", other, "--json").stdout)["manifest"]["options"]
        self.assertEqual(options, {"opt": 2, "winograd": False, "without": ["pad_rows"]})
        self.assertEqual(tenon("run", other).returncode, 0)
        for pin in (["--fallback-ops", "Relu"], ["--pin", "relu=reference"]):
            refused = tenon("build", model, "-o", other, "--portable", "--backend", "cpu,reference", *pin)
            self.assertIn("not supported yet", refused.stderr)

    def test_names_the_target_of_the_code(self):
        other = self.folder / "avx2.tenon"
        self.assertEqual(tenon("build", ROOT / "examples/mlp.onnx", "-o", other, "--target", "x86_avx2").returncode, 0)
        sections = {s["name"]: s["target"] for s in json.loads(tenon("inspect", other, "--json").stdout)["sections"]}
        self.assertEqual((sections["code"], sections["target"]), ("AVX2", "AVX2"))
        refused = tenon("build", ROOT / "examples/mlp.onnx", "-o", other, "--target", "z80")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("x86_avx2, x86_avx512", refused.stderr)

    def tactics(self, engine: Path) -> list[str]:
        return [k["tactic"] for k in json.loads(tenon("inspect", engine, "--json").stdout)["kernels"]]

    def test_a_given_tactic_is_in_the_engine(self):
        file, other = self.folder / "mine.tactic", self.folder / "other.tenon"
        file.write_text("# mine\n*: grain=77 tile=4x2\n")
        done = tenon("build", ROOT / "examples/mlp.onnx", "-o", other, "--tactic", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(all("grain=77" in t for t in self.tactics(other)))
        self.assertIn("tile=4x2", self.tactics(other)[0])
        self.assertNotIn("grain=77", self.tactics(self.engine)[0])
        sizes = [json.loads(tenon("inspect", e, "--json").stdout)["kernels"][0]["bytes"] for e in (self.engine, other)]
        self.assertNotEqual(*sizes, "another tile is other code")
        both = tenon("build", ROOT / "examples/mlp.onnx", "-o", self.folder / "p.tenon", "--portable", "--tactic", file)
        self.assertEqual(both.returncode, 2, "a portable engine holds no kernels")

    def test_a_tactic_that_cannot_be_is_refused_with_its_line(self):
        for line, report in {
            "*: tile=40x2": "ROWS * VECTORS + VECTORS + 1",
            "/none: grain=1": "no group computes",
            "*: grain=0": "grain=1 to",
            "grain 5": "NODE: field=value",
        }.items():
            with self.subTest(line):
                file = self.folder / "bad.tactic"
                file.write_text("\n" + line)
                done = tenon("build", ROOT / "examples/mlp.onnx", "-o", self.folder / "x.tenon", "--tactic", file)
                self.assertEqual(done.returncode, 2)
                self.assertIn("bad.tactic:2", done.stderr)
                self.assertIn(report, done.stderr)

    def test_lanes_that_a_kernel_cannot_have_are_refused_with_its_node(self):
        file = self.folder / "lanes.tactic"
        file.write_text("softmax: lanes=0")
        done = tenon("build", ROOT / "examples/mlp.onnx", "-o", self.folder / "x.tenon", "--tactic", file)
        self.assertEqual(done.returncode, 2)
        for report in ("'softmax' (Softmax)", "lanes=-1", "lanes=0", "leave lanes out"):
            self.assertIn(report, done.stderr)

    def test_text_shows_steps_and_graph(self):
        text = tenon("inspect", self.engine, "--text").stdout
        self.assertIn("reads and writes", text)
        self.assertIn("graph ", text)

    def test_what_is_no_engine_is_refused(self):
        bad = self.folder / "bad.tenon"
        bad.write_bytes(b"\x89TNN\r\n\x1a\n" + bytes(100))
        self.assertEqual(tenon("inspect", bad).returncode, 1)


if __name__ == "__main__":
    unittest.main()
