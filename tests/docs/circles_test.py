# SPDX-License-Identifier: Apache-2.0
"""tools/check/circles.py finds files that include, and modules that import, each other."""

import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/check"))

import circles  # noqa: E402


def drawn_arrows(draw, files: dict[str, str]) -> circles.Arrows:
    """Who includes or imports whom among files of these texts."""
    with tempfile.TemporaryDirectory() as name:
        for path, text in files.items():
            file = Path(name) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return draw(Path(name))


def drawn(draw, files: dict[str, str]) -> list[list[str]]:
    """The circles among them."""
    return circles.circles(drawn_arrows(draw, files))


def drawn_folders(files: dict[str, str]) -> list[str]:
    """The lines about circles among the folders of files of these texts."""
    return circles.folder_circles(drawn_arrows(circles.includes, files))


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

    def test_folders(self):
        files = {
            "src/f/a/x.h": '#include "f/b/y.h"\n#include "f/a/own.h"\n',
            "src/f/a/own.h": "",
            "src/f/b/y.h": "",
            "src/f/b/y.cpp": '#include "f/b/y.h"\n#include "f/c/z.h"\n',
            "src/f/c/z.h": "",
            "src/f/c/z.cpp": "",
        }
        self.assertEqual(drawn_folders(files), [])
        files["src/f/c/z.cpp"] = '#include "f/a/own.h"\n'
        self.assertEqual(
            drawn_folders(files),
            [
                "a circle of folders: src/f/a -> src/f/b -> src/f/c -> src/f/a",
                "  src/f/a/x.h includes src/f/b/y.h",
                "  src/f/b/y.cpp includes src/f/c/z.h",
                "  src/f/c/z.cpp includes src/f/a/own.h",
            ],
        )
        files["src/f/b/y.h"] = '#include "f/a/own.h"\n'
        self.assertEqual(drawn_folders(files)[0], "a circle of folders: src/f/a -> src/f/b -> src/f/a")

    def test_of_many_includes_between_two_folders_some_are_printed(self):
        files = {f"src/a/{k}.h": '#include "b/x.h"\n' for k in range(circles.SHOWN_INCLUDES + 2)}
        files |= {"src/b/x.h": "", "src/b/x.cpp": '#include "a/0.h"\n'}
        self.assertEqual(drawn_folders(files)[-2:], ["  and 2 more from src/a to src/b", "  src/b/x.cpp includes src/a/0.h"])

    def test_a_folder_and_the_one_that_it_lies_in_are_two(self):
        files = {"src/a/x.h": '#include "a/b/y.h"\n', "src/a/b/y.h": "", "src/a/z.h": "", "src/a/b/w.h": '#include "a/z.h"\n'}
        self.assertEqual(drawn_folders(files)[0], "a circle of folders: src/a -> src/a/b -> src/a")

    def test_imports_at_any_place(self):
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
        self.assertEqual(circles.folder_circles(circles.includes(ROOT)), [])
        self.assertEqual(circles.circles(circles.imports(ROOT / "python")), [])


if __name__ == "__main__":
    unittest.main()
