# SPDX-License-Identifier: Apache-2.0
"""Pages and explanations of engines (`inspect` and `bench`, --html and --explain): what they say is what they say of the model."""

from __future__ import annotations

import json
import shutil
import struct
import sys
import tempfile
import unittest
from pathlib import Path

import chromium

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from small_models import ROOT, data_of, o, tenon  # noqa: E402

OLD = ROOT / "tests/compiler/fixtures/0.1.0/perceptron.avx512.tenon"  # built before engines had records of their plans
BRIEF = ("--runs", 1, "--seconds", "0.1", "--threads", 1)


def model() -> bytes:
    """Products with large constants, a row op, a map, a size that the run gives, and a branch."""
    then, other = (o.graph([o.node(op, ["h"], [op + "_y"])], [], [o.value_info(op + "_y", ["n", 16])]) for op in ("Relu", "Tanh"))
    nodes = [
        o.node("MatMul", ["x", "w"], ["a"], name="/product"),
        o.node("Mul", ["a", "half"], ["b"], name="/scale"),
        o.node("Softmax", ["b"], ["h"], o.attribute_int("axis", 1), name="/soft"),
        o.node("If", ["c"], ["y"], o.attribute_graph("then_branch", then), o.attribute_graph("else_branch", other), name="/branch"),
    ]
    constants = [o.tensor("w", [4, 16], struct.pack("<64f", *range(64))), o.tensor("half", [], struct.pack("<f", 0.5))]
    inputs = [o.value_info("x", ["n", 4]), o.value_info("c", [], 9)]
    return o.model(o.graph(nodes, inputs, [o.value_info("y", ["n", 16])], constants))


class EngineViews(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.model, cls.page = cls.folder / "model.onnx", cls.folder / "page.html"
        cls.model.write_bytes(model())
        cls.engine, cls.portable, cls.fixed = (cls.folder / f"{name}.tenon" for name in ("engine", "portable", "fixed"))
        for engine, options in ((cls.engine, []), (cls.portable, ["--portable"]), (cls.fixed, ["--shape", "x=1x4:2x4:8x4"])):
            done = tenon("build", cls.model, "-o", engine, *options)
            assert done.returncode == 0, done.stderr

    def setUp(self):
        self.page.unlink(missing_ok=True)

    def graphs(self, *arguments: object) -> list[dict]:
        """Of the page that a call writes."""
        done = tenon(*arguments, "--html", self.page)
        self.assertEqual(done.returncode, 0, done.stderr)
        return data_of(self.page)["graphs"]

    def error(self, *arguments: object) -> dict:
        done = tenon(*arguments, "--json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertFalse(self.page.exists())
        return json.loads(done.stdout)["error"]

    @staticmethod
    def without_origins(graph: dict) -> dict:
        """Without what the text of a graph does not have: rules, sources and modules, and its place among the page's graphs."""
        for node in graph["nodes"]:
            for key in ("rule", "from", "module", "bodies"):
                node.pop(key, None)
        return {key: value for key, value in graph.items() if key not in ("before", "after", "inside")}

    def test_inspect_shows_the_graph_the_groups_and_the_kernels_that_build_shows(self):
        engine = self.graphs("inspect", self.engine)
        built = self.graphs("build", self.model, "-o", self.folder / "again.tenon")[1:]
        while built[0]["name"] != "as compiled":  # bodies of the graph as exported
            built.pop(0)
        self.assertEqual(len(engine), 3)
        for mine, other in zip((v for g in engine for v in g["values"]), (v for g in built for v in g["values"]), strict=True):
            if not other["name"]:  # the text of a graph names each value
                mine["name"] = ""
        self.assertEqual([self.without_origins(g) for g in engine], [self.without_origins(g) for g in built])
        kernels = [s["runs"] for g in engine[0]["groups"] for s in g["steps"]]
        self.assertTrue(any(k.startswith("kernel ") for k in kernels), kernels)
        self.assertTrue(all("groups" in n for n in engine[0]["nodes"] if n["op"] in ("MatMul", "Softmax")))

    def entries(self) -> list[Path]:
        """A native and a portable engine of the entries main and other."""
        other = self.folder / "other.onnx"
        other.write_bytes(o.chain([o.node("Exp", ["x"], ["h"], name="/exp"), o.node("Relu", ["h"], ["y"], name="/relu")]))
        made = []
        for name, options in (("two", []), ("two_portable", ["--portable"])):
            made.append(self.folder / f"{name}.tenon")
            done = tenon("build", self.model, "--entry", f"other={other}", "-o", made[-1], *options, "--html", self.page)
            self.assertEqual(done.returncode, 0, done.stderr)
        return made

    @staticmethod
    def names(graphs: list[dict]) -> list[tuple]:
        return [(g["entry"], g["name"]) for g in graphs if "inside" not in g]

    def test_pages_have_the_graphs_of_all_entries(self):
        native, portable = self.entries()
        built = data_of(self.page)["graphs"]
        self.assertEqual(self.names(built), [(e, f"as {how}") for how in ("exported", "compiled") for e in ("main", "other")])
        of_other = [g for g in built if g["entry"] == "other"]
        self.assertEqual([built[g["after"]]["name"] for g in of_other if "after" in g], ["as compiled"])
        self.assertTrue(all(built[g["before"]]["entry"] == "other" for g in of_other if "before" in g))
        graphs = self.graphs("inspect", native)
        self.assertEqual(self.names(graphs), [("main", "as compiled"), ("other", "as compiled")])
        self.assertTrue(graphs[-1]["groups"] and all(g["steps"] for g in graphs[-1]["groups"]))
        self.assertEqual([self.without_origins(g) for g in graphs[-1:]], [self.without_origins(g) for g in of_other[-1:]])
        self.assertEqual(self.names(self.graphs("inspect", portable)), [("main", "as rewritten"), ("other", "as rewritten")])

    def test_one_entry_is_chosen(self):
        for engine in self.entries():
            with self.subTest(engine.name):
                self.assertEqual({g["entry"] for g in self.graphs("inspect", engine, "--entry", "other")}, {"other"})
                text = tenon("inspect", engine, "--entry", "other", "--text").stdout
                self.assertIn("Exp", text)
                self.assertNotIn("Softmax(", text)
                self.assertIn("Softmax(", tenon("inspect", engine, "--text").stdout)
                self.page.unlink(missing_ok=True)
                for call in (["inspect", engine, "--html", self.page], ["inspect", engine], ["bench", engine, *BRIEF]):
                    self.assertEqual(self.error(*call, "--entry", "othr")["advice"], "did you mean 'other'?")
        self.assertEqual(self.error("inspect", self.model, "--entry", "main")["name"], "bad_usage")

    def test_bench_measures_and_explains_an_entry(self):
        for engine in self.entries():
            with self.subTest(engine.name):
                done = tenon("bench", engine, "--entry", "other", "--shape", "x=2x4", "--explain", "--html", self.page, "--json", *BRIEF)
                self.assertEqual(done.returncode, 0, done.stderr)
                report, graphs = json.loads(done.stdout), data_of(self.page)["graphs"]
                self.assertEqual(report["shapes"], {"x": [2, 4]})
                labels = [{k["label"] for k in rows} for rows in (report["explained"]["kernels"], report["kernels"])]
                self.assertEqual(*labels)
                self.assertNotIn("MatMul", " ".join(labels[0]))
                timed = {g["entry"]: any("ms" in s for k in g["groups"] for s in k["steps"]) for g in graphs if g["groups"]}
                self.assertEqual(timed, {"main": False, "other": True})

    @unittest.skipUnless(chromium.find(), "needs Chromium")
    def test_a_selector_shows_the_graphs_of_an_entry(self):
        self.entries()
        browser = self.enterContext(chromium.Chromium(self.page))
        tabs = "[...$('tabs').children].map(b => b.firstChild.textContent)"
        select = "$('entry').value = {0!r}, $('entry').dispatchEvent(new Event('change')), [data.graphs[at].entry, data.graphs[at].name]"
        self.assertEqual(browser.evaluate("[...$('entry').options].map(o => o.value)"), ["main", "other"])
        self.assertFalse(browser.evaluate("$('entries').hidden"))
        self.assertEqual(browser.evaluate(tabs), ["as exported", "as compiled"])
        self.assertEqual(browser.evaluate(select.format("other")), ["other", "as exported"])
        browser.evaluate("$('tabs').children[1].click()")
        self.assertEqual(browser.evaluate("[data.graphs[at].entry, data.graphs[at].name]"), ["other", "as compiled"])
        self.assertEqual(browser.evaluate(select.format("main")), ["main", "as compiled"])
        self.assertEqual(browser.complaints, [])
        self.assertEqual(tenon("build", self.model, "-o", self.folder / "one.tenon", "--html", self.page).returncode, 0)
        self.assertTrue(self.enterContext(chromium.Chromium(self.page)).evaluate("$('entries').hidden"))

    def test_inspect_shows_the_graph_of_a_portable_engine(self):
        graph = self.graphs("inspect", self.portable)[0]
        self.assertIn("MatMul", [n["op"] for n in graph["nodes"]])
        self.assertEqual((graph["name"], graph["groups"]), ("as rewritten", []))

    @unittest.skipUnless(shutil.which("dot"), "needs Graphviz")
    def test_inspect_draws_the_graph_of_an_engine(self):
        svg = self.folder / "graph.svg"
        self.assertEqual(tenon("inspect", self.engine, "--svg", svg).returncode, 0)
        self.assertIn("MatMul", svg.read_text())

    def test_inspect_of_an_older_engine_shows_the_graph_and_says_what_is_missing(self):
        done = tenon("inspect", OLD, "--html", self.page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("build the engine again", done.stderr)
        [graph] = data_of(self.page)["graphs"]
        self.assertTrue(graph["nodes"])
        self.assertEqual(graph["groups"], [])

    def test_inspect_writes_no_page_where_a_shape_is_wrong(self):
        self.assertEqual(self.error("inspect", self.engine, "--shape", "x=3", "--html", self.page)["name"], "bad_input")

    def explained(self, path: Path) -> list[tuple]:
        done = tenon("bench", path, "--explain", "--json", *BRIEF)
        self.assertEqual(done.returncode, 0, done.stderr)
        kernels = json.loads(done.stdout)["explained"]["kernels"]
        self.assertTrue(all(k["predicted_ms"] > 0 for k in kernels))
        return sorted((k["label"], k["calls"], k["tactic"], k["why"]) for k in kernels)

    def test_bench_explains_an_engine_as_its_model(self):
        rows = self.explained(self.model)
        self.assertTrue(any("tile " in row[3] for row in rows), rows)
        for engine in (self.engine, self.portable):
            with self.subTest(engine.name):
                self.assertEqual(self.explained(engine), rows)

    def test_bench_shows_times_in_the_page_of_an_engine(self):
        for engine in (self.engine, self.portable):
            with self.subTest(engine.name):
                graph = self.graphs("bench", engine, *BRIEF)[0]
                steps = [s for g in graph["groups"] for s in g["steps"]]
                self.assertTrue(steps and all(s["ms"] > 0 for s in steps), steps)

    @unittest.skipUnless("avx512f" in Path("/proc/cpuinfo").read_text(), "needs a CPU with AVX-512")
    def test_bench_of_an_older_engine_says_to_build_it_again(self):
        for option in (["--explain"], ["--html", self.page]):
            error = self.error("bench", OLD, *option, *BRIEF)
            self.assertEqual(error["name"], "not_supported")
            self.assertIn("build the engine again", error["advice"])

    def test_sizes_with_a_program_of_their_own_are_not_shown(self):
        for option in (["--explain"], ["--html", self.page]):
            for path, shape in ((self.fixed, "x=30x4"),):
                error = self.error("bench", path, "--shape", shape, *option, *BRIEF)
                self.assertEqual(error["name"], "not_supported")
                self.assertIn("program of their own", error["what"])

    def test_options_of_a_build_are_refused_as_without_views(self):
        for option in (["--backend", "reference"], ["--precision", "bf16"], ["--only-output", "y"]):
            self.assertEqual(self.error("bench", self.engine, *option, "--explain")["name"], "bad_usage")

    def test_a_damaged_record_is_found_where_it_is_read(self):
        sections = {s["name"]: s for s in json.loads(tenon("inspect", self.engine, "--json").stdout)["sections"]}
        content, path = self.engine.read_bytes(), self.folder / "damaged.tenon"
        for name in ("plan record", "graph text"):
            with self.subTest(name):
                middle = sections[name]["offset"] + sections[name]["bytes"] // 2
                path.write_bytes(content[:middle] + bytes([content[middle] ^ 8]) + content[middle + 1 :])
                self.assertEqual(tenon("run", path).returncode, 0)  # no run reads it
                for call in (["inspect", path, "--html", self.page], ["bench", path, "--html", self.page, *BRIEF]):
                    error = self.error(*call)
                    self.assertEqual(error["name"], "bad_file")
                    self.assertIn(name, error["what"])
                self.assertNotEqual(tenon("run", path, "--verify").returncode, 0)


if __name__ == "__main__":
    unittest.main()
