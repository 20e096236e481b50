# SPDX-License-Identifier: Apache-2.0
"""An op, a rule, a verb or a target is one file, a backend one folder, a compile option one entry of the table: the build finds it, and it
works without a change anywhere else. A kind of step is its header and its source, and its line in the list of kinds."""

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = Path(os.environ.get("TENON_BUILD", ROOT / "build"))
COMPILER = [*filter(None, [shutil.which("ccache")]), "clang++-22", "-std=gnu++23", "-O0", "-Wall", "-Wextra", "-Werror"]

VERB = """\
#include "cli/console/console.h"
#include "cli/console/verb.h"

namespace tenon::cli::verb_say_hello {

VERB(say_hello) {
    .summary = "greet",
    .examples = "  tenon say-hello\\n",
    .setup = [](CLI::App&) -> Action {
      return [](Console& console) -> Result<void> {
        console.line("hello");
        console.object({{"said", "hello"}});
        return {};
      };
    },
};

}  // namespace tenon::cli::verb_say_hello
"""
# What asks for the targets, as every caller does.
ASKS_FOR_TARGETS = """\
#include <cstdio>
#include "codegen/target.h"

int main() {
  for (const tenon::codegen::Target* target : tenon::codegen::all_targets()) std::puts(std::string(target->name).c_str());
  return tenon::codegen::target_named("x86_third") ? 0 : 1;
}
"""
# An entry of the table of compile options, and a verb and a module of Python that have all of them.
OPTION = """\
  /// How many goats there are.
  TENON_OPTION(cli, group = "Goats", python, torch, compiler, least = 1, most = 12)
  int goats = 3;

"""
OPTION_VERB = """\
#include <memory>

#include "cli/console/console.h"
#include "cli/console/verb.h"
#include "cli/options/table_options.h"
#include "tenon/compile_options.h"

namespace tenon::cli::verb_count_goats {

VERB(count_goats) {
    .summary = "count",
    .examples = "  tenon count-goats\\n",
    .setup = [](CLI::App& app) -> Action {
      auto options = std::make_shared<compiler::ScalarOptions>();
      add_scalar_options(app, *options, false);
      return [options](Console& console) -> Result<void> {
        console.line(std::to_string(options->goats) + " of " + std::to_string(tenon::CompileOptions{}.goats));
        return {};
      };
    },
};

}  // namespace tenon::cli::verb_count_goats
"""
OPTION_MODULE = """\
#include <stdexcept>

#include "engine_values.h"
#include "option_arguments.h"

void tenon_python::raise(const tenon::Error& error) { throw std::runtime_error(error.place); }

NB_MODULE(goats, m) {
  m.def("count", [](const nanobind::kwargs& given) {
    tenon::CompileOptions options;
    tenon_python::read_options("count", given, false, options);
    return options.goats;
  }, nanobind::arg("options"));
}
"""
NOTHING_STEP = """\
#pragma once
#include "runtime/step_kind.h"

namespace tenon::runtime {

struct NothingStep {
  static constexpr uint32_t kNumber = 1000;
  static constexpr std::string_view kName = "nothing";
  uint32_t number = 0;
  void write(protozero::pbf_writer& to) const;
  bool read(WireReader& from);
  bool is_sound(const Step& step, const Program& program, const ProgramTable& table) const;
  std::unique_ptr<StepRunner> runner(const Step& step, const Values& values) const;
};

}  // namespace tenon::runtime
"""
NOTHING_SOURCE = """\
#include <cstdio>

#include "runtime/program_table.h"
#include "runtime/run/values.h"

namespace tenon::runtime {

void NothingStep::write(protozero::pbf_writer& to) const { to.add_uint32(100, number); }
bool NothingStep::read(WireReader& from) {
  if (from.tag() != 100) return false;
  number = from.get_uint32();
  return true;
}
bool NothingStep::is_sound(const Step&, const Program&, const ProgramTable&) const { return number < 10; }

namespace {
struct Nothing : StepRunner {
  Result<void> run(Values&, const RunOptions&, int threads) override {
    std::printf("ran on %d\\n", threads);
    return {};
  }
};
}  // namespace

std::unique_ptr<StepRunner> NothingStep::runner(const Step&, const Values&) const { return std::make_unique<Nothing>(); }

}  // namespace tenon::runtime
"""
# Encodes, decodes and checks a program with such a step, and makes and calls its runner, as a frame does for every kind.
USES_NOTHING = """\
#include "runtime/program_table.h"
#include "runtime/run/values.h"

int main() {
  using namespace tenon::runtime;
  Program program;
  program.steps.resize(1);
  program.steps[0].kind = NothingStep{10};
  if (decode(encode(program))) return 1;  // its own check
  program.steps[0].kind = NothingStep{7};
  const auto table = decode(encode(program));
  if (!table) return 2;
  const Step& step = (*table)[0].steps[0];
  if (!is<NothingStep>(step) || as<NothingStep>(step)->number != 7 || name_of(step.kind) != "nothing") return 3;
  alignas(Values) static std::byte memory[sizeof(Values)];
  Values& values = reinterpret_cast<Values&>(memory);
  const auto runner = std::visit([&](const auto& kind) { return kind.runner(step, values); }, step.kind);
  return runner->run(values, RunOptions(), 3) ? 0 : 4;
}
"""
PROJECT = """\
cmake_minimum_required(VERSION 3.25)
project(tree NONE)
include({root}/cmake/floors.cmake)
{listing}
"""


FLOORS = [BUILD / f"libtenon_{floor}.a" for floor in ("base", "files", "plugin", "ir", "ops", "import")]
LIBRARIES = ["-lfmt", "-lxxhash", "-lz", "-lcrypto", "-ldl"]
PAGES = ("page", "graphviz")  # no part of the parser


class OneFile(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def passes(self, *command: object) -> str:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300, cwd=self.root)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def listed(self, folder: str, macro: str = r"\w+", more: str = "") -> list[str]:
        """The lines that the build's listing of the folder has for what lies there now. more: what is configured beside it."""
        listing, written = re.search(
            rf"^(tenon_list\({folder} {macro} (\S+\.inc).*\))$", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE
        ).groups()
        (self.root / "CMakeLists.txt").write_text(PROJECT.format(root=ROOT, listing=listing + "\n" + more))
        self.passes("cmake", "-S", self.root, "-B", self.root / "build")
        return (self.root / "build/generated" / written).read_text().splitlines()

    def grows_by(self, file: str, text: str, entry: str) -> None:
        """With the file beside those that there are, the listing has one line more, and the others as before."""
        floor = "/".join(file.split("/")[:2])
        folder = floor if floor in ("src/ops", "src/rules") else file.rpartition("/")[0]
        shutil.copytree(ROOT / folder, self.root / folder)
        before = self.listed(folder)
        (self.root / file).write_text(text)
        self.assertEqual(self.listed(folder), sorted([*before, entry], key=lambda line: re.findall(r"\w+", line)[::-1]))
        self.assertGreater(len(before), 1)

    def program(self, *parts: str, link: tuple[str | Path, ...] = ()) -> Path:
        """The sources as one unit, as the build has them, with the listings of this tree; linked with FLOORS alone."""
        unit, out = self.root / "unit.cpp", self.root / "program"
        unit.write_text("".join(f'#include "{part}"\n' for part in parts))
        self.passes(*COMPILER, *self.includes(), "-c", unit, "-o", out.with_suffix(".o"))
        self.passes("clang++-22", out.with_suffix(".o"), "-Wl,--start-group", *link, *FLOORS, "-Wl,--end-group", *LIBRARIES, "-o", out)
        return out

    def includes(self) -> list[str]:
        folders = (self.root / "build/generated", self.root / "src", self.root / "include", ROOT / "src", ROOT / "include")
        return [f"-I{folder}" for folder in folders]

    def module(self, name: str, text: str, *parts: str) -> Path:
        """The folder of an extension module of Python; parts: sources below ROOT."""
        (self.root / f"{name}.cpp").write_text(text)
        nanobind = Path(self.passes(sys.executable, "-m", "nanobind", "--include_dir").strip())
        folders = (nanobind, sysconfig.get_path("include"), ROOT / "python")
        defines = ["-DNB_BACKEND_MODULE=nanobind_backend", "-DNB_BACKEND_PYPI=nanobind-backend", "-DPy_LIMITED_API=0x30a0000"]
        options = [
            "-fPIC",
            "-fno-stack-protector",
            "-Wno-unused-parameter",
            *defines,
            *self.includes(),
            *(f"-isystem{folder}" for folder in folders),
        ]
        objects = []
        for source in (self.root / f"{name}.cpp", *(ROOT / part for part in parts)):
            objects.append(self.root / f"{source.stem}.module.o")
            self.passes(*COMPILER, *options, "-c", source, "-o", objects[-1])
        out = self.root / f"{name}.abi3.so"
        self.passes("clang++-22", "-shared", *objects, "-Wl,--start-group", *FLOORS, "-Wl,--end-group", *LIBRARIES, "-o", out)
        return out.parent

    def test_an_op(self):
        text = (ROOT / "src/ops/shape/identity.cpp").read_text().replace("identity", "some_new_op")
        self.grows_by("src/ops/shape/some_new_op.cpp", text, "TENON_ENTRY(some_new_op)")

    def test_a_rule(self):
        text = (ROOT / "src/rules/clean/types/cast.cpp").read_text().replace("clean_cast", "fuse_some_new_rule")
        self.grows_by("src/rules/fuse/some_new_rule.cpp", text, 'TENON_ENTRY(fuse, some_new_rule, "fuse/some_new_rule.cpp")')

    def test_a_verb(self):
        self.grows_by("src/cli/verbs/say_hello.cpp", VERB, "TENON_ENTRY(say_hello)")
        for other in (self.root / "src/cli/verbs").iterdir():  # what those need is the whole compiler
            if other.stem != "say_hello":
                other.unlink()
        self.assertEqual(self.listed("src/cli/verbs"), ["TENON_ENTRY(say_hello)"])
        tenon = self.program(
            "cli/main.cpp",
            "cli/run.cpp",
            *(f"cli/console/{path.name}" for path in sorted((ROOT / "src/cli/console").glob("*.cpp")) if path.stem not in PAGES),
            "cli/verbs/say_hello.cpp",
        )
        self.assertEqual(self.passes(tenon, "say-hello"), "hello\n")
        self.assertIn('"said": "hello"', self.passes(tenon, "say-hello", "--json"))
        self.assertIn("tenon say-hello", self.passes(tenon, "say-hello", "--help"))

    def test_an_option(self):
        table = (ROOT / "include/tenon/compile_options.h").read_text(encoding="utf-8")
        (self.root / "include/tenon").mkdir(parents=True)
        start = table.index("struct CompileOptions {\n") + len("struct CompileOptions {\n")
        (self.root / "include/tenon/compile_options.h").write_text(table[:start] + OPTION + table[start:], encoding="utf-8")
        call = re.search(r"^tenon_options\(.*\)$", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE).group()
        (self.root / "src/cli/verbs").mkdir(parents=True)
        (self.root / "src/cli/verbs/count_goats.cpp").write_text(OPTION_VERB)
        for verb in ("completion", "man"):
            shutil.copy(ROOT / f"src/cli/verbs/{verb}.cpp", self.root / "src/cli/verbs")
        self.listed("src/cli/verbs", more=call)
        tenon = self.program(
            "cli/main.cpp",
            "cli/run.cpp",
            *(f"cli/console/{path.name}" for path in sorted((ROOT / "src/cli/console").glob("*.cpp")) if path.stem not in PAGES),
            "cli/options/table_options.cpp",
            "compiler/options/option_table.cpp",
            *(f"cli/verbs/{verb}.cpp" for verb in ("completion", "count_goats", "man")),
        )
        self.assertRegex(
            self.passes(tenon, "count-goats", "--help"), r"Goats:\n +--goats N +how many goats there are \(1 to 12; default: 3\)\n"
        )
        self.assertIn("--goats", self.passes(tenon, "completion", "bash"))
        self.assertIn("goats", self.passes(tenon, "man"))
        self.assertEqual(self.passes(tenon, "count-goats", "--goats", 12), "12 of 3\n")
        wrong = subprocess.run([tenon, "count-goats", "--goats", "13"], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("--goats", wrong.stderr)
        stub = ast.parse((self.root / "build/python/tenon/_options.pyi").read_text(encoding="utf-8"))
        keys = {
            node.name: [ast.unparse(key) for key in node.body if isinstance(key, ast.AnnAssign)]
            for node in stub.body
            if isinstance(node, ast.ClassDef)
        }
        self.assertIn("goats: int", keys["PartitionOptions"])  # tenon.compile has them too
        self.assertIn("goats: int", keys["EngineOptions"])
        folder = self.module(
            "goats", OPTION_MODULE, "python/option_arguments.cpp", "python/plugins/timeout.cpp", "src/compiler/options/option_table.cpp"
        )
        use = (
            "import goats\nprint(goats.count(), goats.count(goats=5))\ntry: goats.count(goats='5')\nexcept TypeError as error: print(error)"
        )
        said = self.passes("env", f"PYTHONPATH={folder}", sys.executable, "-c", use)
        self.assertEqual(said, "3 5\ncount(): goats must be int, found str\n")

    def test_a_backend(self):
        shutil.copytree(ROOT / "src/backends", self.root / "src/backends")
        before = {macro: self.listed("src/backends", macro) for macro in ("BACKEND", "DEVICE")}
        self.assertEqual(before["BACKEND"], [f"TENON_ENTRY({name})" for name in ("cpu", "onnxruntime", "openvino", "plugin", "reference")])
        shutil.copytree(ROOT / "tests/backends/null", self.root / "src/backends/null")  # test_compiler runs it
        for macro, entries in before.items():
            self.assertEqual(self.listed("src/backends", macro), sorted([*entries, "TENON_ENTRY(null)"]))
        lines = [path.read_text().count("\n") for path in (ROOT / "tests/backends/null").rglob("*.cpp")]
        self.assertLess(sum(lines), 60)

    def test_a_target(self):
        text = (ROOT / "src/codegen/targets/x86_avx2.cpp").read_text().replace("x86_avx2", "x86_third").replace(".tag = 1", ".tag = 77")
        self.grows_by("src/codegen/targets/x86_third.cpp", text, "TENON_ENTRY(x86_third)")
        (self.root / "asks.cpp").write_text(ASKS_FOR_TARGETS)
        names = sorted(path.stem for path in (self.root / "src/codegen/targets").glob("*.cpp"))
        sources = [f"codegen/targets/{name}.cpp" for name in names]
        self.assertEqual(self.passes(self.program("codegen/target.cpp", *sources, "asks.cpp")).split(), names)

    def test_a_kind_of_step(self):
        folder = self.root / "src/runtime"
        (folder / "run").mkdir(parents=True)
        listed = (ROOT / "src/runtime/step.h").read_text()
        last = '#include "runtime/segment_step.h"\n'
        with_nothing = listed.replace(last, last + '#include "runtime/nothing_step.h"\n').replace("RowsStep>;", "RowsStep, NothingStep>;")
        self.assertEqual(with_nothing.count("othing"), listed.count("othing") + 2)
        (folder / "step.h").write_text(with_nothing)
        (folder / "nothing_step.h").write_text(NOTHING_STEP)
        (folder / "run/nothing_step.cpp").write_text(NOTHING_SOURCE)
        (self.root / "src/uses_nothing.cpp").write_text(USES_NOTHING)
        parts = ("program_fields", "program_table", "program_table_fields", "program_check", "program_table_check", "run/nothing_step")
        # The rest of the floor as it was built, without the kind: where both define a function, the first one counts.
        link = ("-Wl,--allow-multiple-definition", BUILD / "libtenon_runtime.a", BUILD / "libtenon_engine.a")
        program = self.program(*(f"runtime/{part}.cpp" for part in parts), "uses_nothing.cpp", link=link)
        self.assertEqual(self.passes(program), "ran on 3\n")


if __name__ == "__main__":
    unittest.main()
