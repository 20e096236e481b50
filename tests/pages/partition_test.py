# SPDX-License-Identifier: Apache-2.0
"""The page of `tenon partition --html`: it shows what `--json` says; where Chromium is at hand it opens without complaint and its parts do
what they say."""

import re
import sys
import tempfile
import unittest
from pathlib import Path

import chromium

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from small_models import data_of, o, report, tenon  # noqa: E402

TWO = ["--backend", "cpu,reference", "--opt", "0", "--dry-run"]


def chain(ops: list[str]) -> bytes:
    """Nodes /part/OP_K, one after the other; an Add reads the first as well."""
    nodes, at = [], "x"
    for k, op in enumerate(ops):
        reads = [at, "v0"] if op == "Add" else [at]
        nodes.append(o.node(op, reads, [f"v{k}"], name=f"/part/{op}_{k}"))
        at = f"v{k}"
    return o.model(o.graph(nodes, [o.value_info("x", [4, 4])], [o.value_info(at, [4, 4])]))


class Pages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def page(self, model: bytes, *options: str) -> tuple[Path, dict]:
        file, page = self.folder / f"{self.id()}.onnx", self.folder / f"{self.id()}.html"
        file.write_bytes(model)
        return page, report("partition", file, *TWO, *options, "--html", page)


class Data(Pages):
    def test_is_the_answer(self):
        page, answer = self.page(chain(["Relu", "Neg", "Exp", "Add"]), "--fallback-ops", "Neg")
        self.assertEqual(data_of(page), {"backends": ["cpu", "reference"], "partition": answer})
        self.assertEqual(len(answer["segments"]), 3)

    def test_is_there_for_a_build_too(self):
        page = self.folder / "built.html"
        (self.folder / "built.onnx").write_bytes(chain(["Relu", "Neg"]))
        answer = report("partition", self.folder / "built.onnx", "--backend", "cpu,reference", "--html", page)
        self.assertGreater(data_of(page)["partition"]["peak_bytes"], 0)
        self.assertEqual(data_of(page)["partition"], answer)

    def test_needs_nothing_next_to_it(self):
        text = self.page(chain(["Relu", "Neg"]))[0].read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        self.assertIsNone(re.search(r"https?:|\ssrc=|\shref=|@import|url\(", text))

    def test_names_cannot_leave_their_place(self):
        name = '</script><script>fail()//<!--"\\'
        model = o.chain([o.node("Relu", ["x"], ["</title>"], name=name), o.node("Neg", ["</title>"], ["y"])])
        page, _ = self.page(model, "--fallback-ops", "Neg")
        shares = data_of(page)["partition"]
        self.assertEqual((shares["nodes"][0]["name"], shares["borders"][0]["value"]), (name, "</title>"))
        text = page.read_text(encoding="utf-8")
        self.assertEqual((text.count("<script"), text.count("</title>")), (2, 1))

    def test_a_mistake_leaves_no_page(self):
        file, page = self.folder / "mistake.onnx", self.folder / "mistake.html"
        file.write_bytes(chain(["Relu", "Neg"]))
        self.assertEqual(tenon("partition", file, *TWO, "--fallback-ops", "Nag", "--html", page).returncode, 2)
        self.assertFalse(page.exists())


@unittest.skipUnless(chromium.find(), "needs Chromium")
class InChromium(Pages):
    def open(self, page: Path) -> chromium.Chromium:
        return self.enterContext(chromium.Chromium(page))

    def report(self, browser: chromium.Chromium) -> str:
        return browser.evaluate("$('details').innerText")

    def click(self, browser: chromium.Chromium, selector: str) -> None:
        x, y = browser.evaluate(
            f"(r => [r.x + r.width / 2, r.y + r.height / 2])(document.querySelector({selector!r}).getBoundingClientRect())"
        )
        browser.click(x, y)

    def test_a_click_shows_the_segment(self):
        page, _ = self.page(chain(["Relu", "Neg", "Exp", "Add"]), "--fallback-ops", "Neg")
        browser = self.open(page)
        self.assertIn("fallback_op: fallback-ops Neg", self.report(browser))
        self.assertIn("borders removed", self.report(browser))
        self.assertEqual(browser.evaluate("document.querySelectorAll('.border').length"), 3)
        self.click(browser, ".segment[data-id='1'] rect")
        for text in ("Segment 1 on reference", "/part/Neg_1", "v0", "[4, 4]", "64 B"):
            self.assertIn(text, self.report(browser))
        self.assertEqual(browser.evaluate("document.querySelectorAll('.border.on').length"), 2)
        browser.press("ArrowDown")
        self.assertIn("Segment 2 on cpu", self.report(browser))
        browser.press("Escape")
        self.assertNotIn("Segment", self.report(browser))
        self.assertEqual(browser.complaints, [])

    def test_nodes_are_found(self):
        page, _ = self.page(chain(["Relu", "Neg", "Exp", "Add"]), "--fallback-ops", "Neg")
        browser = self.open(page)
        self.click(browser, "#tabs button:nth-child(2)")
        self.click(browser, "#filter")
        browser.type("neg_")
        self.assertIn("1 of 4", self.report(browser))
        self.assertIn("/part/Neg_1", self.report(browser))
        self.assertNotIn("Relu", self.report(browser))
        self.assertEqual(browser.complaints, [])

    def test_bodies_open(self):
        body = o.graph([o.node("Relu", ["x"], ["in"]), o.node("Exp", ["in"], ["inside"])], [], [o.value_info("inside", ["n", 4])])
        bodies = [o.attribute_graph("then_branch", body), o.attribute_graph("else_branch", body)]
        inputs = [o.value_info("x", ["n", 4]), o.value_info("c", [], 9)]
        page, _ = self.page(
            o.model(o.graph([o.node("If", ["c"], ["y"], *bodies)], inputs, [o.value_info("y", ["n", 4])])), "--fallback-ops", "Exp"
        )
        browser = self.open(page)
        self.click(browser, "#tabs button:nth-child(2)")
        self.click(browser, "#details td .link")
        self.assertEqual(browser.evaluate("document.querySelectorAll('.segment').length"), 2)
        self.assertIn("if_y, body 0", browser.evaluate("$('place').innerText"))
        self.click(browser, "#place .link")
        self.assertEqual(browser.evaluate("document.querySelectorAll('.segment').length"), 1)
        self.assertEqual(browser.complaints, [])

    def test_a_thousand_nodes_and_as_many_segments(self):
        page, answer = self.page(chain([("Neg", "Relu", "Exp", "Add")[k % 4] for k in range(1000)]), "--fallback-ops", "Neg,Exp")
        self.assertEqual(len(answer["segments"]), 1000)
        browser = self.open(page)
        self.assertEqual(browser.evaluate("document.querySelectorAll('.segment').length"), 1000)
        took = browser.evaluate("""(() => {
            const start = performance.now();
            open();
            tab = 'nodes';
            report();
            document.body.offsetHeight;
            return performance.now() - start;
        })()""")
        self.assertLess(took, 3000)
        self.assertEqual(browser.complaints, [])


if __name__ == "__main__":
    unittest.main()
