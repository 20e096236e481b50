# SPDX-License-Identifier: Apache-2.0
"""Plugins in processes of their own, from the command line: every way to end a process is one error."""

import json
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import small_models  # noqa: E402
from small_models import ROOT, o  # noqa: E402

FIXTURES = Path(__file__).resolve().parent / "fixtures"
ISOLATED = ["--isolate-plugins", "--plugin-timeout", "1.5", "--plugin-memory", 64 << 20]


@unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
class Isolated(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.harm, cls.ops = cls.compiled("harm"), cls.compiled("ops")

    @classmethod
    def compiled(cls, name: str) -> Path:
        out = cls.folder / f"{name}.so"
        flags = ["-std=c11", "-O1", "-shared", "-fPIC", f"-I{ROOT / 'include'}"]
        subprocess.run(["cc", *flags, FIXTURES / f"{name}.c", "-o", out, "-pthread", "-lm"], check=True)
        return out

    def test_layouts_are_brought_there_too(self):
        tuned = self.compiled("tuned")
        for op in ("Channels", "Strided"):
            path = self.folder / f"{op}.onnx"
            ends = [[o.value_info(name, [2, 40, 30, 30])] for name in "xy"]
            nodes = [o.node("Neg", ["x"], ["a"]), o.node(op, ["a"], ["b"], domain="tuned"), o.node("Neg", ["b"], ["y"])]
            path.write_bytes(o.model(o.graph(nodes, *ends)) + o.message(8, o.text(1, "tuned"), o.number(2, 1)))
            self.assertEqual(self.report("compare", path, "--plugin", tuned, "--isolate-plugins")["verdict"], "good")

    def model(self, name: str, nodes: list[bytes], outputs: list[bytes]) -> Path:
        path = self.folder / f"{name}.onnx"
        domains = b"".join(o.message(8, o.text(1, d), o.number(2, 1)) for d in ("test", "harm"))
        path.write_bytes(o.model(o.graph(nodes, [o.value_info("x", ["n", 3])], outputs)) + domains)
        return path

    def scaled(self, *attributes: bytes) -> Path:
        node = o.node("Scaled", ["x"], ["y"], *attributes, domain="harm", name="it")
        return self.model("scaled", [node], [o.value_info("y", ["n", 3])])

    def values(self, first: float) -> list:
        path = self.folder / "x.npy"
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }".ljust(117) + b"\n"
        path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<3f", first, 2, 3))
        return ["--input", f"x={path}"]

    def report(self, *arguments: object, status: int = 0) -> dict:
        done = small_models.tenon(*arguments, "--json")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def run_of(self, model: Path, folder: str, *options: object) -> dict[str, bytes]:
        shutil.rmtree(self.folder / folder, ignore_errors=True)
        self.report("run", model, "--output-dir", self.folder / folder, *options)
        return {path.name: path.read_bytes() for path in (self.folder / folder).iterdir()}

    def test_results_are_those_of_this_process(self):
        nodes = [
            o.node("Scaled", ["x"], ["a"], domain="harm"),
            o.node("Positive", ["a"], ["p", "count"], domain="test"),
            o.node("Neg", ["p"], ["late"]),
            o.node("Total", ["a", "x", "x"], ["sum"], domain="test"),
        ]
        outputs = [o.value_info("late", [None]), o.value_info("count", [], 7), o.value_info("sum", ["n", 3])]
        model = self.model("several", nodes, outputs)
        options = ["--plugin", self.harm, "--plugin", self.ops, "--shape", "x=700x3"]
        here = self.run_of(model, "here", *options)
        self.assertEqual(len(here), 3)
        self.assertEqual(here, self.run_of(model, "there", *options, "--isolate-plugins"))
        engine = model.with_suffix(".tenon")
        self.report("build", model, "-o", engine, "--plugin", self.harm, "--plugin", self.ops, "--isolate-plugins")
        loaded = self.run_of(engine, "loaded", *options, "--isolate-plugins")
        self.assertEqual(here, loaded)

    def test_between_kernels_nothing_is_copied(self):
        nodes = [
            o.node("Neg", ["x"], ["a"]),
            o.node("Scaled", ["a"], ["b"], domain="harm"),
            o.node("Scaled", ["b"], ["c"], domain="harm"),
            o.node("Neg", ["c"], ["y"]),
        ]
        model = self.model("between", nodes, [o.value_info("y", ["n", 3])])
        options = ["--plugin", self.harm, "--shape", "x=20000x3"]
        here = self.run_of(model, "here", *options)
        for more in ([], ["--check-memory"], ["--threads", 1]):
            self.assertEqual(here, self.run_of(model, "there", *options, "--isolate-plugins", *more))
        segments = self.report("run", model, *options, "--isolate-plugins", "--segments")["segments"]
        self.assertEqual([(s["backend"], s["copied_bytes"]) for s in segments], [("cpu", 0), ("plugin", 0), ("plugin", 0), ("cpu", 0)])

    def test_each_harm_is_one_error(self):
        cases = {
            1001: ("device_failed", "`enqueue` crashed (signal 11"),
            1002: ("device_failed", "`enqueue` crashed (signal 6"),
            1003: ("device_failed", "`enqueue` ended its process (exit code 3)"),
            1004: ("device_failed", "`enqueue` did not return within 1.5 s"),
            1005: ("out_of_memory", "of the 67108864 bytes that it may take"),
        }
        model = self.scaled()
        for first, (name, what) in cases.items():
            with self.subTest(what):
                error = self.report("run", model, "--plugin", self.harm, *self.values(first), *ISOLATED, status=1)["error"]
                self.assertEqual(error["name"], name)
                self.assertIn(what, error["what"])
                self.assertIn("node 'it' (harm::Scaled), plugin 'harm::Scaled' of harm.so", error["place"])
                self.assertTrue(error["advice"])
        self.report("run", model, "--plugin", self.harm, *self.values(3), *ISOLATED)

    def test_libraries_inside_engines(self):
        nodes = [
            o.node("Neg", ["x"], ["a"]),
            o.node("Scaled", ["a"], ["b"], domain="harm", name="it"),
            o.node("Positive", ["b"], ["y", "count"], domain="test"),
        ]
        model = self.model("inside", nodes, [o.value_info("y", [None]), o.value_info("count", [], 7)])
        plugins = ["--plugin", self.harm, "--plugin", self.ops]
        here = self.run_of(model, "here", *plugins, "--shape", "x=50x3")
        for kind in ([], ["--portable"]):
            engine = model.with_suffix(".tenon")
            self.report("build", model, "-o", engine, *plugins, "--embed-plugins", "--isolate-plugins", *kind)
            inside = ["--embedded-plugins", *ISOLATED]
            self.assertEqual(here, self.run_of(engine, "there", "--shape", "x=50x3", *inside))
            error = self.report("run", engine, *self.values(-1001), *inside, status=1)["error"]
            self.assertIn("`enqueue` crashed (signal 11", error["what"])
            self.assertIn("node 'it' (harm::Scaled), plugin 'harm::Scaled' of harm.so", error["place"])

    def test_what_crashes_while_a_model_is_built_is_an_error_too(self):
        model = self.scaled(o.message(5, o.text(1, "factor"), o.varint(2 << 3 | 5) + struct.pack("<f", -1), o.number(20, 1)))
        out = self.folder / "none.tenon"
        error = self.report("build", model, "-o", out, "--plugin", self.harm, "--isolate-plugins", status=1)["error"]
        self.assertEqual(error["name"], "device_failed")
        self.assertIn("plugin 'harm::Scaled' of harm.so was called for `create`, and crashed (signal 6", error["what"])
        self.assertIn("tenon plugin test", error["advice"])
        self.assertFalse(out.exists())

    def test_limits_need_isolation(self):
        self.report("run", self.scaled(), "--plugin", self.harm, "--plugin-memory", 1 << 20, status=2)


if __name__ == "__main__":
    unittest.main()
