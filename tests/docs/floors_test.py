# SPDX-License-Identifier: Apache-2.0
"""tools/check/floors.py finds what is out of place, and nothing else."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/check"))

import floors  # noqa: E402


def problems(path: str, include: str) -> list[str]:
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / path
        file.parent.mkdir(parents=True)
        file.write_text(f"// a line\n#include {include}\n", encoding="utf-8")
        return floors.problems_of(file, Path(name))


class Floors(unittest.TestCase):
    def test_lower_floors_and_libraries_may_be_included(self):
        for path, include in [
            ("src/rules/a.cpp", '"ops/core/op.h"'),
            ("src/rules/a.cpp", '"rules/helpers/shapes.h"'),
            ("src/ir/a.cpp", "<vector>"),
            ("src/ops/core/registry.cpp", '"tenon/ops_list.inc"'),
            ("src/backends/cpu/cpu.cpp", '"backends/cpu/device/x.h"'),
            ("src/backends/reference/device/a.cpp", '"ops/core/op.h"'),
            ("src/codegen/llvm/a.cpp", "<llvm/IR/IRBuilder.h>"),
            ("src/compiler/a.cpp", '"backends/cpu/cpu.h"'),
            ("src/api/state.h", '"tenon/tenon.h"'),
            ("src/api/full/compile.cpp", '"compiler/compile.h"'),
            ("src/compiler/a.cpp", '"plugin/public/plugins.h"'),
            ("src/runtime/a.cpp", '"plugin/saved.h"'),
        ]:
            self.assertEqual(problems(path, include), [], f"{path} {include}")

    def test_up_and_sideways_are_found(self):
        for path, include in [
            ("src/base/a.h", '"ir/graph.h"'),
            ("src/ir/a.cpp", '"files/npy.h"'),
            ("src/codegen/a.cpp", '"rewrite/rule.h"'),
            ("src/import/a.cpp", '"passes/pass.h"'),
            ("src/backends/cpu/a.cpp", '"backends/reference/device/reference.h"'),
            ("src/codegen/a.cpp", "<llvm/IR/IRBuilder.h>"),
            ("src/nowhere/a.cpp", "<vector>"),
            ("src/compiler/a.cpp", '"plugin/saved.h"'),
            ("src/cli/verbs/a.cpp", '"plugin/host.h"'),
        ]:
            self.assertEqual(len(problems(path, include)), 1, f"{path} {include}")

    def test_the_run_side_includes_no_compiler(self):
        for path, include in [
            ("src/runtime/a.cpp", '"ir/graph.h"'),
            ("src/backends/cpu/device/a.cpp", '"ops/core/op.h"'),
            ("src/backends/cpu/device/a.cpp", '"backends/cpu/cpu.h"'),
            ("src/backends/reference/device/a.cpp", '"codegen/plan/plan.h"'),
            ("src/api/engine.cpp", '"compiler/compile.h"'),
            ("include/tenon/tenon.h", '"base/dtype.h"'),
            ("src/cli/a.cpp", '"api/state.h"'),
        ]:
            self.assertEqual(len(problems(path, include)), 1, f"{path} {include}")

    def test_the_tree_keeps_to_them(self):
        self.assertEqual([p for s in floors.sources(ROOT) for p in floors.problems_of(s, ROOT)], [])


if __name__ == "__main__":
    unittest.main()
