# SPDX-License-Identifier: Apache-2.0
"""What ./dev new-op, new-rule, new-backend and new-plugin write compiles, and its tests pass as they stand."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("TENON_BUILD", ROOT / "build"))
TENON = os.environ.get("TENON", str(ROOT / "build/bin/tenon"))
sys.path.insert(0, str(ROOT / "tools"))

import new_backend  # noqa: E402
import new_op  # noqa: E402
import new_plugin  # noqa: E402
import new_rule  # noqa: E402

COMPILER = [*filter(None, [shutil.which("ccache")]), "clang++-22", "-std=gnu++23", "-O0"]
LIBRARIES = [str(BUILD / f"libtenon_{name}.a") for name in ("rewrite", "ops", "plugin", "ir", "base")] + [
    "-lcrypto",
    "-lgtest",
    "-lgtest_main",
    "-lfmt",
]
CPP = ("equation", "builder", "code")


def ran(*command: object, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=500, env={**os.environ, **environment}, cwd=ROOT
    )


class Skeletons(unittest.TestCase):
    def setUp(self):
        """An empty tree, which holds only what the tools read."""
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for made in ("src/ops/shape", "src/rules", "tests/rules", "src/import"):
            (self.root / made).mkdir(parents=True)
        shutil.copy(ROOT / "src/import/onnx_schema.h", self.root / "src/import")
        shutil.copy(ROOT / "src/ops/shape/identity.cpp", self.root / "src/ops/shape")

    def tool(self, module, *words: str) -> tuple[int, str]:
        """Runs the tool in the tree; its status and what it complains of."""
        complaint = io.StringIO()
        with mock.patch.object(module, "ROOT", self.root), mock.patch.object(sys, "argv", ["tool", *words]):
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(complaint):
                return module.main(), complaint.getvalue()

    def new_rule(self, name: str, kind: str) -> None:
        self.assertEqual(self.tool(new_rule, name, "--kind", kind), (0, ""))

    def passes(self, done: subprocess.CompletedProcess) -> str:
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def compiled(self, source: Path, *options: str) -> Path:
        out = self.root / (source.stem + ".o")
        includes = [f"-I{path}" for path in (self.root / "generated", ROOT / "src", ROOT / "include", BUILD / "generated")]
        self.passes(ran(*COMPILER, "-Wall", "-Wextra", "-Werror", *includes, *options, "-c", source, "-o", out))
        return out

    def test_a_new_op(self):
        self.assertEqual(self.tool(new_op, "SomeNewOp", "shape"), (0, ""))
        self.assertEqual(self.tool(new_op, "SomeNewOp", "shape")[0], 1, "a file that is there is never overwritten")
        self.compiled(self.root / "src/ops/shape/some_new_op.cpp")

    def test_a_new_backend(self):
        self.assertEqual(self.tool(new_backend, "FarAway"), (0, ""))
        for source in ("far_away.cpp", "device/far_away.cpp"):
            text = (self.root / "src/backends/far_away" / source).read_text()
            self.assertIn('std::string_view name() const override { return "far_away"; }', text)
            self.compiled(self.root / "src/backends/far_away" / source)
        for words, status, advice in (
            (("far_away",), 1, "another name"),
            (("../up",), 2, "./dev new-backend far_away"),
            ((), 2, "./dev new-backend"),
        ):
            found, report = self.tool(new_backend, *words)
            self.assertEqual(found, status, report)
            self.assertIn(advice, report)

    def new_plugin(self, language: str, suffix: str, command: list[str], *flags: str) -> None:
        """Writes one, compiles it as its head says, without warnings, and tests it."""
        self.assertEqual(self.tool(new_plugin, "HardGate", "--language", language, "--folder", str(self.root)), (0, ""))
        source, library = self.root / f"hard_gate{suffix}", self.root / "hard_gate.so"
        self.assertIn(" ".join(command).replace("$INCLUDE", f"{self.root}/include") + "\n", source.read_text())
        words = [str(self.root / w) if w.startswith("hard_gate") else w.replace("$INCLUDE", str(ROOT / "include")) for w in command]
        self.passes(ran(*words[:1], *flags, *words[1:]))
        self.passes(ran(TENON, "plugin", "test", library, "mine::HardGate"))

    def skeletons(self) -> None:
        (self.root / "tools/skeletons").mkdir(parents=True)
        for skeleton in new_plugin.SKELETONS.values():
            shutil.copy(ROOT / "tools/skeletons" / skeleton, self.root / "tools/skeletons")

    @unittest.skipUnless(shutil.which("cc") and shutil.which("c++"), "needs a C and a C++ compiler")
    def test_a_new_plugin_is_sound_as_generated(self):
        folder = ("--folder", str(self.root))
        self.skeletons()
        shared, warnings = ["-O2", "-shared", "-fPIC", "-I$INCLUDE"], ("-Wall", "-Wextra", "-Werror")
        self.new_plugin("c", ".c", ["cc", *shared, "hard_gate.c", "-o", "hard_gate.so", "-lm"], *warnings)
        self.new_plugin("c++", ".cpp", ["c++", "-std=c++17", *shared, "hard_gate.cpp", "-o", "hard_gate.so"], *warnings)
        for words, status, advice in (
            (("HardGate",), 1, "another name"),
            (("../up",), 2, "./dev new-plugin HardGate"),
            (("Other", "--language", "cobol"), 2, "./dev new-plugin Other"),
            ((), 2, "./dev new-plugin HardGate"),
        ):
            found, report = self.tool(new_plugin, *words, *folder)
            self.assertEqual(found, status, report)
            self.assertIn(advice, report)

    @unittest.skipUnless(shutil.which("rustc"), "needs rustc")
    def test_a_new_plugin_in_rust(self):
        self.skeletons()
        command = ["rustc", "--edition", "2021", "-O", "--crate-type", "cdylib", "hard_gate.rs", "-o", "hard_gate.so"]
        self.new_plugin("rust", ".rs", command, "-D", "warnings")

    @unittest.skipUnless((BUILD / "python/tenon").exists(), "needs the Python package")
    def test_a_new_plugin_in_python(self):
        self.skeletons()
        self.assertEqual(self.tool(new_plugin, "HardGate", "--language", "python", "--folder", str(self.root)), (0, ""))
        source = self.root / "hard_gate.py"
        self.assertIn("python hard_gate.py ", source.read_text())
        environment = {**os.environ, "PYTHONPATH": str(BUILD / "python")}
        report = self.passes(subprocess.run([sys.executable, source], capture_output=True, text=True, env=environment))
        self.assertRegex(report, r"^\d+ cases: nothing was found")
        source.write_text(source.read_text().replace("return x * np.float32(scale)", "return x + np.float32(scale)"))
        done = subprocess.run([sys.executable, source], capture_output=True, text=True, env=environment)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("is not what the definition gives", done.stderr)

    def test_rules_in_cpp_pass_their_cases(self):
        names = [f"some_{kind}" for kind in CPP]
        for name, kind in zip(names, CPP):
            self.new_rule(name, kind)
        registered = self.root / "generated/tenon/rules_list.inc"  # before the build's, so that these are all the rules
        registered.parent.mkdir(parents=True)
        registered.write_text("".join(f'TENON_ENTRY(clean, {name}, "clean/{name}.cpp")\n' for name in names))
        sources = [self.root / f"src/rules/clean/{name}.cpp" for name in names] + [ROOT / "src/rules/registry/registry.cpp"]
        objects = [self.compiled(source) for source in sources]
        objects.append(self.compiled(ROOT / "tests/rules/run.cpp", f'-DTENON_TEST_DATA="{self.root}/tests/rules"'))
        self.passes(ran("clang++-22", *objects, *LIBRARIES, "-o", self.root / "test_rules"))
        said = self.passes(ran(self.root / "test_rules"))
        cases = sum((self.root / f"tests/rules/clean/{name}.tn").read_text().count("case: ") for name in names)
        self.assertGreaterEqual(cases, 3 * len(CPP))
        self.assertEqual(said.count("[       OK ] Text/RuleText.Rewrites/"), cases)

    def test_a_file_of_rules_passes_its_test(self):
        self.new_rule("some_file", "file")
        said = self.passes(ran(sys.executable, self.root / "tests/rules/some_file_test.py", TENON=TENON))
        self.assertRegex(said, r"Ran [3-9] tests")

    def test_a_rule_in_python_passes_its_test(self):
        self.new_rule("some_python", "python")
        test = self.root / "examples/rules/test_some_python.py"
        path = os.pathsep.join([str(BUILD / "python"), os.environ.get("PYTHONPATH", "")])
        self.assertRegex(
            self.passes(ran(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test, PYTHONPATH=path)), r"[3-9] passed"
        )

    def test_what_is_wrong_is_reported_and_nothing_is_written(self):
        for kind in new_rule.KINDS:
            self.new_rule("twice", kind) if kind not in ("builder", "code") else None
            status, report = self.tool(new_rule, "twice", "--kind", kind)
            self.assertEqual(status, 1, "a file that is there is never overwritten")
            self.assertIn("already", report)
        before = sorted(self.root.rglob("*"))
        for words, advice in {
            ("FoldPad",): "./dev new-rule fold_pad\n",
            ("../up", "--kind", "python"): "./dev new-rule up --kind python\n",
            ("9lives",): "./dev new-rule lives\n",
            ("json", "--kind", "python"): "./dev new-rule json_rule --kind python\n",
            ("fold_pad", "--kind", "bulider"): "--kind builder\n",
            ("fold_pad", "--stage", "fuze"): "--stage fuse\n",
            ("fold_pad", "--stage", "fuse", "--kind", "file"): "--kind equation --stage fuse\n",
            (): "./dev new-rule fold_sign, or --help for kinds and stages\n",
        }.items():
            status, report = self.tool(new_rule, *words)
            self.assertEqual(status, 2, report)
            self.assertTrue(report.endswith(f"  try:      {advice}"), report)
        self.assertEqual(sorted(self.root.rglob("*")), before)

    def test_a_family_goes_by_its_name_the_last_part_of_it_or_its_number(self):
        known = {"elementwise/cast": ["Cast"], "reduce": ["ReduceMax"], "shape": ["Reshape"]}
        said = {
            "shape": "shape",
            "cast": "elementwise/cast",
            "elementwise/cast/": "elementwise/cast",
            " 2 ": "reduce",
            "": None,
            "0": None,
            "4": None,
        }
        for word, family in said.items():
            self.assertEqual(new_op.family_of(word, known), family, word)

    def test_a_missing_family_is_prompted_for_on_a_terminal(self):
        answers = iter(["shpae", "shape"])
        with mock.patch.object(sys.stdin, "isatty", lambda: True), mock.patch("builtins.input", lambda _: next(answers)):
            self.assertEqual(self.tool(new_op, "SomeNewOp"), (0, ""))
        self.assertTrue((self.root / "src/ops/shape/some_new_op.cpp").exists())
        with mock.patch.object(sys.stdin, "isatty", lambda: True), mock.patch("builtins.input", side_effect=EOFError):
            self.assertEqual(self.tool(new_op, "AnotherOp")[0], 2)

    def test_what_is_wrong_with_an_op_is_reported_and_nothing_is_written(self):
        before = sorted(self.root.rglob("*"))
        for words, status, advice in (
            ((), 2, "./dev new-op HardSwish2 elementwise/activation, or --help for the families"),
            (("AnotherOp",), 2, "./dev new-op --help, which shows what is in each"),
            (("AnotherOp", "shpae"), 2, "./dev new-op AnotherOp shape"),
            (("9lives", "shape"), 2, "./dev new-op HardSwish FAMILY"),
            (("Identity", "shape"), 1, "another name, or edit src/ops/shape/identity.cpp"),
        ):
            got, report = self.tool(new_op, *words)
            self.assertEqual(got, status, report)
            self.assertTrue(report.endswith(f"  try:      {advice}\n"), report)
        self.assertEqual(sorted(self.root.rglob("*")), before)

    def test_names(self):
        self.assertEqual([new_op.snake(n) for n in ("HardSwish", "MatMul", "LSTM", "top_k")], ["hard_swish", "mat_mul", "lstm", "top_k"])
        self.assertEqual(new_op.camel("top_k"), "TopK")


if __name__ == "__main__":
    unittest.main()
