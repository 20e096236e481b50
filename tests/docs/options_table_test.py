# SPDX-License-Identifier: Apache-2.0
"""The table of compile options: the struct that it is, read by tools/make_options.py, and what is refused in it."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = (ROOT / "include/tenon/compile_options.h").read_text(encoding="utf-8")
ENTRY = "  /// Documentation.\n  TENON_OPTION({})\n  {};\n"


class OptionsTable(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def made(self, table: str) -> subprocess.CompletedProcess:
        (self.root / "table.h").write_text(table, encoding="utf-8")
        command = [sys.executable, ROOT / "tools/make_options.py", "table.h", "out.inc", "out.pyi"]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True)

    def lines_of(self, entry: str) -> str:
        done = self.made("struct CompileOptions {\n" + entry + "};\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        return (self.root / "out.inc").read_text(encoding="utf-8")

    def test_every_field_with_a_mark_is_a_row(self):
        self.assertEqual(self.made(TABLE).returncode, 0)
        rows = re.findall(r'^TENON_OPTION_ROW\(\.name = "([\w.]+)"', (self.root / "out.inc").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(len(rows), len(re.findall(r"^  TENON_OPTION\(", TABLE, re.MULTILINE)))
        self.assertIn("libraries.custom_ops", rows)
        self.assertEqual(len(set(rows)), len(rows))

    def test_flags_follow_from_names(self):
        self.assertIn('.flag = "--two-words", .value = ""', self.lines_of(ENTRY.format("cli", "bool two_words = false")))
        self.assertIn('.flag = "--no-two-words"', self.lines_of(ENTRY.format("cli, pass", "bool two_words = true")))
        self.assertIn('.flag = "--two", .value = "N"', self.lines_of(ENTRY.format('cli = "--two N"', "int two_words = 0")))

    def test_what_the_table_does_not_have_is_refused_by_name(self):
        for marks, field, said in (
            ("cli, paython", "int x = 0", "option 'x': attribute 'paython' is none of cli, compiler"),
            ("least = low", "int x = 0", "option 'x': cannot read the attributes from 'least = low'"),
            ('least = "1"', "int x = 0", "option 'x': attribute 'least' is none of advice"),
            ("python", "std::set<int> x = {}", "option 'x': type std::set<int> is none of bool"),
            ("cli", "int x, y = 0", "an option is no doc comment"),
        ):
            done = self.made("struct CompileOptions {\n" + ENTRY.format(marks, field) + "};\n")
            self.assertEqual(done.returncode, 1, marks)
            self.assertIn(said, done.stderr)

    def test_an_option_without_documentation_is_refused(self):
        done = self.made("struct CompileOptions {\n  TENON_OPTION(cli)\n  int x = 0;\n};\n")
        self.assertIn("option 'x' has no documentation", done.stderr)

    def test_enumerators_that_do_not_count_from_0_are_refused(self):
        done = self.made("enum class E : uint8_t { a = 1, b = 2 };\nstruct CompileOptions {\n" + ENTRY.format("cli", "E x = E::a") + "};\n")
        self.assertIn("enum 'E': the values are not 0, 1, ...", done.stderr)


if __name__ == "__main__":
    unittest.main()
