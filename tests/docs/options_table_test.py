# SPDX-License-Identifier: Apache-2.0
"""The table of compile options: the struct that it is, read by tools/make_options.py, and what is refused in it."""

import ast
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TABLE = (ROOT / "include/tenon/compile_options.h").read_text(encoding="utf-8")
ENTRY = "  /// Documentation.\n  TENON_OPTION({})\n  {};\n"
# An option of each kind, and all that is written for them.
SMALL_TABLE = """\
enum class Kind : uint8_t { first = 0, second = 1, third = 2 };
struct Inner {
  /// Files of it.
  TENON_OPTION(cli = "--file F", group = "Files", python = "inner_files")
  std::vector<std::string> files = {};
};
struct CompileOptions {
  /// How much.
  TENON_OPTION(cli, python, torch, compiler, running, least = 0, problem = "too little", advice = "take 1")
  int much = 3;

  /// Which kind.
  TENON_OPTION(cli, python, compiler = "inner::Kind")
  Kind kind = Kind::second;

  /// Whether it is fast.
  TENON_OPTION(cli, python, pass, saving)
  bool fast = true;

  /// How long.
  TENON_OPTION(python, python_docs = "How many seconds.")
  std::chrono::milliseconds time{2'500};

  Inner inner = {};
};
"""
SMALL_LINES = """\
BOUNDED_OPTION(much)
OPTION_ROW(.name = "much", .flag = "--much", .value = "", .help = "how much", .scalar = true, .running = true, .least = 0, \
.problem = "too little", .advice = "take 1")
OPTION_ROW(.name = "kind", .flag = "--kind", .value = "", .help = "which kind", .choices = "first second third", .scalar = true)
OPTION_ROW(.name = "fast", .flag = "--no-fast", .value = "", .help = "whether it is fast", .scalar = true, .saving = true)
OPTION_ROW(.name = "time", .flag = "", .value = "", .help = "how long")
OPTION_ROW(.name = "inner.files", .flag = "--file", .value = "F", .help = "files of it", .group = "Files")
PASS_OPTION(fast)
PYTHON_OPTION(much, much, "int", false)
PYTHON_OPTION(kind, kind, "Literal[\\"first\\", \\"second\\", \\"third\\"]", false)
PYTHON_OPTION(fast, fast, "bool", true)
PYTHON_OPTION(time, time, "float", false)
PYTHON_OPTION(inner_files, inner.files, "Sequence[str]", false)
PYTHON_SIGNATURE(compile, "def compile(model: object, *, much: int = 3, \
kind: Literal[\\"first\\", \\"second\\", \\"third\\"] = \\"second\\", \
fast: bool = True, time: float = 2.5, inner_files: Sequence[str] = ()) -> Engine")
PYTHON_SIGNATURE(partition, "def partition(model: object, *, much: int = 3, \
kind: Literal[\\"first\\", \\"second\\", \\"third\\"] = \\"second\\", \
time: float = 2.5, inner_files: Sequence[str] = (), dry_run: bool = False) -> dict")
SAME_ENUMERATOR(Kind, inner::Kind, first)
SAME_ENUMERATOR(Kind, inner::Kind, second)
SAME_ENUMERATOR(Kind, inner::Kind, third)
SCALAR_OPTION(int, much, 3)
SCALAR_OPTION(inner::Kind, kind, inner::Kind::second)
SCALAR_OPTION(bool, fast, true)
TORCH_OPTION(much)
"""


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

    def test_each_mark_writes_its_lines(self):
        self.assertEqual(self.made(SMALL_TABLE).stderr, "")
        lines = (self.root / "out.inc").read_text(encoding="utf-8").splitlines(keepends=True)
        self.assertEqual("".join(line.removeprefix("TENON_") for line in lines if line.startswith("TENON_")), SMALL_LINES)

    def test_the_stub_has_the_types_and_the_documentation(self):
        self.made(SMALL_TABLE)
        stub = ast.parse((self.root / "out.pyi").read_text(encoding="utf-8"))
        classes = {node.name: node.body[1:] for node in stub.body if isinstance(node, ast.ClassDef)}
        found = {name: [n.value.value if isinstance(n, ast.Expr) else ast.unparse(n) for n in body] for name, body in classes.items()}
        much = ["much: int", "How much. Default: 3."]
        kind = ["kind: Literal['first', 'second', 'third']", 'Which kind. Default: "second".']
        time = ["time: float", "How many seconds. Default: 2.5."]
        files = ["inner_files: Sequence[str]", "Files of it. Default: ()."]
        fast = ["fast: bool", "Whether it is fast. Default: True."]
        self.assertEqual(found, {"PartitionOptions": much + kind + time + files, "CompileOptions": fast, "EngineOptions": much})

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
