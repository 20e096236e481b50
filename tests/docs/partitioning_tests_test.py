# SPDX-License-Identifier: Apache-2.0
"""Each test that docs/partitioning-tests.md names is there."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NAMED = re.compile(r"`([A-Z]\w*[a-z]\w*\.[A-Z]\w+|test_[a-z]\w*)`")
IN_CPP = re.compile(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", re.MULTILINE)
IN_PYTHON = re.compile(r"^ *def (test_\w+)\(", re.MULTILINE)


def found(pattern: re.Pattern, *globs: str) -> set[str]:
    files = [path for glob in globs for path in ROOT.glob(glob)]
    return {".".join(m.groups()) for path in files for m in pattern.finditer(path.read_text(encoding="utf-8"))}


class PartitioningTests(unittest.TestCase):
    def test_those_that_are_named_are_there(self):
        named = NAMED.findall((ROOT / "docs/partitioning-tests.md").read_text(encoding="utf-8"))
        there = found(IN_CPP, "tests/**/*.cpp") | found(IN_PYTHON, "tests/*/*_test.py", "python/tests/**/test_*.py")
        self.assertGreater(len(set(named)), 80)
        self.assertEqual([name for name in named if name not in there], [])


if __name__ == "__main__":
    unittest.main()
