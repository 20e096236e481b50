# SPDX-License-Identifier: Apache-2.0
"""tools/test_summary.py counts tests and skips of every runner that a test entry may be."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import test_summary  # noqa: E402

GOOGLETEST = """Running main() from ./googletest/src/gtest_main.cc
a_test.cpp:2: Skipped
needs a CPU with AVX2
a_test.cpp:3: Skipped

[==========] 6 tests from 2 test suites ran. (0 ms total)
[  PASSED  ] 4 tests.
[  SKIPPED ] 2 tests.
"""
PYTEST = """....s.s
SKIPPED [2] python/tests/test_a.py:15: needs a C compiler
SKIPPED [1] python/tests/test_b.py:8: could not import 'torch': No module named 'torch'
SKIPPED [1] python/tests/test_c.py: could not import 'jax': No module named 'jax'
8 passed, 4 skipped, 1 xfailed, 3 warnings, 2 subtests passed in 1.25s
"""


class Skips(unittest.TestCase):
    """Not a test: what runs as one below."""

    def test_passes(self):
        print("prints something", end=" ")

    @unittest.skip("needs 'Chromium'")
    def test_method(self):
        """A line of its own."""

    def test_subtests(self):
        for number in range(3):
            with self.subTest(number=number):
                if number > 0:
                    self.skipTest("needs a device of its own")


class RaisesInSetUpClass(Skips):
    @classmethod
    def setUpClass(cls):
        raise unittest.SkipTest("needs a disk")


def load_tests(loader: unittest.TestLoader, *_: object) -> unittest.TestSuite:
    return loader.loadTestsFromTestCase(TestSummary)


class TestSummary(unittest.TestCase):
    def test_googletest_skips_are_counted_by_reason(self):
        self.assertEqual(test_summary.googletest(GOOGLETEST), (4, {"needs a CPU with AVX2": 1, test_summary.UNNAMED: 1}))

    def test_pytest_skips_are_counted_by_reason(self):
        expected = {"needs a C compiler": 2, "needs the package torch": 1, "needs the package jax": 1}
        self.assertEqual(test_summary.pytest(PYTEST), (9, expected))

    def test_unittest_skips_are_counted_by_reason(self):
        code = "import unittest, test_summary_test as t; unittest.TextTestRunner(verbosity=2).run(unittest.TestSuite("
        code += "map(unittest.defaultTestLoader.loadTestsFromTestCase, (t.Skips, t.RaisesInSetUpClass))))"
        folder = Path(__file__).parent
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        expected = {"needs 'Chromium'": 1, "needs a device of its own": 2, "needs a disk": 1}
        self.assertEqual(test_summary.unittest(done.stdout), (2, expected), done.stdout)

    def summary(self, *options: str, **outputs: str) -> subprocess.CompletedProcess:
        """Of entries with these outputs; one that starts with `skipped` ended with 77."""
        entries = []
        for name, text in outputs.items():
            status = "notrun" if text.startswith("skipped") else "run"
            entries.append(f'<testcase name="{name}" status="{status}"><system-out>{escape(text)}</system-out></testcase>')
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "results.xml"
            file.write_text(f"<testsuite>{''.join(entries)}</testsuite>", encoding="utf-8")
            command = [sys.executable, ROOT / "tools/test_summary.py", file, *options]
            return subprocess.run(command, capture_output=True, text=True)

    def test_last_line_has_the_tests_of_every_entry(self):
        done = self.summary(a=GOOGLETEST, b=PYTEST, c="a program's own words", d="skipped 'needs onnx in .venv-peers'")
        self.assertEqual(done.returncode, 0, done.stderr)
        expected = (
            "ran 14 tests, skipped 7: 2 needs a C compiler; 1 needs a CPU with AVX2; 1 needs onnx in .venv-peers; "
            "1 needs the package jax; 1 needs the package torch; 1 no reason given\n"
        )
        self.assertEqual(done.stdout, expected)

    def test_no_skips_allows_hardware_alone(self):
        hardware = GOOGLETEST.replace("a_test.cpp:3: Skipped\n\n", "a_test.cpp:3: Skipped\nneeds a device of kind cuda\n")
        self.assertEqual(self.summary("--no-skips", a=hardware).returncode, 0)
        done = self.summary("--no-skips", a=hardware, b=PYTEST)
        self.assertEqual(done.returncode, 1)
        self.assertIn("needs the package torch", done.stderr)
        self.assertNotIn("AVX2", done.stderr)


if __name__ == "__main__":
    unittest.main()
