# SPDX-License-Identifier: Apache-2.0
"""./dev demo --plugin from end to end: equal vectors by a plugin, and each way in which it is broken is told."""

import io
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples/demo"))

import demo_engines  # noqa: E402
import plugin_demo  # noqa: E402


@unittest.skipUnless(shutil.which("cc"), "needs a C compiler")
class PluginDemo(unittest.TestCase):
    def test_it_runs_and_each_fault_is_reported(self):
        report = io.StringIO()
        with tempfile.TemporaryDirectory() as name:
            demo = plugin_demo.PluginDemo(Console(file=report, width=400), Path(name), 2)
            demo.run()
            tested = demo_engines.tenon("rules", "test", plugin_demo.RULES, "--plugin", demo.library)
        text = report.getvalue()
        self.assertEqual(tested["faults"], 0)
        self.assertEqual(demo.places, 6, "MiniLM has six Gelus")
        self.assertGreater(demo.difference, 0, "two ways to compute it do not round alike: one engine was measured twice")
        self.assertLess(demo.difference, plugin_demo.TOLERANCE)
        self.assertRegex(text, r"Gelu by the plugin +\d+\.\d\d ms")
        parts = re.split(r"^[123]\. ", text, flags=re.MULTILINE)
        self.assertIn("demo::Gelu, definition: results equal those of the definition", parts[1])
        self.assertIn("gelu_wrong.so is another build than the engine was built with", parts[2])
        self.assertIn("plugin 'demo::Gelu' of gelu_failing.so: its `enqueue` says: more than 100000 elements", parts[3])
        self.assertIn("with the library that it was built with, it runs", parts[3])


if __name__ == "__main__":
    unittest.main()
