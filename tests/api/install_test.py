# SPDX-License-Identifier: Apache-2.0
"""The installed package: found by find_package, small, exports the API alone; the C and C++ examples are built against it and run."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/nn"))
from checkpoint_files import write_language_model  # noqa: E402

BUILD = Path(os.environ.get("TENON_BUILD", ROOT / "build"))
MOST_BYTES = 1_500_000
MOST_LANGUAGE_BYTES = 4_000_000  # with PCRE2 and the tables of utf8proc

# A program that links the library: engine, plugin.
ISOLATED = """
#include <tenon/tenon.h>
#include <cstdio>
int main(int, char** words) {
  const auto engine = tenon::Engine::load(words[1], {.plugins = {words[2]}, .isolate_plugins = true});
  if (!engine) return std::fputs(engine.error().text().c_str(), stderr), 1;
  const auto ran = engine->run(std::vector{tenon::Array({1, 8}, std::vector<float>(8))});
  if (!ran) return std::fputs(ran.error().text().c_str(), stderr), 2;
  std::puts("it ran");
}
"""


def run(*command: object, cwd: Path | None = None) -> str:
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise AssertionError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        run("cmake", "--install", BUILD, "--prefix", cls.folder / "tree", "--component", "tenon")
        cls.libraries = next((cls.folder / "tree").rglob("libtenon_run.so")).parent

    def test_the_examples_are_built_and_run(self):
        source, build = ROOT / "examples/cpp", self.folder / "build"
        run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.folder / 'tree'}", "-DCMAKE_CXX_COMPILER=clang++-22")
        run("cmake", "--build", build)
        shutil.copy(ROOT / "examples/mlp.onnx", self.folder)
        compiled = run(build / "classify", "mlp.onnx", cwd=self.folder)
        loaded = run(build / "run_only", "mlp.tenon", cwd=self.folder)
        self.assertRegex(compiled, r"^y\[0\] = 0\.\d{4}\n$")
        self.assertEqual(compiled, loaded)
        self.assertRegex(
            run(build / "graph", "mlp.onnx", cwd=self.folder), r"^takes x\n4 nodes\ngraph mlp\(x: f32\[batch,16\]\) \{\n(.*\n)*\}\n$"
        )

    def test_the_language_example_answers_as_the_command_line_does(self):
        source, build, model = ROOT / "examples/cpp", self.folder / "answering", self.folder / "model"
        model.mkdir()
        write_language_model(model)
        engine = self.folder / "model.tenon"
        program = self.folder / "tree/bin/tenon"
        run(program, "build", model, "--context", 300, "-o", engine)
        run("cmake", "-S", source, "-B", build, f"-DCMAKE_PREFIX_PATH={self.folder / 'tree'}", "-DCMAKE_CXX_COMPILER=clang++-22")
        run("cmake", "--build", build, "--target", "answer")
        answer = run(build / "answer", engine, "hello")
        self.assertEqual(answer, run(program, "chat", engine, "--ask", "hello", "--temperature", 0, "-n", 200))
        done = subprocess.run([build / "answer", ROOT / "examples/mlp.onnx", "hello"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("mlp.onnx", done.stderr)

    def test_the_c_example_gives_the_result_of_the_command_line(self):
        tree, engine = self.folder / "tree", self.folder / "c.tenon"
        run(tree / "bin/tenon", "build", ROOT / "examples/mlp.onnx", "-o", engine)
        answers = set()
        for name in ("tenon", "tenon_run"):
            links = ["-L", self.libraries, f"-l{name}", f"-Wl,-rpath,{self.libraries}"]
            warnings = ("-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror")
            run("cc", *warnings, "-I", tree / "include", ROOT / "examples/c/run.c", *links, "-o", self.folder / "run")
            answers.add(run(self.folder / "run", engine))
        self.assertEqual(len(answers), 1)
        self.assertRegex(answers.pop(), r"^y\[0\] = 0\.\d{4}\n$")
        done = subprocess.run([self.folder / "run", self.folder / "none.tenon"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.tenon", done.stderr)

    def test_c_headers_share_no_names(self):
        source = self.folder / "both.c"
        source.write_text("#include <tenon/plugin.h>\n#include <tenon/runtime.h>\n")
        for language in (("cc", "-std=c11"), ("c++", "-std=c++11", "-x", "c++")):
            run(*language, "-pedantic", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I", self.folder / "tree/include", source)

    def test_shells_man_and_other_engines_find_their_files(self):
        tree = self.folder / "tree/share"
        for page, text in (
            ("man/man1/tenon.1", ".SS tenon run"),
            ("bash-completion/completions/tenon", "complete -o filenames -F _tenon tenon"),
            ("zsh/site-functions/_tenon", "#compdef tenon"),
            ("fish/vendor_completions.d/tenon.fish", "complete -c tenon"),
            ("tenon/peer_bench.py", "import torch_peer"),
            ("tenon/torch_peer.py", "def load("),
        ):
            self.assertIn(text, (tree / page).read_text(encoding="utf-8"))

    def test_plugins_need_its_headers_alone(self):
        headers, out = ("-I", self.folder / "tree/include"), self.folder / "swish.so"
        run("cc", "-shared", "-fPIC", *headers, ROOT / "examples/plugins/swish.c", "-o", out, "-lm")
        self.assertIn(" tenon_plugin_library", run("nm", "-D", "--defined-only", out))
        for header in ("plugin.hpp", "trt.hpp"):
            source = self.folder / "headers.cpp"
            source.write_text(f"#include <tenon/{header}>\n")
            run("c++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", *headers, source)

    def test_isolated_plugins_find_their_program(self):
        tree, library, program = self.folder / "tree", self.folder / "swish.so", self.folder / "isolated"
        run("cc", "-shared", "-fPIC", "-I", tree / "include", ROOT / "examples/plugins/swish.c", "-o", library, "-lm")
        run(tree / "bin/tenon", "build", ROOT / "examples/plugins/model.onnx", "--plugin", library, "-o", self.folder / "swish.tenon")
        source = program.with_suffix(".cpp")
        source.write_text(ISOLATED)
        for name in ("tenon", "tenon_run"):
            links = ["-L", self.libraries, f"-l{name}", f"-Wl,-rpath,{self.libraries}"]
            run("clang++-22", "-std=c++23", "-I", tree / "include", source, "-o", program, *links)
            self.assertEqual(run(program, self.folder / "swish.tenon", library), "it ran\n")
        worker = tree / "bin/tenon-plugin-worker"
        hidden = worker.rename(worker.with_suffix(".gone"))
        try:
            for subject in ([program, self.folder / "swish.tenon", library], self.isolated_run(tree, library)):
                done = subprocess.run([str(word) for word in subject], capture_output=True, text=True)
                self.assertEqual(done.returncode, 1)
                for words in ("the program that runs plugins in a process of their own is not there", str(worker), "install it with Tenon"):
                    self.assertIn(words, done.stdout + done.stderr)
        finally:
            hidden.rename(worker)
        run(*self.isolated_run(tree, library))

    def isolated_run(self, tree: Path, library: Path) -> list:
        return [tree / "bin/tenon", "run", self.folder / "swish.tenon", "--plugin", library, "--isolate-plugins"]

    def test_the_run_side_is_small_and_alone(self):
        for name, most in (("libtenon_run.so", MOST_BYTES), ("libtenon_llm.so", MOST_LANGUAGE_BYTES)):
            stripped = self.folder / "stripped.so"
            run("strip", "-o", stripped, self.libraries / name)
            self.assertLess(stripped.stat().st_size, most, name)
            needed = run("readelf", "-d", self.libraries / name)
            for library in ("LLVM", "protobuf", "pcre2", "utf8proc"):
                self.assertNotIn(library, needed)

    def test_only_the_api_is_exported(self):
        header = (self.folder / "tree/include/tenon/runtime.h").read_text(encoding="utf-8")
        functions = sorted(re.findall(r"^TENON_C_API [^(;]*?(\w+)\(", header, re.MULTILINE))
        self.assertGreater(len(functions), 30)
        for name in ("libtenon.so", "libtenon_run.so", "libtenon_llm.so"):
            symbols = run("nm", "-D", "--defined-only", "--format=posix", self.libraries / name).splitlines()
            self.assertTrue(symbols)
            seen = [s.split()[0] for s in symbols if s.split()[1].isupper()]
            foreign = [s for s in seen if not s.startswith(("_ZN5tenon2v1", "_ZNK5tenon2v1"))]
            self.assertEqual(sorted(foreign), functions, name)


if __name__ == "__main__":
    unittest.main()
