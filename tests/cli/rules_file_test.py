# SPDX-License-Identifier: Apache-2.0
"""Rules of the user's own, from a file: right ones, wrong ones, broken ones, and why one does not match."""

import tempfile
import unittest
from pathlib import Path

import small_models as small
from small_models import ops_of, report, tenon

# Relu is not Abs: right for no negative number.
WRONG = "relu_abs: Relu(?x) => Abs(?x)\n"
RIGHT = """set mine
# Two Transposes that undo each other
turned_back: Transpose(Transpose(?x, perm=[1, 0]), perm=[1, 0]) => ?x
"""


class RulesFile(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.model, self.rules, self.out = (self.folder / n for n in ("m.onnx", "mine.rules", "out.onnx"))
        self.model.write_bytes(small.rewritable())

    def rewrite(self, rules: str, *options: object) -> dict:
        self.rules.write_text(rules)
        return report("rewrite", self.model, "--rules", self.rules, *options)

    def test_only_the_rules_of_the_file_run(self):
        said = self.rewrite(RIGHT, "-o", self.out, "--only")
        self.assertEqual([(r["name"], r["set"], r["applied"]) for r in said["rules"]], [("turned_back", "mine", 2)])
        self.assertEqual(said["nodes_after"], 11)

    def test_a_file_and_a_set_are_joined(self):
        self.rules.write_text(RIGHT)
        rules = {r["name"] for r in report("rewrite", self.model, "--rules", "fuse/activation", "--rules", self.rules)["rules"]}
        self.assertLessEqual({"gelu_erf", "turned_back"}, rules)

    def test_a_broken_file_is_named_with_line_and_column(self):
        self.rules.write_text(RIGHT + "bad: Relu(?x => ?x\n")
        done = tenon("rewrite", self.model, "-o", self.out, "--rules", self.rules)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"mine\.rules:4:\d+")
        self.assertFalse(self.out.exists())
        self.assertEqual(tenon("rules", "list", self.rules).returncode, 1)

    def test_rules_that_do_not_settle_are_left_out(self):
        self.rules.write_text("grow: Relu(?x) => Relu(Relu(?x))\n")
        done = tenon("rewrite", self.model, "-o", self.out, "--rules", self.rules)
        self.assertEqual(done.returncode, 0)
        self.assertIn("rule grow does not settle", done.stderr)
        self.assertEqual(tenon("inspect", self.out).returncode, 0)
        self.out.unlink()
        done = tenon("rewrite", self.model, "-o", self.out, "--rules", self.rules, "--strict")
        self.assertEqual(done.returncode, 1)
        self.assertFalse(self.out.exists())

    def test_bisect_finds_a_wrong_rule(self):
        self.rules.write_text(WRONG)
        said = report("bisect", self.model, "--rules", "tenon", "--rules", self.rules, "--against-reference")
        self.assertEqual((said["faulty"]["rule"], said["faulty"]["exact"]), ("relu_abs", True))

    def test_verification_finds_a_wrong_rule_and_undoes_it(self):
        for mode in ("first", "all"):
            said = self.rewrite(WRONG + RIGHT, "-o", self.out, "--verify", mode, "--dump", self.folder / "dump")
            with self.subTest(mode):
                self.assertEqual(said["verification"]["wrong"], 1)
                self.assertIn("relu_abs", said["left_out"][0])
                self.assertNotIn("Abs", ops_of(self.out))
                self.assertEqual(said["rewrites"], 2)
                names = {p.name for p in (self.folder / "dump").iterdir()}
                self.assertIn("undone-01-relu_abs.after.onnx", names)

    def test_isolation_changes_nothing_for_sound_rules(self):
        self.assertEqual(self.rewrite(RIGHT, "--isolate")["nodes_after"], self.rewrite(RIGHT)["nodes_after"])

    def test_list_and_show_read_files(self):
        self.rules.write_text(RIGHT)
        rule = report("rules", "list", self.rules)["rules"][0]
        self.assertEqual((rule["name"], rule["set"], rule["docs"]), ("turned_back", "mine", "Two Transposes that undo each other"))
        self.assertIn("=> ?x", rule["equation"])


class Test(unittest.TestCase):
    """`tenon rules test`: what follows from an equation itself."""

    def setUp(self):
        self.rules = Path(self.enterContext(tempfile.TemporaryDirectory())) / "mine.rules"

    def test_a_right_file_passes(self):
        self.rules.write_text(RIGHT)
        done = tenon("rules", "test", self.rules)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout.splitlines()[0], r"^rule +instances +mutants refused +harmless +faults")
        self.assertRegex(done.stdout, r"(?m)^turned_back +[1-9]\d* +[1-9]\d* +\d+ +0\b")

    def test_a_wrong_rule_fails_with_the_graph_that_shows_it(self):
        self.rules.write_text(WRONG + RIGHT)
        done = tenon("rules", "test", self.rules)
        self.assertEqual(done.returncode, 1)
        self.assertIn("= Relu(in0)", done.stdout)
        self.assertIn("at relu_abs", done.stderr)
        said = report("rules", "test", self.rules)
        self.assertEqual([bool(r["faults"]) for r in said["rules"]], [True, False])
        self.assertEqual(said["error"]["name"], "bad_rule")

    def test_a_condition_that_is_too_wide_is_found(self):
        self.rules.write_text("first: Transpose(Transpose(?x, perm=?p), perm=?q) => Transpose(?x, perm=compose(?q, ?p))\n")
        self.assertEqual(tenon("rules", "test", self.rules).returncode, 1)

    def test_conditions_that_nothing_meets_are_reported(self):
        self.rules.write_text("never: Neg(Neg(?x)) => ?x where rank(?x) == 77\n")
        done = tenon("rules", "test", self.rules)
        self.assertEqual(done.returncode, 0)
        self.assertIn("no graph was found that it matches", done.stdout)

    def test_the_same_seed_gives_the_same_tests(self):
        self.rules.write_text(RIGHT)
        first, again, other = (report("rules", "test", self.rules, "--seed", s)["rules"] for s in (3, 3, 4))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)

    def test_a_broken_file_is_refused(self):
        self.rules.write_text("bad: Relu(?x => ?x\n")
        self.assertEqual(tenon("rules", "test", self.rules).returncode, 1)


class Why(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.model = self.folder / "m.onnx"
        nodes = small.gelu("x", "y")
        constants = [small.number("root2", 2**0.5), small.number("one", 1.5), small.number("half", 0.5)]
        self.model.write_bytes(small.o.chain(nodes, initializers=constants, opset=20))

    def test_names_the_part_that_fails(self):
        best = report("rules", "why", "gelu_erf", self.model)["why"][0]
        self.assertEqual((best["rule"], best["outcome"]), ("gelu_erf", "no_match"))
        self.assertGreater(best["depth"], 0)
        self.assertIn("1.5", best["found"])

    def test_why_not_at_one_node(self):
        at = report("rules", "why", "gelu_erf", self.model, "erf_y_e")["why"]
        self.assertEqual([w["outcome"] for w in at], ["elsewhere"])
        text = tenon("rules", "why", "gelu_erf", self.model, "y").stdout
        self.assertIn("gelu_erf at node", text)

    def test_names_that_nobody_has_are_refused(self):
        self.assertEqual(tenon("rules", "why", "gelu_erff", self.model).returncode, 2)
        self.assertEqual(tenon("rules", "why", "gelu_erf", self.model, "no_such_node").returncode, 2)
        self.assertEqual(tenon("rules", "why", "gelu_erf", self.folder / "none.onnx").returncode, 1)

    def test_without_a_model_the_rule_is_shown(self):
        self.assertIn("=> Gelu(?x)", tenon("rules", "why", "gelu_erf").stdout)


if __name__ == "__main__":
    unittest.main()
