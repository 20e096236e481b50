# SPDX-License-Identifier: Apache-2.0
"""Inner graphs of plugins: compiled with the model, kept in the engine, run by `enqueue`."""

import json
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import numpy as np  # noqa: E402
import plugin_runs  # noqa: E402
import small_models  # noqa: E402
from plugin_runs import attribute_text, library  # noqa: E402
from small_models import ROOT, o  # noqa: E402

HERE = Path(__file__).resolve().parent


def graph(*lines: str, ports: str = "x: f32[n,3]", results: str = "y") -> str:
    return f"graph inner({ports}) {{\n" + "".join(f"  {line}\n" for line in lines) + f"  return {results}\n}}\n"


@unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
class Graphs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.gemm = library(cls.folder, ROOT / "examples" / "plugins" / "gemm.c")
        cls.graphs = library(cls.folder, HERE / "fixtures" / "graphs.c")

    def report(self, *arguments: object) -> dict:
        return plugin_runs.report(*arguments, *self.more(arguments))

    def error(self, *arguments: object, status: int = 1) -> dict:
        return plugin_runs.error(*arguments, *self.more(arguments), status=status)

    def more(self, arguments: tuple) -> list[str]:
        """Options of runs."""
        return []

    def model(self, name: str, nodes: list[bytes], inputs: list[bytes], outputs: list[bytes]) -> Path:
        path = self.folder / f"{name}.onnx"
        domains = b"".join(o.message(8, o.text(1, d), o.number(2, 1)) for d in ("test", "acme", "fixture"))
        path.write_bytes(o.model(o.graph(nodes, inputs, outputs)) + domains)
        return path

    def product(self, m: object, k: object, n: object) -> Path:
        node = o.node("Gemm", ["a", "b"], ["y"], domain="acme", name="it")
        ends = [o.value_info("a", [m, k]), o.value_info("b", [k, n])], [o.value_info("y", [m, n])]
        return self.model(f"product_{m}_{k}_{n}", [node], *ends)

    def one(self, name: str, *texts: str, op: str = "Bare", fault: str = "", sizes: tuple = ("n", 3)) -> Path:
        given = [attribute_text(k, t) for k, t in zip(("text", "more"), texts)] + ([attribute_text("fault", fault)] if fault else [])
        node = o.node(op, ["x"], ["y"], *given, domain="test", name="it")
        return self.model(name, [node], [o.value_info("x", sizes)], [o.value_info("y", sizes)])

    def built(self, model: Path, plugin: Path, *options: object) -> Path:
        engine = model.with_suffix(".tenon")
        self.report("build", model, "-o", engine, "--plugin", plugin, *options)
        return engine

    def results(self, engine: Path, *options: object) -> dict:
        """On inputs that are drawn."""
        out = self.folder / "results.npz"
        self.report("run", engine, "--output", out, *options)
        with np.load(out) as arrays:
            return dict(arrays)

    def first(self, engine: Path, plugin: Path, *options: object) -> np.ndarray:
        return next(iter(self.results(engine, "--plugin", plugin, *options).values()))

    def assert_same(self, found: np.ndarray, want: np.ndarray):
        self.assertEqual(found.shape, want.shape)
        self.assertEqual(found.tobytes(), want.tobytes())

    def test_a_product_of_any_sizes(self):
        model = self.product("m", "k", "n")
        for sizes in ((1, 1, 1), (5, 64, 7), (128, 33, 70), (0, 3, 4), (3, 0, 4)):
            m, k, n = sizes
            shapes = ["--shape", f"a={m}x{k}", "--shape", f"b={k}x{n}"]
            self.assertEqual(self.report("compare", model, "--plugin", self.gemm, *shapes)["verdict"], "good", sizes)

    def test_of_fixed_sizes_from_a_file(self):
        engine = self.built(self.product(16, 64, 48), self.gemm)
        self.assertEqual(self.first(engine, self.gemm).shape, (16, 48))
        kept = self.report("inspect", engine)
        self.assertEqual([(p["name"], p["graphs"]) for p in kept["plugins"]], [("Gemm", 1)])
        plain = self.folder / "matmul.onnx"
        ends = [o.value_info("a", [16, 64]), o.value_info("b", [64, 48])], [o.value_info("y", [16, 48])]
        plain.write_bytes(o.model(o.graph([o.node("MatMul", ["a", "b"], ["y"])], *ends)))
        self.report("build", plain, "-o", plain.with_suffix(".tenon"))
        self.assertEqual(kept["kernels"], self.report("inspect", plain.with_suffix(".tenon"))["kernels"], "the same code as MatMul")

    def test_a_constant_factor_is_laid_out_as_that_of_a_product_of_the_models(self):
        weights = o.tensor("b", [64, 48], np.linspace(-1, 1, 64 * 48, dtype=np.float32).tobytes())
        ends = [o.value_info("a", ["m", 64])], [o.value_info("y", ["m", 48])]
        engines = {}
        for op, domain in (("MatMul", ""), ("Gemm", "acme")):
            path = self.folder / f"weights_{op}.onnx"
            graph_of = o.graph([o.node(op, ["a", "b"], ["y"], domain=domain, name=op)], *ends, initializers=[weights])
            path.write_bytes(o.model(graph_of) + o.message(8, o.text(1, "acme"), o.number(2, 1)))
            engines[op] = self.built(path, self.gemm)
        kept = {op: self.report("inspect", engine) for op, engine in engines.items()}
        self.assertEqual(kept["Gemm"]["kernels"], kept["MatMul"]["kernels"], "the same code as MatMul")
        for m in (1, 5, 64):
            shape = ["--shape", f"a={m}x64"]
            self.assert_same(self.first(engines["Gemm"], self.gemm, *shape), self.first(engines["MatMul"], self.gemm, *shape))
        model = engines["Gemm"].with_suffix(".onnx")
        self.assertEqual(self.report("compare", model, "--plugin", self.gemm, "--shape", "a=5x64")["verdict"], "good")
        portable = self.built(model, self.gemm, "--portable")
        self.assertEqual(self.first(portable, self.gemm, "--shape", "a=5x64").shape, (5, 48))

    def test_as_the_same_ops_in_the_model(self):
        chain = graph("a = Exp(x)", "s = Sigmoid(a)", "y = Mul(x, s)")
        model, plain = self.one("chain", chain), self.folder / "plain.onnx"
        nodes = [o.node("Exp", ["x"], ["a"]), o.node("Sigmoid", ["a"], ["s"]), o.node("Mul", ["x", "s"], ["y"])]
        plain.write_bytes(o.model(o.graph(nodes, [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])])))
        engine = self.built(model, self.graphs)
        self.report("build", plain, "-o", plain.with_suffix(".tenon"))
        for rows in (1, 4, 0, 2000):
            shape = ["--shape", f"x={rows}x3"]
            found = self.first(engine, self.graphs, *shape)
            self.assert_same(found, self.results(plain.with_suffix(".tenon"), *shape)["y"])

    def test_two_graphs_of_a_node_and_equal_ones_of_several_nodes(self):
        neg, exp = graph("y = Neg(x)"), graph("y = Exp(x)")
        both, one = [attribute_text("text", neg), attribute_text("more", exp)], [attribute_text("text", exp)]
        nodes = [
            o.node("Bare", ["x"], ["b"], *both, domain="test", name="both"),
            o.node("Bare", ["b"], ["c"], *one, domain="test", name="one"),
        ]
        nodes.append(o.node("Neg", ["c"], ["y"]))
        model = self.model("several", nodes, [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])])
        engine = self.built(model, self.graphs)
        kept = self.report("inspect", engine)
        self.assertEqual([p["graphs"] for p in kept["plugins"]], [2, 1])
        self.assertEqual(sorted(k["computes"] for k in kept["kernels"]), ["Exp", "Neg"])
        self.assertEqual([s["step"] for s in kept["steps"]], ["0", "1", "2", "inner graph 0: 0", "inner graph 1: 0"])
        plain = self.folder / "several_plain.onnx"
        names = ["x", "a", "b", "c", "y"]
        ops = [o.node(op, [names[k]], [names[k + 1]]) for k, op in enumerate(("Neg", "Exp", "Exp", "Neg"))]
        plain.write_bytes(o.model(o.graph(ops, [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])])))
        shape = ["--shape", "x=5x3"]
        self.assert_same(self.first(engine, self.graphs, *shape), self.results(plain, *shape)["y"])
        self.assertEqual(self.report("compare", model, "--plugin", self.graphs, *shape)["verdict"], "good")

    def test_with_constants_sizes_of_data_and_several_results(self):
        weights = graph("const w: f32[3,3] = [1, 2, 3, 4, 5, 6, 7, 8, 9]", "y = MatMul(x, w)")
        late = graph("y = Compress(x, c, axis=0)", ports="x: f32[n,3], c: bool[n]")
        self.assertEqual(
            self.report("compare", self.one("weights", weights), "--plugin", self.graphs, "--shape", "x=7x3")["verdict"], "good"
        )
        node = o.node("Bare", ["x", "c"], ["y"], attribute_text("text", late), domain="test", name="it")
        ends = [o.value_info("x", [2, 3]), o.value_info("c", [2], 9)], [o.value_info("y", [2, 3])]
        engine = self.built(self.model("late", [node], *ends), self.graphs)
        self.assertEqual(self.first(engine, self.graphs, "--input", f"c={self.bools('all', True, True)}").shape, (2, 3))
        found = self.error("run", engine, "--plugin", self.graphs, "--input", f"c={self.bools('one', True, False)}")
        self.assertEqual((found["expected"], found["found"]), ("f32[1,3]", "f32[2,3]"))
        pair = graph("a = Neg(x)", "b = Exp(x)", results="a, b")
        node = o.node("Bare", ["x"], ["p", "q"], attribute_text("text", pair), domain="test", name="it")
        model = self.model("pair", [node], [o.value_info("x", ["n", 3])], [o.value_info("p", ["n", 3]), o.value_info("q", ["n", 3])])
        self.assertEqual(self.report("compare", model, "--plugin", self.graphs, "--shape", "x=4x3")["verdict"], "good")

    def bools(self, name: str, *values: bool) -> Path:
        path = self.folder / f"{name}.npy"
        np.save(path, np.array(values))
        return path

    def test_that_give_an_operand_as_it_is(self):
        for name, text in (("same", graph("y = Identity(x)")), ("itself", graph(results="x"))):
            model = self.one(name, text)
            self.assertEqual(self.report("compare", model, "--plugin", self.graphs, "--shape", "x=4x3")["verdict"], "good", name)

    def test_in_bodies_after_bounds_and_in_portable_engines(self):
        model = self.one("places", graph("y = Exp(x)"))
        want = self.first(self.built(model, self.graphs), self.graphs, "--shape", "x=6x3")
        for options in (["--portable"], ["--opt", "0"], ["--shape", "x=1x3:2x3:4x3"], ["--backend", "reference"]):
            with self.subTest(options):
                found = self.first(self.built(model, self.graphs, *options), self.graphs, "--shape", "x=6x3")
                np.testing.assert_allclose(found, want, rtol=1e-6)

    def test_with_nodes_of_plugins_in_them(self):
        model = self.one("nested", op="Nested")
        self.assertEqual(self.report("compare", model, "--plugin", self.graphs, "--shape", "x=4x3")["verdict"], "good")
        engine = self.built(model, self.graphs)
        self.assertEqual(len(self.report("inspect", engine)["plugins"]), 2)
        self.first(engine, self.graphs, "--shape", "x=9x3")

    def test_with_nodes_of_another_library_in_them(self):
        text = graph("const w: f32[3,3] = [1, 2, 3, 4, 5, 6, 7, 8, 9]", "a = acme::Gemm(x, w)", "y = acme::Gemm(a, w)")
        model, plugins = self.one("other", text), ["--plugin", self.graphs, "--plugin", self.gemm]
        engine = model.with_suffix(".tenon")
        self.report("build", model, "-o", engine, *plugins)
        x = np.arange(12, dtype=np.float32).reshape(4, 3)
        np.save(self.folder / "x.npy", x)
        w = np.arange(1, 10, dtype=np.float32).reshape(3, 3)
        for options in ([], ["--check-memory"], ["--threads", 1]):
            found = self.results(engine, *plugins, "--input", f"x={self.folder / 'x.npy'}", *options)["y"]
            np.testing.assert_array_equal(found, x @ w @ w)

    def test_what_is_wrong_with_a_graph_is_an_error_of_the_build(self):
        cases = {
            "no text": ("hello", "bad_graph", ""),
            "unknown op": (graph("y = Frobnicate(x)"), "bad_graph", "Frobnicate"),
            "no such value": (graph("y = Neg(z)"), "bad_graph", ""),
            "types": (graph("y = MatMul(x, x)", ports="x: f32[2,3]"), "shape_mismatch", ""),
            "wrong attribute": (graph("y = Exp(x, foo=1)"), "bad_attribute", ""),
        }
        for name, (text, code, part) in cases.items():
            with self.subTest(name):
                found = self.error("build", self.one("wrong", text), "-o", self.folder / "wrong.tenon", "--plugin", self.graphs)
                self.assertEqual(found["name"], code)
                for words in ("node 'it'", "plugin 'test::Bare' of graphs.so", "inner graph 0"):
                    self.assertIn(words, found["place"])
                self.assertTrue(found["expected"] or found["found"], found)
                self.assertIn(part, found["what"] + found["found"])
        self.assertFalse((self.folder / "wrong.tenon").exists())

    def test_a_graph_that_runs_itself(self):
        model = self.one("itself", op="Itself")
        found = self.error("build", model, "-o", self.folder / "itself.tenon", "--plugin", self.graphs)
        self.assertIn("the graph runs itself", found["what"])
        self.assertIn("plugin 'test::Itself' of graphs.so", found["place"])
        by_reference = self.error("run", model, "--plugin", self.graphs, "--backend", "reference")
        self.assertIn("itself" if "itself" in by_reference["what"] else "too deep", by_reference["what"])

    def test_an_op_that_cannot_say_its_graphs(self):
        found = self.error("run", self.one("refused", op="Refused"), "--plugin", self.graphs)
        self.assertIn("add: there is no text", found["what"])
        self.assertIn("plugin 'test::Refused' of graphs.so", found["place"])

    def test_what_is_wrong_with_the_constants_of_a_graph(self):
        cases = {
            "Missing": ("bad_graph", "@1", "inner graph 0"),
            "Shape": ("bad_graph", "", "inner graph 0"),
            "Null": ("device_failed", "null pointer", "plugin 'test::Null' of graphs.so"),
            "Operand": ("device_failed", "no such operand", "plugin 'test::Operand' of graphs.so"),
        }
        for op, (code, part, place) in cases.items():
            with self.subTest(op):
                found = self.error("run", self.one(f"constants_{op}", op=op), "--plugin", self.graphs)
                self.assertEqual(found["name"], code)
                self.assertIn(part, " ".join(map(str, found.values())))
                self.assertIn(place, found["place"])

    def test_what_is_wrong_with_a_call_names_what_was_expected_and_found(self):
        text = graph("y = Neg(x)")
        cases = {
            "number": ("bad_input", "no such graph was added", "0 to 0", "7"),
            "missing": ("bad_input", "null pointer", "as many tensors", "null"),
            "dtype": ("bad_input", "wrong dtype", "f32[n,3]", "i32[4,3]"),
            "no dtype": ("bad_input", "no such dtype", "tenon_dtype", "99"),
            "rank": ("bad_input", "wrong rank", "f32[n,3]", "f32[4]"),
            "no rank": ("bad_input", "no such rank", "0 to 16", "99"),
            "sizes": ("bad_input", "dimension 1", "3", "[4,2]"),
            "strides": ("not_supported", "not supported yet", "no strides", "strides"),
            "result dtype": ("bad_input", "wrong dtype", "f32[n,3]", "f64[4,3]"),
            "result rank": ("bad_input", "wrong rank", "f32[n,3]", "f32[4]"),
            "no data": ("bad_input", "no elements", "data", "null"),
            "in place": ("bad_input", "memory is that of another", "memory of its own", "operand 0"),
            "small": ("bad_input", "wrong sizes", "f32[4,3]", "f32[3,3]"),
            "negative": ("bad_input", "no such sizes", "from 0", "[-1,3]"),
        }
        for fault, (code, what, expected, found) in cases.items():
            engine = self.built(self.one("fault", text, fault=fault), self.graphs)
            for subject in (engine, engine.with_suffix(".onnx")):
                with self.subTest(fault, subject=subject.suffix):
                    options = [] if subject == engine else ["--backend", "reference"]
                    status = 3 if code == "not_supported" else 1
                    json_out_of = self.error("run", subject, "--plugin", self.graphs, "--shape", "x=4x3", *options, status=status)
                    self.assertIn("node 'it'", json_out_of["place"])
                    self.assertIn("plugin 'test::Bare' of graphs.so", json_out_of["place"])
                    self.assertIn("inner graph", json_out_of["what"])
                    if subject == engine:
                        self.assertEqual(json_out_of["name"], code)
                        self.assertIn(what, json_out_of["what"])
                        self.assertIn(expected, json_out_of["expected"])
                        self.assertIn(found, json_out_of["found"])

    def test_bounds_of_sizes_are_checked_at_each_call(self):
        engine = self.built(self.one("bounded", "symbol n in 1 to 4\n" + graph("y = Neg(x)")), self.graphs, "--verify-passes")
        self.first(engine, self.graphs, "--shape", "x=4x3")
        found = self.error("run", engine, "--plugin", self.graphs, "--shape", "x=6x3")
        self.assertIn("inner graph 0, input 'x': dimension 0 is out of its range", found["what"])
        self.assertEqual((found["expected"], found["found"]), ("n between 1 and 4", "[6,3]"))

    def test_a_plugin_may_say_it_in_its_own_words_or_go_on(self):
        text = graph("y = Neg(x)")
        own = self.error("run", self.one("own", text, fault="own words"), "--plugin", self.graphs)
        self.assertIn("its `enqueue` says: it went wrong", own["what"])
        for fault in ("otherwise", "within", "own memory"):
            want = self.first(self.built(self.one("want", text), self.graphs), self.graphs)
            self.assert_same(self.first(self.built(self.one("on", text, fault=fault), self.graphs), self.graphs), want)
        ports = self.error("run", self.one("ports", text, fault="ports"), "--plugin", self.graphs)
        self.assertIn("1 operands, 1 results", ports["what"])

    @unittest.skipUnless(shutil.which("c++"), "needs a C++ compiler")
    def test_in_cpp(self):
        ops = library(self.folder, HERE / "fixtures" / "graph_ops.cpp")
        ends = [o.value_info("x", ["n", 3]), o.value_info("w", [3, 5])], [o.value_info("y", ["n", 5])]
        model = self.model("projected", [o.node("Projected", ["x", "w"], ["y"], domain="fixture", name="it")], *ends)
        self.assertEqual(self.report("compare", model, "--plugin", ops, "--shape", "x=9x3")["verdict"], "good")
        few = o.node("TooFew", ["x", "w"], ["y"], domain="fixture", name="it")
        found = self.error("run", self.model("few", [few], *ends), "--plugin", ops)
        self.assertIn("inner graph 0 has 2 operands and 1 results, given are 1 and 1", found["what"])
        self.assertEqual(self.report("plugin", "test", ops, "Projected")["findings"], 0)

    def test_the_kit(self):
        for library_of, op in ((self.gemm, "acme::Gemm"), (self.graphs, "test::Bare"), (self.graphs, "test::Nested")):
            done = small_models.tenon("plugin", "test", library_of, "--json")
            rows = [r for r in json.loads(done.stdout)["checks"] if r["op"] == op]
            self.assertGreater(len(rows), 5, op)
            self.assertEqual([r for r in rows if r["findings"]], [], op)
        done = small_models.tenon("plugin", "test", self.graphs, "Careless", "--json")
        found = {r["check"]: " ".join(f["what"] for f in r["findings"]) for r in json.loads(done.stdout)["checks"]}
        self.assertIn("`add_graphs` returns something else", found["pure"])
        self.assertIn("run_graph fails, and enqueue reports success", found["host"])
        self.assertIn("add fails, and add_graphs reports success", found["host"])


class IsolatedGraphs(Graphs):
    """The same, of plugins in processes of their own, which ask this one to run them."""

    def more(self, arguments: tuple) -> list[str]:
        return ["--isolate-plugins"] if arguments[0] in ("run", "compare") and "--plugin" in arguments else []

    test_the_kit = None  # runs without an engine


if __name__ == "__main__":
    unittest.main()
