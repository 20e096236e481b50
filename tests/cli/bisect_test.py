# SPDX-License-Identifier: Apache-2.0
"""`tenon bisect`: finds the rewrite that a command minds, and says plainly where there is none to find."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import small_models as small
from small_models import report, tenon

# Bad: fewer than this many Erf are left in the model.
CHECK = """
import sys
left = open(sys.argv[1], "rb").read().count(b"Erf")
sys.exit(0 if left >= int(sys.argv[2]) else 1)
"""


class Bisect(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.model, self.check = self.folder / "m.onnx", self.folder / "check.py"
        self.model.write_bytes(small.rewritable())
        self.check.write_text(CHECK)
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir()
        self.environment = os.environ | {"TMPDIR": str(self.temporary)}

    def tearDown(self):
        self.assertEqual(list(self.temporary.iterdir()), [], "files were left behind")

    def bisect(self, *command: object, options: tuple = ()) -> dict:
        return report("bisect", self.model, "--rules", "tenon", *options, "--", *command, env=self.environment)

    def script(self, text: str) -> list:
        self.check.write_text(text)
        return [sys.executable, self.check]

    def fails(self, code: int, *command: object, options: tuple = ()) -> dict:
        done = tenon("bisect", self.model, "--rules", "tenon", "--json", *options, "--", *command, env=self.environment)
        self.assertEqual(done.returncode, code, done.stdout)
        return small.json.loads(done.stdout)["error"]

    def test_finds_the_rewrite_and_names_it(self):
        for left in (2, 1):
            with self.subTest(left=left):
                said = self.bisect(sys.executable, self.check, "{}", left)
                faulty = said["faulty"]
                self.assertEqual((faulty["rule"], faulty["exact"]), ("gelu_erf", True))
                self.assertEqual(faulty["first_bad"], faulty["last_good"] + 1)
                self.assertIn("Mul", faulty["matched"][0])
                self.assertTrue(any(s.startswith("erf_") for s in faulty["sources"]), faulty["sources"])
        verdicts = {p["rewrites"]: p["verdict"] for p in said["probes"]}
        self.assertEqual((verdicts[faulty["last_good"]], verdicts[faulty["first_bad"]]), ("good", "bad"))
        self.assertEqual(len(verdicts), len(said["probes"]), "asked twice")

    def test_the_answer_holds_for_rewrite_too(self):
        faulty = self.bisect(sys.executable, self.check, "{}", 2)["faulty"]
        out = self.folder / "out.onnx"
        for count, left in ((faulty["last_good"], 2), (faulty["first_bad"], 1)):
            tenon("rewrite", self.model, "--rules", "tenon", "-o", out, "--stop-after", count)
            self.assertEqual(small.ops_of(out)["Erf"], left)

    def test_the_model_comes_last_where_no_braces_say_otherwise(self):
        command = self.script('import sys; sys.exit(b"Gelu" in open(sys.argv[-1], "rb").read())')
        self.assertEqual(self.bisect(*command)["faulty"]["rule"], "gelu_erf")

    def test_text_says_what_to_do(self):
        done = tenon("bisect", self.model, "--rules", "tenon", "--", sys.executable, self.check, "{}", 2, env=self.environment)
        self.assertRegex(done.stdout, r"rewrite \d+ of \d+ is the first bad one: rule gelu_erf")
        self.assertIn("--rules=-gelu_erf", done.stdout)

    def test_what_cannot_be_judged_is_passed_over(self):
        count = self.bisect(sys.executable, self.check, "{}", 2)["faulty"]["first_bad"]
        # The faulty rewrite and the one before cannot be judged.
        skipping = f'import sys\nif any(f".{{k}}.onnx" in sys.argv[1] for k in ({count - 1}, {count})): sys.exit(125)\n' + CHECK
        said = self.bisect(*self.script(skipping), "{}", 2)
        faulty = said["faulty"]
        self.assertFalse(faulty["exact"])
        self.assertLess(faulty["last_good"], count)
        self.assertGreater(faulty["first_bad"], count)
        self.assertEqual({p["verdict"] for p in said["probes"]}, {"good", "bad", "skip"})

    def test_dump_shows_the_faulty_rewrite_alone(self):
        dump = self.folder / "dump"
        faulty = self.bisect(sys.executable, self.check, "{}", 2, options=("--dump", dump))["faulty"]
        stem = f"{faulty['first_bad']:03}-gelu_erf"
        self.assertEqual(sorted(p.name for p in dump.iterdir()), [f"{stem}.after.onnx", f"{stem}.before.onnx", "index.html"])

    def test_a_command_that_is_never_good_is_separated_from_a_bad_model(self):
        error = self.fails(1, "false")
        self.assertIn("the original model is not good already", error["what"])
        self.assertIn("exit code 1", error["found"])
        # Good on the file itself, bad on all that was written.
        command = self.script('import sys; sys.exit("tenon-" in sys.argv[1])')
        self.assertIn("with no rewrite done", self.fails(1, *command)["what"])

    def test_nothing_bad_is_said_plainly(self):
        self.assertIn("there is nothing to find", self.fails(1, "true")["what"])
        self.model.write_bytes(small.settled())
        self.assertIn("no rule rewrites anything", self.fails(1, "true")["what"])

    def test_a_crash_and_a_hang_are_bad(self):
        crash = 'import os, sys\nif b"Gelu" in open(sys.argv[1], "rb").read(): os.abort()'
        said = self.bisect(*self.script(crash))
        self.assertEqual(said["faulty"]["rule"], "gelu_erf")
        self.assertIn("signal 6", next(p["reason"] for p in said["probes"] if p["verdict"] == "bad"))
        hang = 'if grep -q Gelu "$1"; then sleep 1000; fi'
        said = self.bisect("sh", "-c", hang, "sh", options=("--timeout", "5"))
        self.assertEqual(said["faulty"]["rule"], "gelu_erf")
        self.assertIn("no answer within 5 s", next(p["reason"] for p in said["probes"] if p["verdict"] == "bad"))

    def test_a_command_that_cannot_run_is_bad_usage(self):
        self.assertEqual(self.fails(2, "no-such-program")["place"], "no-such-program")
        self.assertEqual(self.fails(2, "sh", "-c", "exit 127")["found"], "exit code 127")
        for arguments in ([], ["--against-reference", "--", "true"], ["--nonsense", "--", "true"]):
            with self.subTest(arguments):
                self.assertEqual(tenon("bisect", self.model, *arguments, env=self.environment).returncode, 2)

    def test_what_the_command_prints_is_not_the_answer(self):
        command = self.script('import sys; print("noise"); sys.exit(b"Gelu" in open(sys.argv[1], "rb").read())')
        done = tenon("bisect", self.model, "--rules", "tenon", "--json", "--", *command, env=self.environment)
        self.assertNotIn("noise", done.stdout)
        self.assertIn("noise", done.stderr)
        quiet = tenon("bisect", self.model, "--rules", "tenon", "--quiet", "--", *command, env=self.environment)
        self.assertEqual((quiet.stdout, quiet.stderr), ("", ""))

    def test_options_of_the_command_are_the_commands_own(self):
        done = tenon(
            "bisect", self.model, "--rules", "tenon", "--", "sh", "-c", 'test "$1" = --json && ! grep -q Gelu "$2"', "sh", "--json"
        )
        self.assertIn("first bad one: rule gelu_erf", done.stdout)

    def test_the_reference_minds_no_right_rule(self):
        done = tenon("bisect", self.model, "--rules", "tenon", "--against-reference", env=self.environment)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is nothing to find", done.stderr)

    def test_a_signal_ends_it_and_nothing_is_left(self):
        mark = self.folder / "mark"
        command = self.script(f"import pathlib, time\npathlib.Path({str(mark)!r}).touch()\ntime.sleep(1000)")
        process = subprocess.Popen(
            [str(small.TENON), "bisect", str(self.model), "--rules", "tenon", "--", *map(str, command)],
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not mark.exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(60), 1)


if __name__ == "__main__":
    unittest.main()
