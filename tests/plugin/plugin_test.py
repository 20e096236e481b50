# SPDX-License-Identifier: Apache-2.0
"""Plugin libraries, built by the system's own compiler on the public headers alone, from model to run."""

import json
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import numpy as np  # noqa: E402
import small_models  # noqa: E402
from small_models import ROOT, o  # noqa: E402

HERE = Path(__file__).resolve().parent
OPS = HERE / "fixtures" / "ops.c"
SWISH = ROOT / "examples" / "plugins" / "swish.c"


def attribute_float(name: str, value: float) -> bytes:
    return o.message(5, o.text(1, name), o.varint(2 << 3 | 5) + struct.pack("<f", value), o.number(20, 1))


def attribute_text(name: str, value: str) -> bytes:
    return o.message(5, o.text(1, name), o.text(4, value), o.number(20, 3))


@unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
class Plugins(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.ops = cls.compiled("ops", OPS)
        cls.swish = cls.compiled("swish", SWISH)

    @classmethod
    def compiled(cls, name: str, source: Path, *options: str) -> Path:
        out = cls.folder / f"{name}.so"
        flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{ROOT / 'include'}"]
        subprocess.run(["cc", *flags, source, *options, "-o", out, "-lm"], check=True)
        return out

    def model(self, name: str, nodes: list[bytes], inputs: list[bytes], outputs: list[bytes]) -> Path:
        path = self.folder / f"{name}.onnx"
        domains = b"".join(o.message(8, o.text(1, d), o.number(2, 1)) for d in ("test", "acme"))
        path.write_bytes(o.model(o.graph(nodes, inputs, outputs)) + domains)
        return path

    def one_op(self, op: str, *attributes: bytes, domain: str = "test") -> Path:
        node = o.node(op, ["x"], ["y"], *attributes, domain=domain, name="it")
        return self.model(op, [node], [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])])

    def report(self, *arguments: object) -> dict:
        done = small_models.tenon(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def error(self, *arguments: object, status: int = 1) -> dict:
        done = small_models.tenon(*arguments, "--json")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return json.loads(done.stdout)["error"]

    def built(self, model: Path, *options: object) -> Path:
        engine = model.with_suffix(".tenon")
        self.report("build", model, "-o", engine, *options)
        return engine

    def test_rules_of_a_file_name_ops_of_plugins(self):
        rules = self.folder / "swish.rules"
        rules.write_text(
            "to_swish [benefit 9]: Mul(?x, Sigmoid(Mul(?x, ?b))) => acme::Swish(?x, beta=value(?b))\n"
            "  where splat(?b), rank(?b) == 0, dtype(?x) == f32\n"
            "negated_swish: Neg(acme::Swish(?x, beta=?b)) => acme::Swish(Neg(?x), beta=-?b)\n"
        )
        nodes = [
            o.node("Mul", ["x", "b"], ["a"]),
            o.node("Sigmoid", ["a"], ["s"]),
            o.node("Mul", ["x", "s"], ["m"]),
            o.node("Neg", ["m"], ["y"]),
        ]
        three = o.number(2, 1) + o.text(8, "b") + o.message(9, struct.pack("<f", 3))
        sizes = [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])]
        path = self.folder / "spelled.onnx"
        path.write_bytes(o.model(o.graph(nodes, *sizes, [three])))
        report = self.report("rewrite", path, "--rules", rules, "--plugin", self.swish, "--verify", "all", "--numerics", "reassociating")
        self.assertEqual({r["name"]: r["applied"] for r in report["rules"]}, {"to_swish": 1, "negated_swish": 1}, report)
        self.assertEqual(report["verification"]["wrong"], 0)
        self.assertEqual(self.report("rules", "test", rules, "--plugin", self.swish)["faults"], 0)
        self.assertIn("not supported yet: op acme::Swish", self.error("rules", "list", rules, status=3)["what"])

    def test_by_its_own_function_as_the_definition_says(self):
        model = self.one_op("Swish", attribute_float("beta", 1.5), domain="acme")
        self.assertEqual(self.report("compare", model, "--plugin", self.swish)["verdict"], "good")
        rows = self.report("partition", model, "--plugin", self.swish, "--dry-run")["nodes"]
        self.assertEqual(rows[0]["backend"], "plugin")

    def test_definitions_run_where_a_plugin_is_missing(self):
        model = self.one_op("Swish", attribute_float("beta", 1.5), domain="acme")
        x = self.folder / "x.npy"
        np.save(x, np.linspace(-3, 3, 12, dtype=np.float32).reshape(4, 3))
        wanted = np.load(x) / (1 + np.exp(-1.5 * np.load(x)))
        other = self.compiled("swish_rebuilt", SWISH, "-g")
        for name, more in (("native", []), ("portable", ["--portable"]), ("bounded", ["--shape", "x=1x3:4x3:8x3"])):
            engine = self.folder / f"{name}.tenon"
            self.report("build", model, "-o", engine, "--plugin", self.swish, "--plugin-fallback", "--verify-passes", *more)
            for libraries, missing in (
                (["--plugin", self.swish], None),
                ([], "needs a plugin that is not there: acme::Swish, version 1, of library swish: not there"),
                (["--plugin", other], "is another build than the engine was built with"),
                (["--plugin", other, "--plugin-any-build"], None),
            ):
                with self.subTest(name, libraries=libraries):
                    done = small_models.tenon("run", engine, *libraries, "--input", f"x={x}", "--output-dir", self.folder)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    np.testing.assert_allclose(np.load(self.folder / "y.npy"), wanted, rtol=1e-5)
                    if missing is None:
                        self.assertNotIn("definitions run in place of plugins", done.stderr)
                    else:
                        self.assertIn("definitions run in place of plugins", done.stderr)
                        self.assertIn(missing, done.stderr)

    def test_tenons_own_code_runs_where_a_kernel_is_missing(self):
        """One that was requested, and one that is taken by itself: Tenon runs Det by reference."""
        det = o.node("Det", ["x"], ["y"], name="it")
        models = {
            "Relu": (self.one_op("Relu", domain=""), [1, 3], [[0, 2, 0]], ["--prefer", "test::NegativeRelu"]),
            "Det": (self.model("Det", [det], [o.value_info("x", ["n", 1, 1])], [o.value_info("y", ["n"])]), [3, 1, 1], [-1, 2, -3], []),
        }
        for name, (model, shape, wanted, preferred) in models.items():
            engine = self.built(model, "--plugin", self.ops, *preferred, "--plugin-fallback")
            x = self.folder / "signs.npy"
            np.save(x, np.array([-1, 2, -3], dtype=np.float32).reshape(shape))
            results = []
            for libraries in (["--plugin", self.ops], []):
                self.report("run", engine, *libraries, "--input", f"x={x}", "--output-dir", self.folder)
                results.append(np.load(self.folder / "y.npy").tolist())
            self.assertEqual(results[1], wanted, name)
            self.assertNotEqual(*results, name)

    def test_a_fallback_changes_nothing_without_plugins(self):
        relu = self.one_op("Relu", domain="")
        plain = self.built(relu).read_bytes()
        self.assertEqual(self.built(relu, "--plugin", self.ops, "--plugin-fallback").read_bytes(), plain)

    def test_a_fallback_needs_definitions(self):
        model = self.one_op("Double")
        error = self.error("build", model, "--plugin", self.ops, "--plugin-fallback", "-o", self.folder / "no.tenon", status=3)
        self.assertEqual(error["found"], "none of test::Double")

    def test_a_node_names_its_plugin_by_attributes(self):
        versions = self.compiled("versions", HERE / "fixtures" / "versions.c")

        def op_of(name: str, op: str, domain: str, **attributes: str) -> str:
            said = [attribute_text(f"plugin_{k}", v) for k, v in attributes.items()]
            node = o.node(op, ["x"], ["y"], *said, domain=domain, name="it")
            model = self.model(name, [node], [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])])
            report = self.report("inspect", model, "--plugin", versions)
            self.assertEqual(small_models.tenon("run", model, "--plugin", versions).returncode, 0)
            return next(iter(report["ops"]))

        self.assertEqual(op_of("newest", "Scale", "test"), "test::Scale")
        self.assertEqual(op_of("older", "Scale", "test", version="1"), "test::Scale$1")
        self.assertEqual(op_of("space", "Scale", "", namespace="test", version="10"), "test::Scale")
        self.assertEqual(op_of("elsewhere", "Scale", "other", namespace="test"), "test::Scale")
        self.assertEqual(op_of("none", "Scale3", "", namespace="", version="1"), "trt.plugins::Scale3")
        self.assertEqual(op_of("nothing", "Scale3", "acme"), "trt.plugins::Scale3")
        node = o.node("Scale", ["x"], ["y"], attribute_text("plugin_version", "7"), domain="test", name="it")
        model = self.model("no_such", [node], [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])])
        self.assertIn("plugin_version = '7': this is version 10", self.error("run", model, "--plugin", versions)["found"])

    def test_an_engine_names_all_that_it_needs(self):
        nodes = [
            o.node("Swish", ["x"], ["s"], domain="acme", name="first"),
            o.node("Double", ["s"], ["y"], domain="test", name="second"),
        ]
        model = self.model("two", nodes, [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])])
        engine = self.built(model, "--plugin", self.swish, "--plugin", self.ops)
        self.assertEqual(small_models.tenon("run", engine, "--plugin", self.swish, "--plugin", self.ops).returncode, 0)
        kept = self.report("inspect", engine)["plugins"]
        self.assertEqual([k["name"] for k in kept], ["Swish", "Double"])
        self.assertEqual(kept[0]["fields"], ["beta = 1"])
        self.assertEqual(len(kept[0]["sha256"]), 64)
        portable = model.with_suffix(".portable.tenon")
        self.report("build", model, "--portable", "-o", portable, "--plugin", self.swish, "--plugin", self.ops)
        self.assertEqual(small_models.tenon("run", portable, "--plugin", self.swish, "--plugin", self.ops).returncode, 0)
        self.assertIn(
            "test::Double, version 1, of library ops: not there", self.error("run", portable, "--plugin", self.swish, status=3)["found"]
        )
        found = self.error("run", engine, status=3)["found"]
        self.assertIn("acme::Swish, version 1, of library swish: not there", found)
        self.assertIn("test::Double, version 1, of library ops: not there", found)

    def test_an_engine_may_hold_its_libraries(self):
        own = self.compiled("own", SWISH, "-DOWN")
        model = self.one_op("Swish", domain="acme")
        for kind in ([], ["--portable"]):
            engine = self.built(model, "--plugin", own, "--embed-plugins", *kind)
            hidden = own.rename(own.with_suffix(".gone"))
            self.assertIn("acme::Swish", self.error("run", engine, status=3)["found"])
            self.assertEqual(small_models.tenon("run", engine, "--embedded-plugins").returncode, 0)
            self.assertEqual(small_models.tenon("run", engine, "--plugin", hidden, "--embedded-plugins").returncode, 0, "the same bytes")
            damaged = bytearray(engine.read_bytes())
            damaged[damaged.rindex(b"\x7fELF") + 600] ^= 1
            bad = engine.with_name("bad.tenon")
            bad.write_bytes(damaged)
            self.assertIn("plugin_library", self.error("run", bad, "--embedded-plugins")["what"])
            hidden.rename(own)
        plain = self.built(model, "--plugin", own)
        self.assertIn("no libraries of plugins inside", self.error("run", plain, "--embedded-plugins", status=2)["what"])

    def test_an_engine_may_hold_several_libraries(self):
        nodes = [
            o.node("Swish", ["x"], ["a"], domain="acme", name="one"),
            o.node("Double", ["a"], ["y"], domain="test", name="two"),
        ]
        model = self.model("several", nodes, [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])])
        engine = self.built(model, "--plugin", self.swish, "--plugin", self.ops, "--embed-plugins")
        done = small_models.tenon("run", engine, "--embedded-plugins")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_another_build_is_taken_only_where_that_is_said(self):
        engine = self.built(self.one_op("Double"), "--plugin", self.ops)
        other = self.compiled("other", OPS, "-O2", "-DOTHER")
        self.assertIn("another build", self.error("run", engine, "--plugin", other, status=3)["found"])
        self.assertEqual(small_models.tenon("run", engine, "--plugin", other, "--plugin-any-build").returncode, 0)

    def test_a_definition_alone_is_compiled_like_plain_ops(self):
        gate = self.built(self.one_op("Gate"), "--plugin", self.ops)
        self.assertEqual(small_models.tenon("run", gate).returncode, 0, "nothing of the plugin is needed to run it")
        plain = [
            o.node(
                "Constant",
                [],
                ["c"],
                o.message(5, o.text(1, "value"), o.message(5, o.tensor("", [], b"\x00\x00\xc0\x3f")), o.number(20, 4)),
            ),
            o.node("Mul", ["x", "c"], ["m"]),
            o.node("Sigmoid", ["m"], ["s"]),
            o.node("Mul", ["x", "s"], ["y"]),
        ]
        like = self.built(self.model("plain", plain, [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])]))
        self.assertEqual(self.kernels(gate), self.kernels(like))

    def kernels(self, engine: Path) -> list:
        return [(k["bytes"], k["tactic"], k["steps"]) for k in self.report("inspect", engine)["kernels"]]

    def test_what_has_no_definition_is_not_judged(self):
        self.assertEqual(self.report("compare", self.one_op("Double"), "--plugin", self.ops)["not_judged"], {"test::Double": 1})
        self.assertNotIn("not_judged", self.report("compare", self.one_op("Gate"), "--plugin", self.ops))

    def test_data_dependent_sizes(self):
        nodes = [
            o.node("Positive", ["x"], ["p", "count"], domain="test", name="positive"),
            o.node("Neg", ["p"], ["y"]),
        ]
        model = self.model("late", nodes, [o.value_info("x", ["n", 3])], [o.value_info("y", [None]), o.value_info("count", [], 7)])
        report = self.report("compare", model, "--plugin", self.ops, "--shape", "x=5x3")
        self.assertEqual(report["verdict"], "good")
        unwanted = self.model(
            "unwanted", [o.node("Positive", ["x"], ["", "y"], domain="test")], [o.value_info("x", ["n", 3])], [o.value_info("y", [], 7)]
        )
        self.assertEqual(self.report("compare", unwanted, "--plugin", self.ops)["verdict"], "good")

    def test_any_number_of_operands_and_a_workspace(self):
        node = o.node("Total", ["x", "x", "x"], ["y"], domain="test")
        model = self.model("total", [node], [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])])
        self.assertEqual(self.report("compare", model, "--plugin", self.ops, "--shape", "x=7x3")["verdict"], "good")

    def test_a_run_that_fails_says_whose_fault_it_is(self):
        model = self.one_op("Double")
        values = self.folder / "thousand.npy"
        head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }"
        head = head.ljust(117) + b"\n"
        values.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<3f", 1000, 2, 3))
        error = self.error("run", model, "--plugin", self.ops, "--input", f"x={values}")
        self.assertIn("1000 is too much", error["what"])
        self.assertIn("plugin 'test::Double' of ops.so", error["place"])
        self.assertIn("node 'it'", error["place"])
        self.assertIn("(f32[1,3]) -> (f32[1,3])", error["found"])

    def test_the_walk_shares_out_over_two_backends_next_to_plugins(self):
        nodes = [o.node("Neg", ["x"], ["a"], name="one"), o.node("Abs", ["a"], ["y"], name="other")]
        model = self.model("walk", nodes, [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])])
        walk = ["--backend", "cpu,reference", "--fallback-ops", "Abs", "--segmenter", "walk", "--dry-run"]
        report = self.report("partition", model, *walk, "--plugin", self.ops)
        self.assertEqual([s["backend"] for s in report["segments"]], ["cpu", "reference"])

    def test_all_that_is_wrong_with_fields_is_one_error(self):
        wrong = [attribute_float("scale", 11), attribute_text("mode", "odd"), o.attribute_int("tims", 2)]
        error = self.error("build", self.one_op("Fielded", *wrong), "-o", self.folder / "f.tenon", "--plugin", self.ops)
        self.assertEqual(error["name"], "bad_attribute")
        for part in ("11 is not in 0 .. 10", "'odd' is none of plain, fancy", "did you mean 'times'", "field 'needed' (i32) is missing"):
            self.assertIn(part, error["found"])
        right = self.one_op("Fielded", o.attribute_ints("needed", [1, 2]), attribute_float("scale", 3))
        self.assertEqual(self.report("compare", right, "--plugin", self.ops)["verdict"], "good")

    def test_a_kernel_of_an_op_runs_where_it_is_preferred(self):
        node = o.node("Relu", ["x"], ["y"], name="it")
        model = self.model("relu", [node], [o.value_info("x", ["n", 3])], [o.value_info("y", ["n", 3])])
        self.assertEqual(self.report("compare", model, "--plugin", self.ops)["verdict"], "good")
        row = self.report("partition", model, "--plugin", self.ops, "--prefer", "test::NegativeRelu", "--dry-run")["nodes"][0]
        self.assertEqual((row["backend"], row["reasons"][0]["code"]), ("plugin", "preferred"))
        self.assertEqual(self.error("compare", model, "--plugin", self.ops, "--prefer", "test::NegativeRelu")["name"], "device_failed")
        missing = self.error("compare", model, "--plugin", self.ops, "--prefer", "test::NegativeRlu", status=2)
        self.assertIn("test::NegativeRelu", missing["advice"])
        other = self.error("compare", self.one_op("Gate"), "--plugin", self.ops, "--prefer", "test::NegativeRelu", status=2)
        self.assertIn("no op that the preferred kernel computes", other["what"])

    @unittest.skipUnless(Path("/usr/include/kissfft/kiss_fft.h").exists(), "needs libkissfft-dev")
    def test_a_fourier_transform_by_a_library(self):
        kiss = self.compiled("kiss_dft", ROOT / "examples" / "plugins" / "kiss_dft.c", "-lkissfft-float")
        node = o.node("DFT", ["x"], ["y"], name="dft")
        for parts in (1, 2):
            model = self.model(f"dft{parts}", [node], [o.value_info("x", ["n", 60, parts])], [o.value_info("y", ["n", 60, 2])])
            report = self.report("compare", model, "--plugin", kiss, "--prefer", "kiss::DFT", "--shape", f"x=3x60x{parts}")
            self.assertEqual(report["verdict"], "good")

    def test_libraries_that_are_none(self):
        model = self.one_op("Double")
        cases = {
            "missing": (self.folder / "nowhere.so", "file_missing", ""),
            "foreign": (next(Path("/lib").glob("*/libz.so.1")), "bad_file", "a library without it"),
            "no library": (OPS, "bad_file", ""),
            "newer": (self.compiled("newer", OPS, "-DNEEDS=99"), "wrong_target", "version 99"),
            "refuses": (self.compiled("refuses", OPS, "-DREFUSES"), "device_failed", "no licence was found"),
            "no infer": (
                self.compiled("no_infer", OPS, "-DNO_INFER", "-Wno-unused-function"),
                "bad_file",
                "neither a definition nor `infer`",
            ),
            "bad expression": (self.compiled("bad_expression", OPS, "-DBAD_EXPRESSION"), "bad_file", "Mul(x, "),
            "wrong rank": (self.compiled("wrong_rank", OPS, "-DWRONG_RANK"), "device_failed", ""),
        }
        for name, (library, code, found) in cases.items():
            with self.subTest(name):
                error = self.error("build", model, "-o", self.folder / "none.tenon", "--plugin", library)
                self.assertEqual(error["name"], code)
                self.assertIn(found, error["found"])
        self.assertFalse((self.folder / "none.tenon").exists())

    def test_two_libraries_with_one_op(self):
        twin = self.compiled("twin", OPS, "-O2", "-DTWIN")
        error = self.error("build", self.one_op("Double"), "-o", self.folder / "t.tenon", "--plugin", self.ops, "--plugin", twin, status=2)
        self.assertIn("ops.so and twin.so", error["found"])
        again = self.folder / "again.so"
        shutil.copy(self.ops, again)
        self.built(self.one_op("Double"), "--plugin", self.ops, "--plugin", again)


if __name__ == "__main__":
    unittest.main()
