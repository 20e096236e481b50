# SPDX-License-Identifier: Apache-2.0
"""The page of `inspect --html`, `build --html` and `bench --html`: its data says what model and engine are; where Chromium is at hand it
opens without complaint and fits the window, and mouse, keys and search do what they say."""

import json
import re
import struct
import sys
import tempfile
import unittest
from pathlib import Path

import chromium

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

import small_models as small  # noqa: E402
from small_models import data_of, o, tenon  # noqa: E402

LAYERS = 6


def encoder(layers: int) -> bytes:
    """Layers of MatMul, Add, Gelu written out, and a residual Add: 8 nodes each, named as PyTorch's exporter does."""
    nodes, at = [o.node("Relu", ["x"], ["h"], name="/start/Relu")], "h"
    for k in range(layers):
        place = f"/encoder/layer.{k}"
        made = [
            ("MatMul", [at, "w"], "m"),
            ("Add", [f"m{k}", "b"], "a"),
            ("Div", [f"a{k}", "root2"], "d"),
            ("Erf", [f"d{k}"], "e"),
            ("Add", [f"e{k}", "one"], "p"),
            ("Mul", [f"a{k}", f"p{k}"], "q"),
            ("Mul", [f"q{k}", "half"], "g"),
            ("Add", [f"g{k}", at], "r"),
        ]
        nodes += [o.node(op, reads, [f"{gives}{k}"], name=f"{place}/{op}_{gives}") for op, reads, gives in made]
        at = f"r{k}"
    nodes.append(o.node("Softmax", [at], ["y"], o.attribute_int("axis", 1), name="/end/Softmax"))
    weights = [o.tensor("w", [4, 4], struct.pack("<16f", *range(16))), o.tensor("b", [4], bytes(16))]
    return o.chain(nodes, initializers=weights + [small.number("root2", 2**0.5), small.number("one", 1), small.number("half", 0.5)])


class Pages(unittest.TestCase):
    """The pages of one model, written once."""

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.model = cls.folder / "encoder.onnx"
        cls.model.write_bytes(encoder(LAYERS))
        cls.inspected, cls.built = cls.folder / "inspected.html", cls.folder / "built.html"
        assert tenon("inspect", cls.model, "--html", cls.inspected).returncode == 0
        done = tenon("build", cls.model, "-o", cls.folder / "encoder.tenon", "--html", cls.built)
        assert done.returncode == 0, done.stderr


class Data(Pages):
    def test_says_what_the_model_is(self):
        (graph,) = data_of(self.inspected)["graphs"]
        nodes, values = graph["nodes"], graph["values"]
        self.assertEqual([n["op"] for n in nodes[:2]] + [n["op"] for n in nodes[-2:]], ["input", "Relu", "Softmax", "output"])
        self.assertEqual(len(nodes), 2 + 2 + 8 * LAYERS)
        self.assertEqual(graph["folds"], [{"first": 2, "period": 8, "count": LAYERS}])
        product = nodes[2]
        self.assertEqual((product["name"], product["module"]), ("/encoder/layer.0/MatMul_m", "encoder/layer.0"))
        self.assertEqual([values[v]["type"] for v in product["in"] + product["out"]], ["f32[n,4]", "f32[4,4]", "f32[n,4]"])
        self.assertEqual(values[product["in"][1]]["constant"], "")
        self.assertEqual([values[v].get("constant") for v in nodes[6]["in"]], [None, "1"])
        self.assertEqual(nodes[-2]["attributes"], ["axis=1"])

    def test_needs_nothing_next_to_it(self):
        for page in (self.inspected, self.built):
            self.assertIsNone(re.search(r"https?:|\ssrc=|\shref=|@import|url\(", page.read_text(encoding="utf-8")))

    def test_names_cannot_leave_their_place(self):
        model, page, name = self.folder / "hostile.onnx", self.folder / "hostile.html", '</script><script>fail()//<!--"\\'
        model.write_bytes(o.chain([o.node("Relu", ["x"], ["y"], name=name)]))
        self.assertEqual(tenon("inspect", model, "--html", page).returncode, 0)
        self.assertEqual(data_of(page)["graphs"][0]["nodes"][1]["name"], name)
        self.assertEqual(page.read_text(encoding="utf-8").count("<script"), 2)

    def test_bodies_are_graphs_of_their_own(self):
        body = o.graph([o.node("Relu", ["x"], ["inside"])], [], [o.value_info("inside", ["n", 4])])
        bodies = [o.attribute_graph("then_branch", body), o.attribute_graph("else_branch", body)]
        nodes = [o.node("If", ["c"], ["y"], *bodies)]
        inputs = [o.value_info("x", ["n", 4]), o.value_info("c", [], 9)]
        model, page = self.folder / "branch.onnx", self.folder / "branch.html"
        model.write_bytes(o.model(o.graph(nodes, inputs, [o.value_info("y", ["n", 4])])))
        done = tenon("inspect", model, "--html", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        graphs = data_of(page)["graphs"]
        (branch,) = [n for n in graphs[0]["nodes"] if n["op"] == "If"]
        self.assertEqual([graphs[g]["inside"] for g in branch["bodies"]], [0, 0])
        self.assertEqual({graphs[g]["name"] for g in branch["bodies"]}, {"If then_branch", "If else_branch"})

    def test_a_build_says_groups_kernels_rules_and_sources(self):
        before, after = data_of(self.built)["graphs"]
        self.assertEqual((before["after"], after["before"]), (1, 0))
        names = {n["name"] for n in before["nodes"]}
        made = [n for n in after["nodes"] if "rule" in n]
        self.assertTrue(made)
        for node in made:
            self.assertTrue(node["from"] and set(node["from"]) <= names, node)
        gelu = next(n for n in made if n["op"] == "Gelu")
        self.assertRegex(gelu["module"], r"^encoder/layer\.\d$")
        for node in after["nodes"]:
            for g in node.get("groups", []):
                self.assertRegex(after["groups"][g]["steps"][0]["runs"], r"^kernel \d+$")
        self.assertTrue(all("groups" in n for n in after["nodes"] if n["op"] in ("MatMul", "Gelu", "Softmax")))

    def test_a_measurement_says_times(self):
        page = self.folder / "measured.html"
        done = tenon("bench", self.model, "--runs", "1", "--seconds", "0.1", "--html", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = [step for group in data_of(page)["graphs"][1]["groups"] for step in group["steps"]]
        self.assertTrue(steps and all(step["ms"] > 0 for step in steps), steps)


@unittest.skipUnless(chromium.find(), "needs Chromium")
class InChromium(Pages):
    def open(self, page: Path) -> chromium.Chromium:
        return self.enterContext(chromium.Chromium(page))

    def test_opens_without_complaint_and_fits(self):
        for page in (self.inspected, self.built):
            browser = self.open(page)
            self.assertEqual(browser.complaints, [])
            colours = browser.evaluate("new Set(new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size")
            self.assertGreater(colours, 20)
            left, top, right, bottom = browser.evaluate(
                "[camera.x, camera.y, camera.x + scene.picture.width * camera.scale - canvas.clientWidth,"
                " camera.y + scene.picture.height * camera.scale - canvas.clientHeight]"
            )
            self.assertTrue(left >= 0 and top >= 0 and right <= 0 and bottom <= 0, (left, top, right, bottom))

    def place_of(self, browser: chromium.Chromium, box: str) -> tuple[float, float]:
        at = f"(b => [b.x * camera.scale + camera.x, b.y * camera.scale + camera.y + canvas.getBoundingClientRect().y])({box})"
        return tuple(browser.evaluate(at))

    def test_layers_open_and_close(self):
        page = self.folder / "many.html"
        model = self.folder / "many.onnx"
        model.write_bytes(encoder(12))
        self.assertEqual(tenon("inspect", model, "--html", page).returncode, 0)
        browser = self.open(page)
        self.assertEqual(browser.evaluate("scene.boxes.length"), 4 + 12)
        browser.click(*self.place_of(browser, "scene.boxes.find(b => b.title === 'encoder/layer.3')"))
        self.assertEqual(browser.evaluate("scene.boxes.length"), 4 + 11 + 8)
        browser.click(*self.place_of(browser, "(f => ({x: f.x + 20, y: f.y + 8}))(scene.frames[0])"))
        self.assertEqual(browser.evaluate("scene.boxes.length"), 4 + 12)
        browser.press("u")
        self.assertEqual(browser.evaluate("scene.boxes.length"), 4 + 12 * 8)
        browser.press("c")
        self.assertEqual(browser.evaluate("scene.boxes.length"), 4 + 12)
        self.assertEqual(browser.complaints, [])

    def test_a_click_shows_the_node(self):
        browser = self.open(self.inspected)
        browser.click(*self.place_of(browser, "scene.boxes.at(-2)"))
        report = browser.evaluate("document.getElementById('panel').innerText")
        for text in ("Softmax", "/end/Softmax", "axis=1", "f32[n,4]"):
            self.assertIn(text, report)
        browser.press("Escape")
        self.assertTrue(browser.evaluate("document.getElementById('panel').hidden"))

    def test_moves_and_zooms(self):
        browser = self.open(self.inspected)
        scale, x, y = browser.evaluate("[camera.scale, camera.x, camera.y]")
        browser.wheel(500, 500, -300)
        self.assertGreater(browser.evaluate("camera.scale"), scale * 1.2)
        browser.press("f")
        self.assertEqual(browser.evaluate("[camera.scale, camera.x, camera.y]"), [scale, x, y])
        browser.drag(300, 300, 60, 40)
        self.assertEqual(browser.evaluate("[camera.scale, camera.x, camera.y]"), [scale, x + 60, y + 40])
        browser.press("ArrowLeft")
        self.assertEqual(browser.evaluate("camera.x"), x + 140)
        browser.press("+")
        self.assertGreater(browser.evaluate("camera.scale"), scale)

    def test_finds_a_node_that_is_folded(self):
        page, model = self.folder / "found.html", self.folder / "found.onnx"
        model.write_bytes(encoder(12))
        self.assertEqual(tenon("inspect", model, "--html", page).returncode, 0)
        browser = self.open(page)
        browser.press("/")
        browser.type("layer.7/erf")
        browser.press("Enter")
        self.assertIn("/encoder/layer.7/Erf_e", browser.evaluate("document.getElementById('panel').innerText"))
        x, y = self.place_of(browser, "scene.boxes[scene.boxOf[scene.graph.selected]]")
        self.assertTrue(0 < x < 1400 and 0 < y < 900)

    def test_before_and_after_point_at_each_other(self):
        browser = self.open(self.built)
        browser.evaluate("go(1, scene && data.graphs[1].nodes.findIndex(n => n.op === 'Gelu'))")
        source = browser.evaluate("data.graphs[1].nodes[data.graphs[1].selected].from[0]")
        browser.evaluate(f"[...document.querySelectorAll('#panel .link')].find(b => b.textContent === {json.dumps(source)}).click()")
        self.assertEqual(browser.evaluate("[at, data.graphs[0].nodes[data.graphs[0].selected].name]"), [0, source])
        browser.evaluate("[...document.querySelectorAll('#panel .link')].find(b => b.textContent === 'Gelu').click()")
        self.assertEqual(browser.evaluate("at"), 1)
        self.assertEqual(browser.complaints, [])

    def test_five_thousand_nodes(self):
        page, model = self.folder / "large.html", self.folder / "large.onnx"
        model.write_bytes(encoder(625))
        self.assertEqual(tenon("inspect", model, "--html", page).returncode, 0)
        browser = self.open(page)
        self.assertLess(browser.evaluate("scene.boxes.length"), 10)
        browser.press("u")
        self.assertEqual(browser.evaluate("scene.boxes.length"), 4 + 625 * 8)
        took = browser.evaluate("(() => { const start = performance.now(); build(); return performance.now() - start; })()")
        self.assertLess(took, 15_000)
        self.assertEqual(browser.complaints, [])


if __name__ == "__main__":
    unittest.main()
