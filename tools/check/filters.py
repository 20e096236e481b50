# SPDX-License-Identifier: Apache-2.0
"""Whether each pattern of a `--gtest_filter` in ./dev and in tests/CMakeLists.txt matches a test: one that has been renamed
would run where it must not, or run nowhere.

python tools/check/filters.py   prints each pattern without a test; exit code 1 where there is one
"""

from __future__ import annotations

import fnmatch
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEST = re.compile(r"^TEST(_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.MULTILINE)
SUITE = re.compile(r"INSTANTIATE_TEST_SUITE_P\(\s*(\w*)\s*,\s*(\w+)")
FILTER = re.compile(r"""--gtest_filter=['"]?([^\s'"`)]+)""")
# tests/CMakeLists.txt makes filters of variables.
PART = re.compile(r"(?:set\((?:RANDOM|OTHERS) |string\(APPEND OTHERS \")([^\s\")]+)")


def tests() -> list[str]:
    """SUITE.NAME, and PREFIX/SUITE.NAME/0 of tests with parameters."""
    out = []
    for path in sorted((ROOT / "tests").rglob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        prefixes: dict[str, list[str]] = {}
        for prefix, suite in SUITE.findall(text):
            prefixes.setdefault(suite, []).append(prefix)
        for kind, suite, name in TEST.findall(text):
            out += [f"{prefix}/{suite}.{name}/0" for prefix in prefixes.get(suite, [])] if kind == "_P" else [f"{suite}.{name}"]
    return out


def patterns_of(text: str, expression: re.Pattern[str]) -> list[str]:
    filters = [f for f in expression.findall(text) if not f.startswith("$")]
    return [p for f in filters for p in re.split(r"[:-]", f) if p]


def main() -> int:
    names, found, count = tests(), [], 0
    for path in (ROOT / "dev", ROOT / "tests/CMakeLists.txt"):
        text = path.read_text(encoding="utf-8")
        for pattern in patterns_of(text, FILTER) + patterns_of(text, PART):
            count += 1
            if not any(fnmatch.fnmatchcase(name, pattern) for name in names):
                found.append(f"{path.relative_to(ROOT)}: no test has a name like '{pattern}' (--gtest_filter)")
    print("\n".join(found) or f"filters: {count} patterns, each of a test")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
