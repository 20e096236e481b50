# SPDX-License-Identifier: Apache-2.0
"""Help and wrong calls: what the command line says of itself, and of what it does not understand."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

from small_models import ROOT, TENON, o, tenon

MODEL = ROOT / "examples/mlp.onnx"
VERBS = re.findall(r"^  ([a-z-]+)\s", re.search(r"Verbs:\n(.*?)\n\n", tenon("help").stdout, re.S)[1], re.M)


def error(*arguments: object) -> dict:
    return json.loads(tenon(*arguments, "--json").stdout)["error"]


def on_terminal(columns: int, *arguments: object) -> str:
    """What a terminal of that many columns gets."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen([str(TENON), *map(str, arguments)], stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        process.wait(60)
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


class Help(unittest.TestCase):
    def test_the_program_alone_shows_its_verbs(self):
        alone, asked = tenon(), tenon("help")
        self.assertEqual((alone.returncode, asked.returncode), (0, 0))
        self.assertEqual(alone.stdout, asked.stdout)
        self.assertLessEqual({"build", "run", "bench", "help", "completion", "man"}, set(VERBS))
        self.assertNotIn("time", VERBS)  # hidden: used by --measure
        self.assertEqual(tenon("--help").stdout, asked.stdout)

    def test_help_of_a_verb_is_its_help_option(self):
        for verb in VERBS:
            self.assertEqual(tenon("help", verb).stdout, tenon(verb, "--help").stdout, verb)
            self.assertEqual(tenon("help", verb, "--all").stdout, tenon(verb, "--help-all").stdout, verb)
            self.assertIn(f"Usage: tenon {verb}", tenon("help", verb).stdout)
        self.assertEqual(tenon("help", "rules", "why").stdout, tenon("rules", "why", "--help").stdout)

    def test_help_wraps_to_the_terminal(self):
        for columns in (60, 80, 120):
            for verb in VERBS:
                for line in on_terminal(columns, verb, "--help-all").splitlines():
                    # A command of the examples, and a name that is too long to be beside anything, are not broken.
                    if not line.startswith(("  tenon ", "  eval ", "  --", "  -o")):
                        self.assertLessEqual(len(line), columns, f"{verb}: {line}")

    def test_columns_say_the_width_without_a_terminal(self):
        text = tenon("run", "--help", env=os.environ | {"COLUMNS": "50"}).stdout
        self.assertLess(max(len(line) for line in text.splitlines() if not line.startswith("  ")), 51)

    def test_rare_options_need_help_all(self):
        usual, all_of_it = tenon("run", "--help").stdout, tenon("run", "--help-all").stdout
        for option in ("--shape", "--input", "--backend", "--plugin", "--json", "--verify"):
            self.assertIn(option + " ", usual)
        for option in ("--min-block-size", "--plugin-tactic", "--check-memory", "--isolate"):
            self.assertNotIn(option + " ", usual)
            self.assertIn(option + " ", all_of_it)
        self.assertRegex(usual, r"(?m)^  --json  ")  # a flag takes no value
        more = int(re.search(r"(\d+) more options", usual)[1])
        options = re.compile(r"^  (?:-\w, )?--[\w-]+", re.M)
        self.assertEqual(len(options.findall(usual)) + more, len(options.findall(all_of_it)))

    def test_what_a_verb_is_about_is_not_rare(self):
        self.assertIn("--fallback-ops ", tenon("partition", "--help").stdout)


class WrongCalls(unittest.TestCase):
    def test_the_nearest_verb_is_suggested(self):
        for wrong, right in (("bild", "build"), ("inspct", "inspect"), ("rnu", "run")):
            found = error(wrong)
            self.assertEqual((found["name"], found["found"], found["advice"]), ("bad_usage", wrong, f"did you mean '{right}'?"))
            self.assertEqual(error("help", wrong)["advice"], f"did you mean '{right}'?")
        self.assertEqual(error("rules", "lst")["advice"], "did you mean 'list'?")
        self.assertIn("tenon help", error("xyzzy")["advice"])

    def test_the_nearest_option_is_suggested(self):
        for verb, wrong, right in (
            ("run", "--shpe=x=1x16", "--shape"),
            ("run", "--segment", "--segments"),
            ("bench", "--trheads", "--threads"),
            ("build", "--dumpplan", "--dump-plan"),
        ):
            found = error(verb, MODEL, wrong)
            self.assertEqual((found["found"], found["advice"]), (wrong, f"did you mean '{right}'?"))
        self.assertIn("tenon help run", error("run", MODEL, "--xyzzyzyx")["advice"])

    def test_bounds_of_numbers_are_short(self):
        for verb, option, value in (
            ("run", "--opt", "9"),
            ("run", "--opt", "two"),
            ("run", "--threads", "-1"),
            ("bench", "--runs", "0"),
            ("bench", "--seconds", "-3"),
            ("bench", "--seconds", "nan"),
            ("bench", "--seconds", "inf"),
            ("rewrite", "--stop-after", "-1"),
            ("run", "--call-timeout", "0"),
        ):
            with self.subTest(option=option, value=value):
                what = error(verb, MODEL, f"{option}={value}")["what"]
                self.assertRegex(what, r"to \d|or more|more than 0")
                self.assertLess(len(what), 100)
        self.assertNotRegex(" ".join(tenon(verb, "--help-all").stdout for verb in VERBS), r"\d{7}")

    def test_an_unknown_op_names_the_nearest_and_plugins(self):
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "m.onnx"
            for op, advice in (("Sofmax", "did you mean 'Softmax' for 'Sofmax'"), ("Frobnicate", "--plugin")):
                model.write_bytes(o.chain([o.node(op, ["x"], ["y"])]))
                found = error("run", model)
                self.assertEqual(found["name"], "not_supported")
                self.assertIn(advice, found["advice"])
                self.assertIn("--plugin LIB", found["advice"])


class Pages(unittest.TestCase):
    """Completion and the manual page have what the parser has."""

    def options(self, verb: str) -> set[str]:
        return set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", tenon(verb, "--help-all").stdout, re.M))

    def completed(self, *words: str) -> set[str]:
        """What bash makes of a line, the cursor after the last word."""
        script = (
            'eval "$("$1" completion bash)"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _tenon; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "-c", script, "bash", str(TENON), *words],
            cwd=ROOT / "examples",
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        self.assertEqual(done.stderr, "")
        return set(done.stdout.split())

    def test_bash_completes_verbs_options_values_and_files(self):
        self.assertEqual(self.completed("tenon", ""), set(VERBS))
        self.assertEqual(self.completed("tenon", "be"), {"bench"})
        for verb in ("run", "build", "partition"):
            self.assertLessEqual(self.options(verb), self.completed("tenon", verb, "--"))
        self.assertEqual(self.completed("tenon", "run", "x.onnx", "--precision", ""), {"f32", "bf16"})
        self.assertEqual(self.completed("tenon", "run", "ml"), {"mlp.onnx"})
        self.assertEqual(self.completed("tenon", "run", "--json", "ml"), {"mlp.onnx"})
        self.assertEqual(self.completed("tenon", "rules", "wh"), {"why"})
        self.assertIn("--most", self.completed("tenon", "rules", "why", "--"))
        self.assertEqual(self.completed("tenon", "completion", "z"), {"zsh"})
        self.assertIn("cpp", self.completed("tenon", "run", "x", "--external-data", "c"))
        self.assertEqual(self.completed("tenon", "help", "rul"), {"rules"})
        self.assertEqual(self.completed("tenon", "bench", "--vs", "=", "op"), {"openvino"})  # bash takes the sign for a word
        self.assertEqual(self.completed("tenon", "bench", "--vs", "="), {"onnxruntime", "openvino", "torch", "llama.cpp"})
        self.assertEqual(self.completed("tenon", "run", "--input", "x", "=", "ml"), {"mlp.onnx"})

    def test_zsh_and_fish_have_all_options(self):
        for shell in ("zsh", "fish"):
            text = tenon("completion", shell).stdout
            for verb in VERBS:
                for option in self.options(verb):
                    self.assertIn(f"'{option}[" if shell == "zsh" else f" -l {option[2:]}", text.replace("'*--", "'--"), (shell, verb))

    def test_the_manual_page_has_all_options(self):
        page = tenon("man").stdout
        self.assertTrue(page.startswith(".TH TENON 1"))
        for verb in VERBS:
            part = page.split(f".SS tenon {verb.replace('-', chr(92) + '-')}\n")[1].split("\n.SS")[0]
            for option in self.options(verb) - {"--help-all"}:
                self.assertIn(option.replace("-", "\\-"), part)
        for line in page.splitlines():
            self.assertTrue(not line.startswith(".") or re.match(r"\.(TH|SH|SS|TP|PP|B|I|nf|fi)\b", line), line)


if __name__ == "__main__":
    unittest.main()
