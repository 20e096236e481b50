# SPDX-License-Identifier: Apache-2.0
"""What fish and zsh themselves make of `tenon completion`; bash is in usage_test.py."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from small_models import ROOT, TENON, tenon

ZSHRC = """
PS1='> '
fpath=($ZDOTDIR $fpath)
autoload -Uz compinit
compinit -u -D
show_line() { print -r -- "<<$BUFFER>>" }
zle -N show_line
bindkey '^Xs' show_line
print ready
"""
# Types each argument and a tab into a shell, and prints the line that comes of it.
TYPE = """
zmodload zsh/zpty
zpty shell zsh -i
zpty -r shell answer '*ready*'
for line; do
  zpty -n -w shell $'\\x15'"$line"$'\\t\\x18s'
  zpty -r shell answer '*<<*>>*'
  print -r -- "${${answer##*<<}%%>>*}"
done
"""


class Shell(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.env = os.environ | {"PATH": f"{TENON.parent}:{os.environ['PATH']}", "TERM": "dumb", "ZDOTDIR": str(cls.folder)}

    def answers(self, *command: object) -> list[str]:
        done = subprocess.run(
            list(map(str, command)), cwd=ROOT / "examples", env=self.env, capture_output=True, text=True, check=True, timeout=120
        )
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()


@unittest.skipUnless(shutil.which("fish"), "needs fish")
class Fish(Shell):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.script = cls.folder / "tenon.fish"
        cls.script.write_text(tenon("completion", "fish").stdout)

    def completed(self, line: str) -> list[str]:
        """Without descriptions."""
        return [
            answer.split("\t")[0] for answer in self.answers("fish", "--no-config", "-c", f"source {self.script}; complete -C '{line}'")
        ]

    def test_completes_verbs_options_values_and_files(self):
        for line, answers in {
            "tenon be": ["bench"],
            "tenon --vers": ["--version"],
            "tenon rules wh": ["why"],
            "tenon rules why --mos": ["--most"],
            "tenon help rul": ["rules"],
            "tenon completion z": ["zsh"],
            "tenon bench mlp.onnx --vs o": ["onnxruntime", "openvino"],
            "tenon run ml": ["mlp.onnx"],
            "tenon run --json ml": ["mlp.onnx"],
            "tenon run mlp.onnx --external-data cp": ["cpp/"],
            "tenon run mlp.onnx --input x=ml": ["x=mlp.onnx"],
            "tenon run mlp.onnx --shape x": [],
        }.items():
            with self.subTest(line):
                self.assertEqual(self.completed(line), answers)

    def test_a_file_named_as_a_verb_is_a_file(self):
        """Options of `build` alone are not those of `run`."""
        self.assertEqual(self.completed("tenon run build --portab"), [])
        self.assertEqual(self.completed("tenon build run --portab"), ["--portable"])


@unittest.skipUnless(shutil.which("zsh"), "needs zsh")
class Zsh(Shell):
    def test_completes_verbs_options_values_and_files(self):
        (self.folder / ".zshrc").write_text(ZSHRC)
        (self.folder / "_tenon").write_text(tenon("completion", "zsh").stdout)
        lines = {
            "tenon be": "tenon bench ",
            "tenon --vers": "tenon --version ",
            "tenon rules wh": "tenon rules why ",
            "tenon rules why --mos": "tenon rules why --most ",
            "tenon help rul": "tenon help rules ",
            "tenon completion z": "tenon completion zsh ",
            "tenon bench mlp.onnx --vs op": "tenon bench mlp.onnx --vs openvino ",
            "tenon run ml": "tenon run mlp.onnx ",
            "tenon run --json ml": "tenon run --json mlp.onnx ",
            "tenon run mlp.onnx --external-data cp": "tenon run mlp.onnx --external-data cpp/",
            "tenon run mlp.onnx --input x=ml": "tenon run mlp.onnx --input x=mlp.onnx ",
            "tenon run mlp.onnx --shape x": "tenon run mlp.onnx --shape x",
            "tenon run build --portab": "tenon run build --portab",
        }
        self.assertEqual(dict(zip(lines, self.answers("zsh", "-fc", TYPE, "zsh", *lines), strict=True)), lines)


if __name__ == "__main__":
    unittest.main()
