# SPDX-License-Identifier: Apache-2.0
"""tools/check/files.py finds files that are too long, folders that hold too many, and what else no file may have."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/check"))

import files  # noqa: E402


def problems(name: str, text: str) -> list[str]:
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(files, "ROOT", Path(folder)):
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        return files.problems_of(path)


def numbered(folder: str, count: int, suffix: str) -> list[str]:
    return [f"{folder}/{k}{suffix}" for k in range(count)]


class Files(unittest.TestCase):
    def test_a_file_of_code_has_400_lines_at_most(self):
        for name, mark in (("a.cpp", "//"), ("a.h", "//"), ("a.py", "#")):
            longest = f"{mark} {files.LICENCE}\n" + "\n" * 399
            self.assertEqual(problems(name, longest), [], name)
            self.assertEqual(problems(name, longest + "\n"), [f"{name}: 401 lines; at most 400. What second thing has it become?"])
        self.assertEqual(problems("a.md", "\n" * 500), [])

    def test_a_file_says_its_licence_and_names_no_machine(self):
        self.assertEqual(len(problems("a.py", "x = 1\n")), 1)
        self.assertEqual(len(problems("a.md", "see /home/" + "someone/file\n")), 1)
        self.assertEqual(len(problems("a.cpp", f"// {files.LICENCE}\n// TO" + "DO: the rest\n")), 1)

    def test_a_folder_has_30_files_of_one_kind_at_most(self):
        most = numbered("src/a", 30, ".cpp") + numbered("src/a", 30, ".h")
        self.assertEqual(files.crowded_folders(most), [])
        self.assertEqual(files.crowded_folders(most + ["src/a/b/30.cpp", "src/a/30.tn"]), [])
        self.assertEqual(
            files.crowded_folders(most + ["src/a/30.cpp"]),
            ["src/a: 31 files end in .cpp; at most 30 belong in one folder. What second subject does it have?"],
        )
        for folder in ("python/tests", "tools/a", "include/a"):
            self.assertEqual(len(files.crowded_folders(numbered(folder, 31, ".py"))), 1, folder)
        self.assertEqual(files.crowded_folders(numbered("docs", 31, ".py")), [])

    def test_the_tree_keeps_to_them(self):
        names = [str(path.relative_to(ROOT)) for path in files.files()]
        self.assertEqual(files.crowded_folders(names), [])
        self.assertEqual([p for path in files.files() for p in files.problems_of(path)], [])


if __name__ == "__main__":
    unittest.main()
