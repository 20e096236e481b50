# SPDX-License-Identifier: Apache-2.0
"""`tenon partition`: who runs what and why; the user's word about it, in all verbs that build."""

import json
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from small_models import np, o, report, tenon  # noqa: E402

TWO = ["--backend", "cpu,reference", "--opt", "0"]


def named(op: str, inputs: list[str], output: str, name: str) -> bytes:
    return o.node(op, inputs, [output], name=name)


def two_blocks() -> bytes:
    nodes = [
        named("Relu", ["x"], "a", "/one/Relu"),
        named("Exp", ["a"], "b", "/one/inner/Exp"),
        named("Neg", ["b"], "c", "/two/Neg"),
        named("Abs", ["c"], "d", "/two/Abs"),
        named("Add", ["d", "a"], "y", "sum"),
    ]
    return o.model(o.graph(nodes, [o.value_info("x", ["n", 4])], [o.value_info("y", ["n", 4])]))


class Partition(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.model = cls.folder / "m.onnx"
        cls.model.write_bytes(two_blocks())

    def report(self, *options, dry=True):
        return report("partition", self.model, *TWO, *(["--dry-run"] if dry else []), *options)

    def test_the_page_says_that_times_are_guesses_and_at_which_sizes(self):
        self.assertEqual(self.report()["guessed_at"], {"n": 64})
        self.assertEqual(self.report("--shape", "x=7x4")["guessed_at"], {})
        page = self.folder / "guess.html"
        self.report("--html", page)
        self.assertIn("guesses${guessedAt}", page.read_text(encoding="utf-8"))

    def segments(self, *options):
        return [(s["backend"], s["nodes"]) for s in self.report(*options)["segments"]]

    def refused(self, code: int, *options, verb="partition"):
        done = tenon(verb, self.model, "--json", *options)
        self.assertEqual(done.returncode, code, done.stdout)
        error = json.loads(done.stdout)["error"]
        self.assertEqual([part for part in ("place", "what", "expected", "found", "advice") if not error[part]], [], error)
        return error

    def test_one_backend_is_one_segment(self):
        report = self.report()
        self.assertEqual([s["backend"] for s in report["segments"]], ["cpu"])
        self.assertEqual((report["borders"], report["lower_bound"], report["proved"], report["accelerated_share"]), ([], 1, True, 1.0))
        self.assertEqual([n["name"] for n in report["nodes"]], ["/one/Relu", "/one/inner/Exp", "/two/Neg", "/two/Abs", "sum"])
        self.assertEqual(report["nodes"][1]["module"], "one/inner")

    def test_nodes_without_a_name_of_their_own_are_named_by_place(self):
        nodes = [named("Neg", ["x"], "a", "same"), named("Abs", ["a"], "y", "same")]
        model = self.folder / "same.onnx"
        model.write_bytes(o.model(o.graph(nodes, [o.value_info("x", [4])], [o.value_info("y", [4])])))
        rows = report("partition", model, *TWO, "--dry-run", "--pin", "Abs_1=reference")["nodes"]
        self.assertEqual([(n["name"], n["backend"]) for n in rows], [("Neg_0", "cpu"), ("Abs_1", "reference")])

    def test_no_two_nodes_have_one_name(self):
        """Neither where one is called what another gets by its place."""
        nodes = [
            named("Neg", ["x"], "a", "s"),
            named("Abs", ["a"], "b", "Neg_0"),
            named("Neg", ["b"], "c", "s"),
            named("Exp", ["c"], "y", "Abs_1"),
        ]
        model = self.folder / "called.onnx"
        model.write_bytes(o.chain(nodes))
        rows = report("partition", model, *TWO, "--dry-run", "--pin", "Abs_1=reference")["nodes"]
        self.assertEqual([n["name"] for n in rows], ["Neg_0", "Abs_1", "Neg_2", "Exp_3"])
        self.assertEqual([n["backend"] for n in rows], ["cpu", "reference", "cpu", "cpu"])

    def test_an_op_falls_back(self):
        report = self.report("--fallback-ops", "Neg")
        self.assertEqual([s["backend"] for s in report["segments"]], ["cpu", "reference", "cpu"])
        self.assertEqual(report["nodes"][2]["reasons"][0], {"code": "fallback_op", "text": "fallback-ops Neg"})
        rows = [(b["value"], b["from"], b["to"], b["shape"]) for b in report["borders"]]
        self.assertEqual(rows, [("b", 0, 1, "[n, 4]"), ("c", 1, 2, "[n, 4]"), ("a", 0, 2, "[n, 4]")])
        self.assertEqual(report["what_if"], [{"op": "Neg", "borders_removed": 3, "segments": 1}])
        self.assertEqual(report["accelerated_share"], 0.8)

    def test_a_run_reports_the_segments_of_the_plan(self):
        options = [*TWO, "--fallback-ops", "Neg"]
        ran = report("run", self.model, *options, "--shape", "x=3x4", "--segments")["segments"]
        self.assertEqual([s["backend"] for s in ran], [s["backend"] for s in self.report("--fallback-ops", "Neg")["segments"]])
        # The reference gives a result of its own, which is brought to its place.
        self.assertEqual([(s["copies"], s["copied_bytes"]) for s in ran], [(0, 0), (1, 48), (0, 0)])
        self.assertEqual([b["copies"] for b in self.report("--fallback-ops", "Neg")["borders"]], [0, 1, 0])
        self.assertEqual(ran[1]["what"], "node '/two/Neg' (Neg)")

    def test_measured_times_are_kept_and_decide(self):
        kept = self.folder / "tenon/times"
        options = ["--backend", "reference,cpu", "--opt", "0", "--assign", "cost", "--measure", "--dry-run"]
        with unittest.mock.patch.dict("os.environ", {"XDG_CACHE_HOME": str(self.folder)}):
            first = report("partition", self.model, *options)
            lines = kept.read_text().splitlines()
            # Two starts, five nodes on two backends (of which some are alike), each backend alone, perhaps the two best again.
            self.assertTrue(7 <= len(lines) <= 16, lines)
            self.assertEqual(
                [n["backend"] for n in report("partition", self.model, *options)["nodes"]], [n["backend"] for n in first["nodes"]]
            )
            self.assertEqual(kept.read_text().splitlines()[: len(lines)], lines)
        error = self.refused(2, "--backend", "reference,cpu", "--measure")
        self.assertEqual(error["expected"], "--assign cost --measure, or plugins")

    def test_time_prints_one_line_per_engine(self):
        engine = self.folder / "m.tenon"
        self.assertEqual(tenon("build", self.model, "-o", engine).returncode, 0)
        broken = self.folder / "broken.tenon"
        broken.write_bytes(engine.read_bytes()[:100])
        lines = tenon("time", engine, broken, engine).stdout.splitlines()
        self.assertEqual((lines[0], len(lines)), ("ready", 4))
        self.assertRegex(lines[1], r"^\d+ ns$")
        self.assertRegex(lines[2], r"^- ")
        self.assertEqual(tenon("time", broken).returncode, 1)

    def test_sizes_in_bounds(self):
        bounds = ["--shape", "x=2x4:3x4:8x4"]
        borders = self.report("--fallback-ops", "Neg", *bounds)["borders"]
        self.assertEqual({(b["shape"], b["bytes"]) for b in borders}, {("[n, 4]; n in 2..8", 8 * 4 * 4)})
        engine = self.folder / "bounds.tenon"
        self.assertEqual(tenon("build", self.model, "-o", engine, *bounds).returncode, 0)
        shapes = [
            report("run", self.model, *bounds)["outputs"][0]["shape"],
            report("run", engine, "--shape", "x=8x4")["outputs"][0]["shape"],
        ]
        self.assertEqual(shapes, [[3, 4], [8, 4]])
        for rows in (1, 9):
            np.save(self.folder / "x.npy", np.zeros((rows, 4), np.float32))
            self.assertEqual(report("run", engine, "--input", f"x={self.folder / 'x.npy'}")["outputs"][0]["shape"], [rows, 4])
        for wrong in ("x=2x4:3x4", "x=3x4:2x4:8x4", "x=2:3x4:8x4", "x=2x4:*x4:8x4", "x=1x4:2x4:3x4:4x4", "x=1,,2", "x=,1", "x=1,2,"):
            self.assertEqual(self.refused(2, "--shape", wrong, verb="run")["place"], f"--shape {wrong}")

    def test_what_finds_no_room_goes_to_the_next_backend(self):
        # A node reads and writes 48 bytes each, the sum reads twice as much.
        self.assertEqual(self.segments("--shape", "x=3x4", "--memory", "cpu=100")[-1], ("reference", ["sum"]))
        row = self.report("--shape", "x=3x4", "--memory", "cpu=100")["nodes"][-1]
        self.assertEqual(row["reasons"][-1], {"code": "over_budget", "text": "cpu has no room for it in its 100 bytes"})
        self.assertEqual([s[0] for s in self.segments("--shape", "x=3x4", "--memory", "cpu=1K")], ["cpu"])
        # Three products of one weight, which counts once.
        weights = o.tensor("w", [64, 64], bytes(64 * 64 * 4))
        nodes = [named("MatMul", [f"v{k}", "w"], f"v{k + 1}", f"m{k}") for k in range(3)]
        model = self.folder / "shared.onnx"
        model.write_bytes(o.model(o.graph(nodes, [o.value_info("v0", [1, 64])], [o.value_info("v3", [1, 64])], [weights])))
        shared = ["partition", model, *TWO, "--dry-run", "--json", "--memory"]
        self.assertEqual([s["backend"] for s in json.loads(tenon(*shared, "cpu=17K").stdout)["segments"]], ["cpu"])
        refused = tenon(*shared, "cpu=16K")
        self.assertEqual((refused.returncode, json.loads(refused.stdout)["error"]["expected"]), (2, "at least 16896 bytes"))

    def test_limits_that_cannot_be(self):
        shape = ["--shape", "x=3x4", *TWO]
        self.assertEqual(self.refused(2, *shape, "--memory", "cpu=50")["expected"], "at least 96 bytes")
        self.assertEqual(self.refused(2, *shape, "--memory", "cpu=100", "--pin", "sum=cpu")["found"], "100, at node 'sum'")
        for wrong in ("cpu", "cpu=", "cpu=0", "cpu=-1", "cpu=1T", "cpu=1KK", "=5", "cpu=99999999999999999999", "cpu=9000000000000000000K"):
            self.assertEqual(self.refused(2, *shape, "--memory", wrong)["found"], wrong)
        self.assertEqual(self.refused(2, *shape, "--memory", "reference=1K")["found"], "reference")
        self.assertEqual(self.refused(2, *shape, "--memory", "cpu=1K", "--memory", "cpu=2K")["found"], "cpu")

    def test_a_module_falls_back_by_whole_components(self):
        for path in ("one", "/one", "one.inner", "/one/inner"):
            inner = [("reference", ["/one/inner/Exp"])]
            first = [("reference", ["/one/Relu", "/one/inner/Exp"])] if "inner" not in path else [("cpu", ["/one/Relu"]), *inner]
            self.assertEqual(self.segments("--fallback-modules", path)[: len(first)], first, path)

    def test_a_pin_of_a_node_goes_before_its_module(self):
        pins = ["--pin", "/two=reference", "--pin", "/two/Abs=cpu"]
        self.assertEqual([s[0] for s in self.segments(*pins)], ["cpu", "reference", "cpu"])
        self.assertEqual(self.segments(*pins)[1][1], ["/two/Neg"])

    def test_small_segments_fall_back_but_for_pins(self):
        forced = ["--fallback-ops", "Exp,Abs"]
        self.assertEqual(len(self.segments(*forced)), 5)
        self.assertEqual(self.segments(*forced, "--min-block-size", "2")[0][0], "reference")
        report = self.report(*forced, "--min-block-size", "2")
        self.assertEqual([r["code"] for r in report["nodes"][0]["reasons"]], ["chosen", "too_small"])
        pinned = self.segments(*forced, "--min-block-size", "2", "--pin", "/two/Neg=cpu")
        self.assertIn(("cpu", ["/two/Neg"]), pinned)

    def test_nodes_go_where_they_cost_least(self):
        turned = ["--backend", "reference,cpu", "--opt", "0", "--dry-run"]
        self.assertEqual({n["backend"] for n in report("partition", self.model, *turned)["nodes"]}, {"reference"})
        rows = report("partition", self.model, *turned, "--assign", "cost")["nodes"]
        self.assertEqual({n["backend"] for n in rows}, {"cpu"})
        self.assertEqual([r["code"] for r in rows[0]["reasons"]], ["chosen"])
        predicted = report("partition", self.model, *turned, "--assign", "cost")["predicted"]
        self.assertAlmostEqual(
            predicted["us"], sum(s["us"] for s in report("partition", self.model, *turned, "--assign", "cost")["segments"])
        )
        self.assertLessEqual(predicted["least_us"], predicted["us"])
        self.assertNotIn("predicted", report("partition", self.model, *turned))
        pinned = report("partition", self.model, *turned, "--assign", "cost", "--pin", "/two/Neg=reference")
        self.assertEqual([s["backend"] for s in pinned["segments"]], ["cpu", "reference", "cpu"])

    def test_bound_is_never_above_the_count(self):
        forced, memory = ["--fallback-ops", "Exp,Abs"], ["--shape", "x=3x4", "--memory", "cpu=100"]
        for options in (
            [],
            forced,
            [*forced, "--segmenter", "walk"],
            memory,
            [*forced, *memory],
            ["--pin", "sum=reference"],
            ["--assign", "cost"],
        ):
            of_any = self.report(*options, "--min-block-size", "1")
            self.assertEqual(of_any["proved"], of_any["lower_bound"] == len(of_any["segments"]))
            if "walk" not in options:
                self.assertTrue(of_any["proved"], options)
            for size in ([], ["--min-block-size", "2"], ["--min-block-size", "9"]):
                report = self.report(*options, *size)
                self.assertLessEqual(report["lower_bound"], len(report["segments"]), [*options, *size])
                self.assertEqual(report["proved"], report["lower_bound"] == len(report["segments"]), [*options, *size])
        text = tenon("partition", self.model, *TWO, "--dry-run", *forced, "--min-block-size", "9").stdout
        self.assertIn("1 segments, proved fewest; 0 borders", text)

    def test_a_walk_that_is_not_the_fewest_says_how_far_it_is(self):
        nodes = [
            *(named(op, [x], y, y) for op, x, y in (("Exp", "x", "a"), ("Neg", "x", "b"), ("Exp", "b", "c"), ("Neg", "a", "d"))),
            named("Add", ["c", "d"], "y", "y"),
        ]
        model = self.folder / "walked.onnx"
        model.write_bytes(o.chain(nodes))
        call = ["partition", model, *TWO, "--dry-run", "--fallback-ops", "Neg", "--segmenter", "walk"]
        report = json.loads(tenon(*call, "--json").stdout)
        self.assertEqual((len(report["segments"]), report["lower_bound"], report["proved"]), (4, 3, False))
        self.assertIn("4 segments, at most 1 more than the fewest (33.3 %): at least 3 are needed; ", tenon(*call).stdout)

    def test_the_walk_is_there_for_two_backends(self):
        self.assertEqual(len(self.segments("--fallback-ops", "Neg", "--segmenter", "walk")), 3)
        error = self.refused(2, "--backend", "cpu", "--segmenter", "walk", "--dry-run")
        self.assertIn("two backends", error["what"])

    def test_the_build_is_what_the_dry_run_says(self):
        options = ["--fallback-ops", "Neg"]
        dry, built = self.report(*options), self.report(*options, dry=False)
        self.assertIsNone(dry.pop("peak_bytes"))
        self.assertGreater(built.pop("peak_bytes"), 0)
        self.assertEqual(dry, built)
        for verb in ("run", "compare"):
            self.assertEqual(tenon(verb, self.model, *TWO, *options).returncode, 0)
        report_of = report("build", self.model, *TWO, *options, "-o", self.folder / "m.tenon")
        steps = report("inspect", report_of["file"])["steps"]
        self.assertEqual([s["computes"] for s in steps if s["kind"] == "segment"], ["node '/two/Neg' (Neg)"])

    def test_segments_are_compared_one_by_one(self):
        """What happens where a backend lies: tests/cli/segment_check.cpp."""
        compared = report("compare", self.model, *TWO, "--fallback-ops", "Neg", "--by-segment")
        self.assertEqual(compared["verdict"], "good")
        rows = [(s["id"], s["backend"], s["nodes"], s["value"], s["verdict"]) for s in compared["segments"]]
        first, last = (0, "cpu", ["/one/Relu", "/one/inner/Exp"]), (2, "cpu", ["/two/Abs", "sum"])
        self.assertEqual([r[:3] for r in rows], [first, (1, "reference", ["/two/Neg"]), last])
        self.assertEqual([r[3:] for r in rows][1:], [("c", "good"), ("y", "good")])
        self.assertEqual(report("compare", self.model, *TWO)["outputs"][0]["verdict"], "good")
        self.assertNotIn("segments", report("compare", self.model, *TWO))

    def test_rules_join_nothing_that_runs_in_two_places(self):
        """Without a constraint, two Negs are none."""
        nodes = [named("Neg", ["x"], "a", "/p/Neg"), named("Neg", ["a"], "b", "/q/Neg"), named("Exp", ["b"], "y", "/q/Exp")]
        model = self.folder / "neg.onnx"
        model.write_bytes(o.model(o.graph(nodes, [o.value_info("x", [4])], [o.value_info("y", [4])])))
        backends = ["--backend", "cpu,reference", "--dry-run"]
        self.assertEqual(len(report("partition", model, *backends)["nodes"]), 1)
        report_of = report("partition", model, *backends, "--pin", "/p=reference")
        self.assertEqual([(n["op"], n["backend"]) for n in report_of["nodes"]], [("Neg", "reference"), ("Neg", "cpu"), ("Exp", "cpu")])

    def test_a_name_that_is_not_there_is_answered_with_the_nearest(self):
        for options, place, near in (
            (["--backend", "refrence"], "backend 'refrence'", "reference"),
            (["--backend", "cpu,onnxruntim"], "backend 'onnxruntim'", "onnxruntime"),
            ([*TWO, "--fallback-ops", "Neh"], "fallback-ops", "Neg"),
            ([*TWO, "--fallback-modules", "inner"], "fallback-modules", "one/inner"),
            ([*TWO, "--pin", "/two/Abd=cpu"], "pin", "/two/Abs"),
            ([*TWO, "--pin", "/two/Abs=cpo"], "pin /two/Abs=cpo", "cpu"),
        ):
            error = self.refused(2, *options)
            self.assertEqual(error["place"], place)
            self.assertIn(f"did you mean '{near}'?", error["advice"])
        self.assertEqual(self.refused(2, *TWO, "--fallback-ops", "Softmax")["expected"], "Abs, Add, Exp, Neg, Relu")
        self.assertEqual(self.refused(2, *TWO, "--pin", "/two/Abs=gpu")["expected"], "cpu, reference")
        self.assertIn("name it among the backends too", self.refused(2, "--backend", "cpu", "--pin", "/two/Abs=reference")["advice"])

    def test_long_names_have_a_nearest_too(self):
        name = "/".join(["", *(f"layer.{k}" for k in range(12)), "attention/Neg"])
        model = self.folder / "long.onnx"
        model.write_bytes(o.chain([named("Neg", ["x"], "y", name)]))
        done = tenon("partition", model, *TWO, "--pin", name.replace("attention", "atention") + "=cpu")
        self.assertEqual(done.returncode, 2)
        self.assertIn(f"did you mean '{name}'?", done.stderr)

    def test_constraints_against_each_other_are_an_error(self):
        for options in (
            ["--pin", "/two=cpu", "--pin", "/two=reference"],
            ["--pin", "one=reference", "--pin", "/one=cpu"],  # the same module
            ["--pin", "sum=reference", "--pin", "sum=cpu"],
            ["--fallback-ops", "Neg", "--pin", "/two/Neg=cpu"],
            ["--fallback-ops", "Neg", "--pin", "/two=cpu"],
            ["--fallback-modules", "/one", "--pin", "one=cpu"],
            ["--fallback-modules", "one", "--pin", "/one=cpu"],
        ):
            error = self.refused(2, *TWO, *options)
            self.assertIn("two places", error["what"])
            said = [f"{option[2:]} {text}" for option, text in zip(options[::2], options[1::2], strict=True)]
            self.assertEqual(error["found"], " and ".join(said))
        for options in (  # the same said twice; a part of what is said of the whole
            ["--pin", "one=reference", "--pin", "/one=reference"],
            ["--fallback-ops", "Neg,Neg", "--fallback-modules", "two", "--pin", "/two/Neg=reference"],
            ["--fallback-modules", "one", "--pin", "one.inner=cpu"],
        ):
            self.assertEqual(tenon("partition", self.model, *TWO, *options).returncode, 0, options)

    def test_what_cannot_be_is_one_error(self):
        for size in ("0", "-3", "99999999999999999999"):
            self.assertEqual(self.refused(2, *TWO, "--min-block-size", size)["expected"], "a number from 1 to 4294967295")
        self.assertEqual(self.refused(2, *TWO, "--min-block-size", "few")["code"], 200)
        for pin in ("cpu", "=cpu", "sum="):
            self.assertEqual(self.refused(2, *TWO, "--pin", pin)["expected"], "NAME=BACKEND")
        self.assertIn("twice", self.refused(2, "--backend", "cpu,cpu")["what"])
        for option in ("--backend", "--fallback-ops", "--fallback-modules"):
            for names in ("Neg,", ",Neg", "Neg,,Exp", ",", ""):
                error = self.refused(2, *TWO[: 0 if option == "--backend" else 4], option, names)
                self.assertEqual((error["place"], error["found"]), (option, f"'{names}'"))
                self.assertIn("comma", error["advice"])
        self.assertIn("--assign cost", self.refused(2, *TWO, "--measure")["expected"])
        self.assertEqual(self.refused(1, *TWO, "--html", self.folder / "nowhere" / "x.html")["name"], "write_failed")
        self.assertEqual(list(self.folder.glob("nowhere*")), [])

    def test_a_pin_that_its_backend_refuses_is_an_error(self):
        model, engine = self.folder / "refused.onnx", self.folder / "refused.tenon"
        model.write_bytes(
            o.model(o.graph([named("NonZero", ["x"], "y", "find")], [o.value_info("x", [4])], [o.value_info("y", [1, "k"], 7)]))
        )
        for verb in (["partition", model], ["build", model, "-o", engine], ["run", model]):
            done = tenon(*verb, *TWO, "--pin", "find=cpu")
            self.assertEqual(done.returncode, 3)
            self.assertIn("node 'find' (NonZero): backend 'cpu', which it is pinned to, does not run it", done.stderr)
        self.assertFalse(engine.exists())

    def test_all_or_an_error_with_ops_and_counts(self):
        engine = self.folder / "full.tenon"
        for options, found in (
            (["--fallback-ops", "Neg"], "Neg (1x)"),
            (["--fallback-ops", "Neg,Exp"], "Exp (1x), Neg (1x)"),
            (["--fallback-modules", "one"], "Exp (1x), Relu (1x)"),
        ):
            self.assertEqual(self.refused(3, *TWO, *options, "--require-full")["found"], found)
            done = tenon("build", self.model, *TWO, *options, "--require-full", "-o", engine)
            self.assertEqual((done.returncode, engine.exists()), (3, False))
        self.assertEqual(
            self.refused(3, "--backend", "cpu", "--opt", "0", "--require-full")["found"],
            "Abs (1x), Add (1x), Exp (1x), Neg (1x), Relu (1x)",
        )
        self.assertEqual(tenon("run", self.model, *TWO, "--require-full").returncode, 0)

    def test_an_engine_is_settled(self):
        engine = self.folder / "settled.tenon"
        tenon("build", self.model, "-o", engine)
        self.assertEqual(tenon("run", engine).returncode, 0)
        for arguments in (["run", engine, "--min-block-size", "2"], ["partition", engine]):
            done = tenon(*arguments)
            self.assertEqual(done.returncode, 2)
            self.assertIn("settled", done.stderr)


if __name__ == "__main__":
    unittest.main()
