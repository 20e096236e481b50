# SPDX-License-Identifier: Apache-2.0
"""Every snippet of README and docs is true: commands run, code is quoted from a file that is built, Python runs."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
BUILD = Path(os.environ.get("TENON_BUILD", ROOT / "build"))
BLOCK = re.compile(r"^(<!-- from \S+[^\n]*-->\n)?```(\w*)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
sys.path.insert(0, str(ROOT / "tools"))

import make_docs  # noqa: E402


def blocks(language: str, quotation: str = "<!-- from ") -> list[tuple[str, bool, str]]:
    """(page, does it stand behind such a line, text)"""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = [(str(p.relative_to(ROOT)), m) for p in pages for m in BLOCK.finditer(p.read_text(encoding="utf-8"))]
    return [(page, bool(re.match(quotation, m.group(1) or "")), m.group(3)) for page, m in found if m.group(2) == language]


class Snippets(unittest.TestCase):
    def test_commands_of_tenon_run(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for name in ("examples", "include"):
                shutil.copytree(ROOT / name, folder / name)
            programs = {"tenon": str(TENON), "build/bin/tenon": str(TENON), "cc": "cc"}
            ran = 0
            for page, _, text in blocks("sh"):
                for line in text.replace("\\\n", " ").splitlines():
                    command = shlex.split(line, comments=True)
                    if not command or command[0] not in programs:
                        continue
                    done = subprocess.run([programs[command[0]], *command[1:]], cwd=folder, capture_output=True, text=True, timeout=120)
                    self.assertEqual(done.returncode, 0, f"{page}: {line}\n{done.stdout}{done.stderr}")
                    ran += 1
            self.assertGreater(ran, 0)

    def test_verbs_of_dev_exist(self):
        report = subprocess.run([str(ROOT / "dev"), "help"], capture_output=True, text=True, check=True).stdout
        verbs = set(re.findall(r"^ *\./dev ([\w-]+)", report, re.MULTILINE))
        for page, _, text in blocks("sh"):
            for verb in re.findall(r"^\./dev ([\w-]+)", text, re.MULTILINE):
                self.assertIn(verb, verbs, page)

    def test_cpp_is_quoted_from_files_that_are_built(self):
        for page, quotation, text in blocks("cpp"):
            self.assertTrue(quotation, f"{page} has C++ of its own; quote a file instead:\n{text}")

    def test_quotations_are_fresh(self):
        for path, text in make_docs.pages().items():
            self.assertEqual(path.read_text(encoding="utf-8"), text, f"{path.relative_to(ROOT)}: ./dev docs writes it")

    def test_python_runs(self):
        for page, runs_there, text in blocks("python", r"<!-- from (?:(?:\w+/)*tests|python/tenon)/"):
            if runs_there:
                continue
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(BUILD / "python"), os.environ.get("PYTHONPATH", "")])}
            done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, env=environment, timeout=120)
            self.assertEqual(done.returncode, 0, f"{page}:\n{text}\n{done.stderr}")


if __name__ == "__main__":
    unittest.main()
