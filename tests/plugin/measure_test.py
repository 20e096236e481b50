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

    def report(self, *arguments: object) -> dict:
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
        report = self.report("build", model, "-o", engine, "--plugin", self.tuned, *options)
        return report, self.report("inspect", engine).get("plugins", [])

    def test_a_plugin_that_takes_channels_last_alone_gets_them(self):
        for sizes in ([2, 3, 4, 5], [1, 40, 3, 70], [3, 1, 2, 2], [2, 5, 7], [4, 3], [0, 3, 4, 5]):
            with self.subTest(sizes=sizes):
                model = self.one_op("Channels", sizes=sizes)
                self.assertEqual(self.report("compare", model, "--plugin", self.tuned)["verdict"], "good")
                _, kept = self.built(model)
                self.assertEqual(kept[0]["layouts"], ["channels-last", "channels-last"])
        free = self.one_op("Channels", sizes=["n", 3, "h", "w"])
        self.assertEqual(self.report("compare", free, "--plugin", self.tuned, "--shape", "x=2x3x9x33")["verdict"], "good")

    def test_a_plugin_that_takes_strides_gets_them(self):
        model = self.one_op("Strided")
        self.assertEqual(self.report("compare", model, "--plugin", self.tuned)["verdict"], "good")
        self.assertEqual(self.built(model)[1][0]["layouts"], ["strided", "strided"])

    def test_the_reference_of_an_op_without_definition_gets_layouts_too(self):
        report = self.report("compare", self.one_op("OnlyChannels"), "--plugin", self.tuned)
        self.assertEqual((report["verdict"], report["not_judged"]), ("good", {"tuned::OnlyChannels": 1}))

    def test_another_dtype_is_an_error_that_names_those_that_are_taken(self):
        error = self.error("build", self.one_op("Narrow", dtype=11), "-o", self.folder / "n.tenon", "--plugin", self.tuned, status=3)
        self.assertIn("it does not take f64 for operand 0 (it takes f32, f16 there)", error["found"])

    def test_a_requested_tactic(self):
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
            "IdZero": "with a reserved id",
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

    def measured(self, model: Path, *options: object) -> tuple[dict, list, dict]:
        """What a build that measures told of its one kind of nodes, what the engine keeps of plugins, and the answer of inspect."""
        report, kept = self.built(model, "--measure", *options)
        (of_node,) = report["plugin_times"]
        inspected = self.report("inspect", model.with_suffix(".tenon"))
        again = [(n["chosen"], [c["name"] for c in n["candidates"]]) for n in inspected["plugin_times"]]
        self.assertEqual(again, [(of_node["chosen"], [c["name"] for c in of_node["candidates"]])])
        return of_node, kept, inspected

    def test_the_fastest_tactic_is_chosen_kept_and_run(self):
        model = self.one_op("Wave", sizes=["n", 3000])
        found, kept, _ = self.measured(model)
        self.assertEqual(found["chosen"], "tactic 2 (quick), row-major")
        self.assertEqual([c["name"][:8] for c in found["candidates"]], ["tactic 0", "tactic 1", "tactic 2"])
        self.assertTrue(all(c["us"] > 0 and not c["dropped"] for c in found["candidates"]), found)
        self.assertEqual((kept[0]["tactic"], kept[0]["tactic_name"]), (2, "quick"))
        ran = small_models.tenon("run", model.with_suffix(".tenon"), "--plugin", self.tuned, "--shape", "x=2x3000")
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def test_tactics_that_are_wrong_fail_or_crash_are_dropped(self):
        found, kept, _ = self.measured(self.one_op("Traps", sizes=[4, 3000]))
        self.assertEqual(kept[0]["tactic"], 2)
        dropped = [c["dropped"] for c in found["candidates"]]
        self.assertEqual(dropped[:3], ["", "", ""])
        self.assertIn("result 0 is not what tactic 0, row-major gives: [", dropped[3])
        self.assertIn("the fourth tactic needs another CPU", dropped[4])
        self.assertIn("it crashed", dropped[5])
        self.assertEqual([c["us"] for c in found["candidates"][3:]], [None] * 3)

    def test_code_of_the_definition_is_taken_where_it_is_faster(self):
        model = self.one_op("Heavy", sizes=["n", 3000])
        found, kept, _ = self.measured(model)
        self.assertEqual(found["chosen"], "Tenon's own code")
        self.assertEqual(kept, [])
        alone = small_models.tenon("run", model.with_suffix(".tenon"), "--shape", "x=1x3000")
        self.assertEqual(alone.returncode, 0, "nothing of the plugin is needed to run it")
        nodes = self.report("partition", model, "--plugin", self.tuned, "--measure", "--dry-run")
        self.assertEqual({n["backend"] for n in nodes["nodes"]}, {"cpu"})
        self.assertEqual(nodes["plugin_times"][0]["chosen"], "Tenon's own code")
        forced, kept, _ = self.measured(model, "--plugin-tactic", "tuned::Heavy=1")
        self.assertEqual([c["name"] for c in forced["candidates"]], ["tactic 1 (slow), row-major"])
        self.assertEqual(kept[0]["tactic"], 1)

    def test_the_faster_layout_is_taken(self):
        found, kept, _ = self.measured(self.one_op("Either", sizes=[1, 8, 20, 20]))
        self.assertEqual(found["chosen"], "tactic 0, channels-last")
        self.assertEqual(kept[0]["layouts"], ["channels-last", "channels-last"])

    def test_a_kernel_of_an_op_is_compared_with_tenons_code(self):
        slow = self.one_op("Abs", domain="", sizes=["n", 3000])
        found, kept, _ = self.measured(slow)
        self.assertEqual((found["plugin"], found["chosen"], kept), ("tuned::SlowAbs", "Tenon's own code", []))
        preferred, kept, _ = self.measured(slow, "--prefer", "tuned::SlowAbs")
        self.assertEqual([c["name"] for c in preferred["candidates"]], ["tactic 0, row-major"])
        self.assertEqual(kept[0]["name"], "SlowAbs")
        pool = self.one_op(
            "MaxPool", o.attribute_ints("kernel_shape", [200, 200]), domain="", sizes=[1, 1, 400, 400], results=[1, 1, 201, 201]
        )
        found, kept, _ = self.measured(pool)
        self.assertEqual(found["chosen"], "tactic 0, row-major", found)
        self.assertEqual(kept[0]["name"], "MaxPool")
        report = self.report("partition", pool, "--plugin", self.tuned, "--measure", "--dry-run")["nodes"][0]
        self.assertEqual((report["backend"], report["reasons"][0]["code"]), ("plugin", "measured"))
        self.assertRegex(report["reasons"][0]["text"], r"tactic 0, row-major: .* compared with Tenon's own code: [\d.]+ .s")

    def test_equal_nodes_are_measured_once(self):
        nodes = [o.node("Wave", [a], [b], domain="tuned", name=b) for a, b in (("x", "a"), ("a", "b"), ("b", "y"))]
        path = self.folder / "equal.onnx"
        graph = o.graph(nodes, [o.value_info("x", [2, 50])], [o.value_info("y", [2, 50])])
        path.write_bytes(o.model(graph) + o.message(8, o.text(1, "tuned"), o.number(2, 1)))
        found, kept, _ = self.measured(path)
        self.assertEqual(found["nodes"], 3)
        self.assertEqual({k["tactic"] for k in kept}, {2})

    def test_times_are_kept_for_this_build_of_the_plugin_alone(self):
        model, times = self.one_op("Wave", sizes=[7, 11]), self.folder / "cache" / "tenon" / "times"
        self.measured(model)
        known = times.read_text()
        self.measured(model)
        self.assertEqual(times.read_text(), known, "nothing was timed again")
        other = self.compiled("other", "-DOTHER")
        with open(other, "ab") as file:
            file.write(b"another build")
        report = self.report("build", model, "-o", self.folder / "other.tenon", "--plugin", other, "--measure")
        self.assertEqual(report["plugin_times"][0]["chosen"], "tactic 2 (quick), row-major")
        self.assertEqual(len(times.read_text().splitlines()), len(known.splitlines()) + 3)

    def waves(self, name: str, *ops: str) -> Path:
        """Wave, then these ops in a row."""
        nodes = [o.node("Wave", ["x"], ["t0"], domain="tuned", name="wave")]
        for k, op in enumerate(ops):
            nodes.append(o.node(op, [f"t{k}"], [f"t{k + 1}"], domain="tuned" if op == "Wave" else "", name=f"then{k}"))
        path = self.folder / f"{name}.onnx"
        graph = o.graph(nodes, [o.value_info("x", [2, 500])], [o.value_info(f"t{len(ops)}", [2, 500])])
        path.write_bytes(o.model(graph) + o.message(8, o.text(1, "tuned"), o.number(2, 1)))
        return path

    def test_with_costs_that_are_measured_too(self):
        costs = ["--assign", "cost", "--backend", "cpu,reference"]
        for ops in (["Exp"], ["Wave", "Wave"]):
            with self.subTest(ops=ops):
                model = self.waves("_".join(["both", *ops]), *ops)
                found, kept, _ = self.measured(model, *costs)
                self.assertEqual((found["chosen"], kept[0]["tactic"]), ("tactic 2 (quick), row-major", 2))
                self.assertEqual(found["nodes"], 1 + ops.count("Wave"))
                self.report("run", model.with_suffix(".tenon"), "--plugin", self.tuned)

    def test_what_is_not_measured_says_why(self):
        nothing = self.error("build", self.one_op("Abs", domain=""), "--measure", "-o", self.folder / "n.tenon", status=2)
        self.assertEqual(nothing["expected"], "--assign cost --measure, or plugins")
        error = self.error("build", self.one_op("IdTwice"), "-o", self.folder / "e.tenon", "--plugin", self.tuned, "--measure")
        self.assertIn("offers one twice", error["what"])


if __name__ == "__main__":
    unittest.main()
