# SPDX-License-Identifier: Apache-2.0
"""`tenon rewrite`: what it writes, what it tells, what it refuses."""

import re
import tempfile
import unittest
from pathlib import Path

import small_models as small
from small_models import ops_of, report, tenon


class Rewrite(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.model, self.out = self.folder / "m.onnx", self.folder / "out.onnx"
        self.model.write_bytes(small.rewritable())

    def rewrite(self, *options: object) -> dict:
        return report("rewrite", self.model, "--rules", "tenon", *options)

    def fails(self, code: int, *arguments: object) -> dict:
        done = tenon("rewrite", *arguments, "--json")
        self.assertEqual(done.returncode, code, done.stdout)
        self.assertFalse(self.out.exists())
        return small.json.loads(done.stdout)["error"]

    def test_writes_a_smaller_model_that_computes_the_same(self):
        said = self.rewrite("-o", self.out)
        self.assertEqual((said["nodes_before"], said["nodes_after"]), (15, 3))
        self.assertEqual(ops_of(self.out), {"Gelu": 2, "Relu": 1})
        x, before, after = (self.folder / f"{name}.npz" for name in ("x", "before", "after"))
        small.save_inputs(x, self.model)
        for model, output in ((self.model, before), (self.out, after)):
            self.assertEqual(tenon("run", model, "--input", x, "--output", output).returncode, 0)
        self.assertTrue(small.close(before, after))

    def test_json_has_the_shape_that_scripts_read(self):
        said = self.rewrite("-o", self.out)
        self.assertLessEqual({"nodes_before", "nodes_after", "rewrite_ms", "rules", "rewrites", "passes", "opset", "output"}, said.keys())
        rules = {r["name"]: r for r in said["rules"]}
        self.assertEqual(len(rules), len(said["rules"]))
        gelu = rules["gelu_erf"]
        self.assertLessEqual({"name", "set", "matches", "applied", "added", "removed", "refused", "ms"}, gelu.keys())
        self.assertEqual((gelu["matches"], gelu["applied"], gelu["added"]), (2, 2, 2))
        self.assertIn("tenon", gelu["set"])
        self.assertEqual(sum(r["applied"] for r in said["rules"]), said["rewrites"])
        self.assertGreater(said["rewrite_ms"], 0)
        self.assertLessEqual(said["rewrite_ms"], said["passes_ms"])

    def test_a_refusal_says_how_often_and_why(self):
        body = small.gelu("x", "y")
        outputs = [small.o.value_info("y", None), small.o.value_info("y_e", None)]
        constants = [small.number("root2", 2**0.5), small.number("one", 1.0), small.number("half", 0.5)]
        self.model.write_bytes(small.o.model(small.o.graph(body, [small.o.value_info("x", ["n", 4])], outputs, constants), opset=20))
        gelu = next(r for r in self.rewrite()["rules"] if r["name"] == "gelu_erf")
        self.assertEqual(gelu["applied"], 0)
        self.assertEqual(set(gelu["refused"]), {"a value inside the match is a graph output"})
        self.assertGreater(min(gelu["refused"].values()), 0)
        self.assertIn("a value inside the match is a graph output", tenon("rewrite", self.model, "--rules", "tenon", "--stats").stdout)

    def test_stats_show_rules_and_passes(self):
        text = tenon("rewrite", self.model, "--rules", "tenon", "--stats").stdout
        self.assertRegex(text, r"rule +matches +applied +added +removed +ms +refused\n")
        self.assertRegex(text, r"gelu_erf +2 +2 +2 +\d+ +\d+\.\d\d")
        self.assertRegex(text, r"pass +before +after +ms\n")

    def test_without_an_output_nothing_is_written(self):
        before = sorted(self.folder.iterdir())
        done = tenon("rewrite", self.model, "--rules", "tenon")
        self.assertEqual(done.returncode, 0)
        self.assertIn("15 nodes -> 3", done.stdout)
        self.assertIn("nothing is written", done.stdout)
        self.assertEqual(sorted(self.folder.iterdir()), before)

    def test_stop_after_0_changes_no_node(self):
        said = self.rewrite("-o", self.out, "--stop-after", 0, "--only")
        self.assertEqual((said["rewrites"], said["nodes_after"]), (0, 15))
        self.assertEqual(ops_of(self.out), ops_of(self.model))

    def test_stop_after_k_does_the_first_k(self):
        most = self.rewrite()["rewrites"]
        self.assertGreaterEqual(most, 4)
        sizes = [self.rewrite("--stop-after", k)["nodes_after"] for k in range(most + 1)]
        self.assertEqual([self.rewrite("--stop-after", k)["rewrites"] for k in range(most + 2)], [*range(most + 1), most])
        self.assertEqual(sizes[-1], 3)
        self.assertRegex(
            tenon("rewrite", self.model, "--rules", "tenon", "--stop-after", 1).stdout, r"stopped after rewrite 1: \w+ at \S+ \(\w+\)"
        )

    def test_a_kept_node_stays(self):
        said = self.rewrite("-o", self.out, "--keep", "erf_c_e")
        self.assertEqual(ops_of(self.out)["Erf"], 1)
        gelu = next(r for r in said["rules"] if r["name"] == "gelu_erf")
        self.assertEqual(gelu["applied"], 1)

    def test_numerics_bound_what_may_run(self):
        self.rewrite("-o", self.out, "--numerics", "exact")
        self.assertEqual(ops_of(self.out)["Erf"], 2)

    def test_only_leaves_constants_alone(self):
        o = small.o
        body = [o.node("Add", ["one", "half"], ["k"]), o.node("Mul", ["x", "k"], ["y"])]
        self.model.write_bytes(o.chain(body, initializers=[small.number("one", 1.0), small.number("half", 0.5)]))
        self.assertEqual(self.rewrite()["nodes_after"], 1)
        self.assertEqual(self.rewrite("--only")["nodes_after"], 2)

    def test_sweeping_comes_to_the_same_end(self):
        self.assertEqual(self.rewrite("--order", "sweep")["nodes_after"], 3)

    def test_several_sets_are_joined_and_taken_away_from(self):
        both = report("rewrite", self.model, "--rules", "fuse/activation", "--rules", "clean/transpose")
        self.assertEqual(both["nodes_after"], report("rewrite", self.model, "--rules", "fuse/activation+clean/transpose")["nodes_after"])
        names = [{r["name"] for r in report("rewrite", self.model, "--rules", e)["rules"]} for e in ("fuse/activation", "clean/transpose")]
        self.assertEqual({r["name"] for r in both["rules"]}, names[0] | names[1])
        for less in (
            ["--rules", "fuse/activation+clean/transpose-gelu_erf"],
            ["--rules", "fuse/activation+clean/transpose", "--rules=-gelu_erf"],
        ):
            self.assertEqual({r["name"] for r in report("rewrite", self.model, *less)["rules"]}, (names[0] | names[1]) - {"gelu_erf"})

    def test_an_opset_may_be_requested(self):
        self.assertEqual(self.rewrite("-o", self.out, "--opset", 17)["opset"], 17)
        self.assertNotIn("error", report("inspect", self.out))

    def test_weights_may_be_external(self):
        o = small.o
        self.model.write_bytes(o.chain([o.node("MatMul", ["x", "w"], ["y"])], initializers=[o.tensor("w", [4, 512], bytes(8192))]))
        self.rewrite("-o", self.out, "--external-weights")
        self.assertGreaterEqual((self.folder / "out.onnx.data").stat().st_size, 8192)

    def test_the_model_is_not_written_over(self):
        before = self.model.read_bytes()
        self.fails(2, self.model, "-o", self.model)
        self.assertEqual(self.model.read_bytes(), before)

    def test_bad_usage_is_reported_before_anything_is_done(self):
        for options in (["--order", "random"], ["--numerics", "wrong"], ["--stop-after", "-1"], ["--nonsense"], ["--keep", "no_such_node"]):
            with self.subTest(options):
                self.fails(2, self.model, "-o", self.out, "--rules", "tenon", *options)
        self.assertEqual(self.fails(2, self.model, "-o", self.out, "--rules", "tenno")["advice"], "did you mean 'tenon'?")
        self.assertEqual(self.fails(2, self.model, "-o", self.out, "--rules", "tenon-gelu_er")["advice"], "did you mean 'gelu_erf'?")

    def test_missing_and_broken_files_are_named(self):
        self.assertEqual(self.fails(1, self.folder / "none.onnx", "-o", self.out, "--rules", "tenon")["name"], "file_missing")
        self.assertEqual(self.fails(1, self.model, "-o", self.out, "--rules", self.folder / "none.rules")["name"], "file_missing")
        self.model.write_bytes(b"no protobuf")
        self.assertEqual(self.fails(1, self.model, "-o", self.out, "--rules", "tenon")["name"], "bad_file")


class Dump(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.model, self.dump = self.folder / "m.onnx", self.folder / "dump"
        self.model.write_bytes(small.rewritable())

    def rewrite(self, *options: object) -> dict:
        return report("rewrite", self.model, "--rules", "tenon", "--dump", self.dump, *options)

    def names(self) -> list[str]:
        return sorted(p.name for p in self.dump.iterdir())

    def test_has_both_sides_of_every_rewrite(self):
        said = self.rewrite()
        names = self.names()
        self.assertEqual(len(names), 2 * said["rewrites"] + 1)
        gelu = next(n for n in names if n.endswith("gelu_erf.before.onnx"))
        self.assertEqual(ops_of(self.dump / gelu)["Erf"], 1)
        self.assertEqual(ops_of(self.dump / gelu.replace("before", "after")), {"Gelu": 1})

    def test_both_sides_compute_the_same_from_the_same_inputs(self):
        said = self.rewrite()
        for number in range(1, said["rewrites"] + 1):
            before, after = (next(self.dump.glob(f"{number:03}-*.{side}.onnx")) for side in ("before", "after"))
            reported_before, reported_after = report("inspect", before), report("inspect", after)
            with self.subTest(before.name):
                inputs = {p["name"] for p in reported_before["inputs"]}
                self.assertLessEqual({p["name"] for p in reported_after["inputs"]}, inputs)
                self.assertEqual([p["name"] for p in reported_before["outputs"]], [p["name"] for p in reported_after["outputs"]])
                y, z = (self.computed(model) for model in (before, after))
                self.assertTrue(small.close(y, z))

    def computed(self, model: Path) -> Path:
        given, results = self.folder / "given.npz", self.folder / f"{model.name}.npz"
        small.save_inputs(given, model)
        done = tenon("run", model, "--input", given, "--output", results)
        self.assertEqual(done.returncode, 0, done.stderr)
        return results

    def test_the_page_is_self_contained(self):
        said = self.rewrite()
        page = (self.dump / "index.html").read_text()
        self.assertEqual(page.count("<section "), said["rewrites"])
        self.assertEqual(page.count("<svg "), 2 * said["rewrites"])
        self.assertIn("gelu_erf", page)
        self.assertIn("prefers-color-scheme: dark", page)
        for link in re.findall(r'(?:href|src)="([^"#]+)"', page):
            self.assertTrue((self.dump / link).exists(), link)

    def test_a_page_without_rewrites_says_so(self):
        self.rewrite("--stop-after", 0)
        self.assertEqual(self.names(), ["index.html"])
        self.assertIn("No rewrite was done", (self.dump / "index.html").read_text())

    def test_an_earlier_dump_is_replaced_and_nothing_else(self):
        self.rewrite()
        self.rewrite("--stop-after", 1)
        self.assertEqual(len(self.names()), 3)
        (self.dump / "letter.txt").write_text("mine")
        done = tenon("rewrite", self.model, "--rules", "tenon", "--dump", self.dump)
        self.assertEqual(done.returncode, 2)
        self.assertIn("letter.txt", done.stderr)
        self.assertEqual(len(self.names()), 4)

    def test_names_from_a_file_are_only_text_on_the_page(self):
        o, evil = small.o, "<script>alert(1)</script>\"\\n'&"
        perm = o.attribute_ints("perm", [1, 0])
        body = [o.node("Transpose", ["x"], [evil], perm, name=evil), o.node("Transpose", [evil], ["y"], perm)]
        self.model.write_bytes(o.chain(body))
        self.assertGreater(self.rewrite()["rewrites"], 0)
        page = (self.dump / "index.html").read_text()
        self.assertNotIn("<script>alert", page)
        self.assertIn("&lt;script&gt;alert", page)

    def test_without_graphviz_the_page_has_text(self):
        done = tenon("rewrite", self.model, "--rules", "tenon", "--dump", self.dump, env={"PATH": str(self.folder)})
        self.assertEqual(done.returncode, 0)
        self.assertIn("text instead of pictures", done.stderr)
        self.assertIn("<pre>graph", (self.dump / "index.html").read_text())


if __name__ == "__main__":
    unittest.main()
