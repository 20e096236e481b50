# SPDX-License-Identifier: Apache-2.0
"""tools/check/circles.py finds files that include, and modules that import, each other."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/check"))

import circles  # noqa: E402


def drawn(draw, files: dict[str, str]) -> list[list[str]]:
    """The circles among files of these texts."""
    with tempfile.TemporaryDirectory() as name:
        for path, text in files.items():
            file = Path(name) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return circles.circles(draw(Path(name)))


class Circles(unittest.TestCase):
    def test_each_knot_gives_its_shortest_way_round(self):
        arrows = {"a": {"b", "c"}, "b": {"c"}, "c": {"a"}, "d": {"d"}, "e": {"a", "f"}, "f": set()}
        self.assertEqual(circles.circles(arrows), [["a", "c", "a"], ["d", "d"]])
        self.assertEqual(circles.circles({"a": {"b"}, "b": {"c"}, "c": {"b", "a"}}), [["a", "b", "c", "a"]])

    def test_no_circle_where_all_arrows_go_down(self):
        self.assertEqual(circles.circles({"a": {"b", "c"}, "b": {"d"}, "c": {"d"}, "d": set()}), [])

    def test_long_chains_need_no_deep_stack(self):
        chain = {str(k): {str(k + 1)} for k in range(5000)}
        self.assertEqual(circles.circles(chain), [])
        self.assertEqual(len(circles.circles(chain | {"5000": {"0"}})[0]), 5002)

    def test_includes(self):
        files = {
            "src/base/a.h": '#include "base/b.h"\n#include <vector>\n',
            "src/base/b.h": '  #  include "c.h"\n',  # beside the file
            "src/base/c.h": '// #include "base/a.h"\n',
            "src/base/a.cpp": '#include "base/a.h"\n',
        }
        self.assertEqual(drawn(circles.includes, files), [])
        files["src/base/c.h"] = '#include "base/a.h"\n'
        self.assertEqual(drawn(circles.includes, files), [["src/base/a.h", "src/base/b.h", "src/base/c.h", "src/base/a.h"]])

    def test_imports_wherever_they_stand(self):
        for back in [
            "from . import a",
            "from .a import f",
            "import p.a",
            "from p.a import f as g",
            "def f():\n    from .a import f",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import f",
        ]:
            files = {"p/__init__.py": "from .a import f", "p/a.py": "from . import b\nimport os", "p/b.py": back}
            self.assertEqual(drawn(circles.imports, files), [["p.a", "p.b", "p.a"]], back)

    def test_imports_of_packages(self):
        files = {
            "p/__init__.py": "",
            "p/a.py": "from .q import f",
            "p/q/__init__.py": "from .b import f",
            "p/q/b.py": "from .. import other",
        }
        self.assertEqual(drawn(circles.imports, files), [])
        files["p/q/b.py"] = "from ..a import g"
        self.assertEqual(drawn(circles.imports, files), [["p.a", "p.q", "p.q.b", "p.a"]])

    def test_the_tree_has_none(self):
        self.assertEqual(circles.circles(circles.includes(ROOT)), [])
        self.assertEqual(circles.circles(circles.imports(ROOT / "python")), [])


if __name__ == "__main__":
    unittest.main()
