# SPDX-License-Identifier: Apache-2.0
"""`tenon rules`: every rule can be found, by any of its names."""

import struct
import tempfile
import unittest
from pathlib import Path

from small_models import o, ops_of, report, tenon


class Rules(unittest.TestCase):
    def test_list_has_every_rule_once(self):
        rules = report("rules", "list")["rules"]
        names = [r["name"] for r in rules]
        self.assertEqual(len(names), len(set(names)))
        self.assertIn("gelu_erf", names)
        keys = {"name", "set", "numerics", "stage", "seeds", "docs", "equation", "roots", "benefit", "shared", "file"}
        self.assertTrue(all(r.keys() == keys and r["docs"] and r["set"] for r in rules))
        self.assertLessEqual({r["numerics"] for r in rules}, {"exact", "reassociating", "approximate"})
        self.assertLessEqual({r["stage"] for r in rules}, {"clean", "fuse", "trim", "combine", "target"})

    def test_list_takes_an_expression_of_sets(self):
        everything = {r["name"] for r in report("rules", "list", "tenon")["rules"]}
        less = {r["name"] for r in report("rules", "list", "tenon-gelu_erf")["rules"]}
        self.assertEqual(everything - less, {"gelu_erf"})

    def test_list_is_a_table_for_people(self):
        lines = tenon("rules", "list", "fuse/activation").stdout.splitlines()
        self.assertRegex(lines[0], r"^rule +set +numerics +stage +")
        self.assertEqual(lines[-1], f"{len(lines) - 2} rules")

    def test_show_prints_the_equation_and_the_promises(self):
        text = tenon("rules", "show", "gelu_erf").stdout
        self.assertIn("=> Gelu(?x)", text)
        self.assertIn("reassociating", text)
        self.assertIn("src/rules/fuse/activation.cpp", text)

    def test_show_prints_where_code_starts(self):
        text = tenon("rules", "show", "cast_chain").stdout
        self.assertIn("Cast (code)", text)

    def test_show_takes_any_name_that_a_rule_goes_by(self):
        rules = report("rules", "list")["rules"]
        self.assertEqual({r["file"] for r in report("rules", "show", "clean/cast")["rules"]}, {"src/rules/clean/types/cast.cpp"})
        for rule in rules:
            for seed in rule["seeds"][:1]:
                with self.subTest(rule["name"], seed=seed):
                    self.assertIn(rule["name"], [r["name"] for r in report("rules", "list", seed)["rules"]])

    def test_export_leaves_out_rules_whose_constants_onnx_has_not(self):
        sizes = [o.attribute_int(name, value) for name, value in (("K", 32), ("N", 1), ("bits", 4), ("block_size", 32))]
        product = o.node("MatMulNBits", ["x", "w", "s"], ["y"], *sizes, domain="com.microsoft")
        weights = [o.tensor("w", [1, 1, 16], bytes(range(16)), dtype=2), o.tensor("s", [1], struct.pack("<f", 0.5))]
        graph = o.graph([product], [o.value_info("x", ["n", 32])], [o.value_info("y", None)], weights)
        with tempfile.TemporaryDirectory() as folder:
            model, out = Path(folder) / "m.onnx", Path(folder) / "out.onnx"
            model.write_bytes(o.model(graph) + o.message(8, o.text(1, "com.microsoft"), o.number(2, 1)))
            done = tenon("export", model, "-o", out, "--opt", 3)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(ops_of(out), ops_of(model))
            # Weights stay as they are for a runtime that comes first, which may have kernels for them, but not for those of Tenon.
            for backends, op in (("cpu", "MatMul "), ("reference,cpu", "com.microsoft::MatMulNBits ")):
                self.assertIn(f" {op}", tenon("partition", model, "--backend", backends).stdout)

    def test_a_typo_gives_the_nearest_name(self):
        for command in (["list", "tenno"], ["show", "gelu_erff"], ["test", "gelu_erff"]):
            done = tenon("rules", *command)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"did you mean '(tenon|gelu_erf)'\?")

    def test_test_takes_a_rule_or_a_set(self):
        (rule,) = report("rules", "test", "gelu_erf")["rules"]
        self.assertGreater(rule["instances"], 0)
        self.assertLessEqual({"constant", "op", "domain", "user", "output", "variable"}, rule["refused_by_kind"].keys())
        self.assertIn("Erf", rule["example"])
        rules = report("rules", "test", "clean/clip")["rules"]
        self.assertEqual({r["name"]: r["code"] for r in rules}["clip_clip"], True)
        self.assertEqual({r["name"]: r["code"] for r in rules}["clip_relu"], False)
        self.assertIn("no tests follow from code", tenon("rules", "test", "clip_clip").stdout)

    def test_help_has_examples(self):
        self.assertIn("tenon rules test mine.rules", tenon("rules", "--help").stdout)
        self.assertIn("--seed", tenon("rules", "test", "--help").stdout)

    def test_canonical_has_rules(self):
        names = {r["name"] for r in report("rules", "list", "canonical")["rules"]}
        self.assertLessEqual({"identity", "transpose_compose", "neutral_operand", "cast_chain"}, names)
        self.assertNotIn("gelu_erf", names)

    def test_bad_usage_is_refused(self):
        for command in ([], ["show"], ["fly"], ["list", "--nonsense"], ["test", "--seed", "many"]):
            with self.subTest(command):
                self.assertEqual(tenon("rules", *command).returncode, 2)
        self.assertEqual(tenon("rules", "list", "none.rules").returncode, 1)


if __name__ == "__main__":
    unittest.main()
