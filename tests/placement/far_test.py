# SPDX-License-Identifier: Apache-2.0
"""A backend that crashes, hangs, fails and lies (tests/backends/far): one error each, and nothing half-written."""

import json
import os
import random
import sys
import tempfile
import unittest
import unittest.mock
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import CompletedProcess, run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from small_models import TENON, o, tenon  # noqa: E402

FAR = TENON.parent / "tenon_far"


def far(does: str, *arguments: object) -> CompletedProcess:
    """The command line that has `far` among its backends, which does that."""
    return run([FAR, *map(str, arguments)], capture_output=True, text=True, timeout=120, env=os.environ | {"TENON_FAR": does})


def model() -> bytes:
    nodes = [
        o.node("Exp", ["x"], ["a"], name="first"),
        o.node("Neg", ["a"], ["b"], name="second"),
        o.node("Abs", ["b"], ["c"], name="third"),
        o.node("Add", ["a", "c"], ["y"], name="sum"),
    ]
    return o.model(o.graph(nodes, [o.value_info("x", ["n", 4])], [o.value_info("y", ["n", 4])]))


# What is called where, and by which verbs.
CALLS = {
    "library": ("opened its library", ("build", "run", "partition", "compare", "bench")),
    "supports": ("was called for `supports` of a node", ("build", "run", "partition")),
    "compile": ("compiled a segment of 4 nodes, from node 'first' (Exp)", ("build", "run", "partition")),
    "open": ("opened its library", ("run", "bench")),
    "make": ("made a segment ready to run", ("run",)),
    "run": ("Exp+Neg+Abs+Add", ("run", "compare", "bench")),
}


class Far(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.model = cls.folder / "m.onnx"
        cls.model.write_bytes(model())

    def call(self, verb: str, out: Path) -> list:
        written = {
            "build": ["-o", out / "m.tenon", "--html", out / "m.html"],
            "run": ["--output", out / "y.npz"],
            "partition": ["--html", out / "m.html"],
        }
        return [verb, self.model, "--backend", "far,cpu", "--opt", "0", "--json", *written.get(verb, [])]

    def refused(self, does: str, verb: str, *options: object) -> dict:
        """The one error of a call that leaves nothing behind."""
        with tempfile.TemporaryDirectory() as folder:
            done = far(does, *self.call(verb, Path(folder)), *options)
            self.assertEqual((list(Path(folder).iterdir()), done.stderr), ([], ""), (does, verb))
        error = json.loads(done.stdout)["error"]
        self.assertEqual(done.returncode, error["code"] // 100, (does, verb))
        empty = [part for part in ("place", "what", "expected", "found", "advice") if not error[part]]
        self.assertEqual(empty, [], (does, verb, error))
        return error

    def test_what_a_backend_did_when_it_crashed_or_hung(self):
        cases = [
            (call, activity, deed, says, verb)
            for call, (activity, verbs) in CALLS.items()
            for deed, says in (
                ("crashes", "crashed (signal 11"),
                ("leaves", "ended the process"),
                ("hangs", "did not return within 1 s"),
            )
            for verb in (verbs if deed == "crashes" else verbs[:1])
        ]

        def check(case: tuple) -> None:
            call, activity, deed, says, verb = case
            error = self.refused(f"{call}={deed}", verb, "--isolate", "--call-timeout", "1")
            self.assertEqual((error["name"], error["place"]), ("device_failed", "--isolate"), case)
            self.assertIn(f"backend 'far' {activity}, and {says}", error["what"], case)

        with ThreadPoolExecutor(4) as several:
            list(several.map(check, cases))

    def test_what_a_backend_says_when_it_fails(self):
        for call, place in (
            ("library", "backend 'far'"),
            ("supports", "node 'first' (Exp)"),
            ("open", "backend 'far'"),
            ("make", "Exp+Neg+Abs+Add"),
            ("run", "Exp+Neg+Abs+Add"),
        ):
            error = self.refused(f"{call}=fails", "run")
            self.assertEqual((error["name"], error["place"], error["what"]), ("device_failed", place, f"far was told to fail ({call})"))
            self.assertIn("--pin", error["advice"])

    def test_a_lie_differs_from_what_was_promised(self):
        for lie, name, expected, found in (
            ("shape", "bad_input", "[1,4]", "[7]"),
            ("dtype", "dtype_mismatch", "f32", "u8"),
            ("count", "device_failed", "1", "0"),
        ):
            error = self.refused(f"run={lie}", "run")
            self.assertEqual((error["name"], error["expected"], error["found"]), (name, expected, found))
            self.assertIn("--by-segment", error["advice"])

    def test_a_wrong_number_is_found_by_segment(self):
        done = far("run=number refuses=Neg", *self.call("compare", self.folder), "--by-segment")
        error = json.loads(done.stdout)["error"]
        self.assertEqual((error["name"], error["place"]), ("device_failed", "segment 0 on 'far'"))
        error = self.refused("run=number refuses=Neg", "compare")
        self.assertEqual((error["name"], error["place"]), ("device_failed", "value 'a'"))
        self.assertEqual(error["advice"], "--by-segment names the backend that is wrong")

    def test_segments_that_fail_to_compile_run_elsewhere_with_a_warning(self):
        for verb in ("build", "run", "partition", "compare"):
            with tempfile.TemporaryDirectory() as folder:
                done = far("compile=fails", *self.call(verb, Path(folder)))
            self.assertEqual(done.returncode, 0, done.stdout)
            (warning,) = json.loads(done.stdout)["warnings"]
            self.assertIn("backend 'far' handed segment 0 back (4 nodes)", warning)
            self.assertIn("far was told to fail (compile)", warning)
        error = self.refused("compile=fails", "build", "--require-full")
        self.assertEqual((error["name"], error["found"]), ("not_supported", "Abs (1x), Add (1x), Exp (1x), Neg (1x)"))

    def test_a_pin_that_it_refuses(self):
        error = self.refused("refuses=Neg", "build", "--pin", "second=far")
        self.assertEqual((error["name"], error["place"]), ("not_supported", "node 'second' (Neg)"))
        self.assertIn("far does not run Neg-13(f32[n,4])", error["found"])

    def test_an_engine_whose_backend_is_not_there(self):
        engine = self.folder / "far.tenon"
        self.assertEqual(far("", "build", self.model, "--backend", "far,cpu", "-o", engine).returncode, 0)
        self.assertEqual(far("", "run", engine).returncode, 0)
        done = tenon("run", engine, "--json")
        error = json.loads(done.stdout)["error"]
        self.assertEqual((done.returncode, error["name"], error["expected"]), (3, "not_supported", "the device 'far'"))

    def test_a_search_that_does_not_end_says_what_it_tried(self):
        draw = random.Random(5)
        ops, nodes = ("Sum", "Max", "Mean"), []
        for n in range(1600):
            reads = [f"v{k}" for k in range(max(0, n - 6), n) if draw.random() < 0.3] or ["x"]
            nodes.append(o.node(draw.choice(ops), reads, [f"v{n}"], name=f"n{n}"))
        path = self.folder / "long.onnx"
        path.write_bytes(o.model(o.graph(nodes, [o.value_info("x", [4])], [o.value_info("v1599", [4])])))
        call = ["partition", path, "--backend", "far,cpu,reference", "--fallback-ops", "Mean", "--opt", "0", "--dry-run"]
        report = json.loads(far("refuses=Max", *call, "--json").stdout)
        count, least = len(report["segments"]), report["lower_bound"]
        self.assertGreater(count, least)
        self.assertFalse(report["proved"])
        self.assertGreater(report["search_given_up_after"], 330_000_000)
        text = far("refuses=Max", *call).stdout
        self.assertIn(f"{count} segments, at most {count - least} more than the fewest", text)
        self.assertIn("the search for fewer was given up after 330 million visits of nodes and edges", text)

    def test_what_was_calibrated_decides(self):
        plan = ["partition", self.model, "--backend", "far,cpu", "--opt", "0", "--shape", "x=100000x4", "--assign", "cost", "--dry-run"]
        with tempfile.TemporaryDirectory() as cache, unittest.mock.patch.dict("os.environ", {"XDG_CACHE_HOME": cache}):
            kept = Path(cache) / "tenon/overheads"

            def report() -> tuple[set, dict]:
                answer = json.loads(far("", *plan, "--json").stdout)
                return {n["backend"] for n in answer["nodes"]}, {c["backend"]: c for c in answer["costs"]}["far"]

            stated = {
                "backend": "far",
                "launch_ns": 2000,
                "own_memory": True,
                "copy_ns": 1000,
                "copy_ns_per_byte": 0.1,
                "source": "guessed",
            }
            self.assertEqual(report(), ({"far"}, stated))
            done = far("", "calibrate", "--backend", "far,cpu", "--json")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            found, host = json.loads(done.stdout)["backends"]
            self.assertEqual((found["source"], host["source"], found["own_memory"]), ("calibrated", "guessed", True))
            (line,) = kept.read_text().splitlines()
            hash_text, *numbers, name = line.split()
            self.assertEqual(name, "far")
            for key, number in zip(("launch_ns", "copy_ns", "copy_ns_per_byte"), numbers, strict=True):
                self.assertAlmostEqual(found[key], float(number), delta=0.1)
            for numbers, runs in (("1000000000 5 0.01", "cpu"), ("5 5 0.01", "far"), ("5 5 100", "cpu")):
                kept.write_text(f"{hash_text} {numbers} far\n")
                backends, costs = report()
                self.assertEqual((backends, costs["source"], costs["launch_ns"]), ({runs}, "calibrated", float(numbers.split()[0])))
            self.assertIn("a start of far costs 0.01 us, a copy 0.01 us and 100.000 ns a byte (calibrated)", far("", *plan).stdout)
            listed = {b["name"]: b["costs"] for b in json.loads(far("", "backends", "--json").stdout)["backends"]}
            self.assertEqual((listed["far"]["copy_ns_per_byte"], listed["cpu"]["source"]), (100, "guessed"))

    def test_what_cannot_be_calibrated_says_why(self):
        with tempfile.TemporaryDirectory() as cache, unittest.mock.patch.dict("os.environ", {"XDG_CACHE_HOME": cache}):
            for does, why in (
                ("refuses=Relu", "far does not run Relu-14(f32[16])"),
                ("run=crashes", "does not run"),
                ("compile=fails", "does not run"),
            ):
                done = far(does, "calibrate", "--backend", "far", "--json")
                self.assertEqual(done.returncode, 0)
                self.assertIn(why, json.loads(done.stdout)["backends"][0]["why_not"])
            self.assertEqual(list(Path(cache).rglob("overheads")), [])
            for wrong in ("far,", "farr"):
                self.assertEqual(far("", "calibrate", "--backend", wrong).returncode, 2)

    def test_copies_are_those_of_the_plan(self):
        for refuses, count in (("Neg", 5), ("Exp", 2), ("Neg,Add", 4), ("Exp,Add", 2), ("Exp,Neg,Abs,Add", 0)):
            options = ["--backend", "far,cpu", "--opt", "0", "--json", "--shape", "x=3x4"]
            plan = json.loads(far(f"refuses={refuses}", "partition", self.model, "--dry-run", *options).stdout)
            ran = json.loads(far(f"refuses={refuses}", "run", self.model, "--segments", *options).stdout)["segments"]
            crossing = {b["value"] for b in plan["borders"]}
            ends = sum(v not in crossing for s in plan["segments"] if s["backend"] == "far" for v in s["inputs"] + s["outputs"])
            self.assertEqual(sum(b["copies"] for b in plan["borders"]) + ends, count, refuses)
            self.assertEqual([s["backend"] for s in ran], [s["backend"] for s in plan["segments"]])
            self.assertEqual(sum(s["copies"] for s in ran), count, refuses)
            self.assertEqual(sum(s["copied_bytes"] for s in ran), 48 * count)
            for b in plan["borders"]:
                self.assertAlmostEqual(b["us"], b["copies"] * (1000 + 0.1 * 48) / 1000)


if __name__ == "__main__":
    unittest.main()
