# SPDX-License-Identifier: Apache-2.0
"""Every floor has a page that fits on a screen, and the tour leads to it."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = ROOT / "docs/floors"
SCREEN = 45  # lines
FLOORS = {"python"} | {folder.name for folder in (ROOT / "src").iterdir() if folder.is_dir()}


class FloorPages(unittest.TestCase):
    def test_every_floor_has_one_and_the_tour_leads_there(self):
        pages = {page.stem for page in PAGES.glob("*.md")}
        self.assertEqual(pages, FLOORS)
        tour = (ROOT / "docs/tour.md").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"\]\(floors/(\w+)\.md\)", tour)), pages)

    def test_each_fits_on_a_screen_and_says_the_same_three_things(self):
        for page in sorted(PAGES.glob("*.md")):
            text = page.read_text(encoding="utf-8")
            self.assertLessEqual(len(text.splitlines()), SCREEN, page.name)
            headings = ["What is here", "Invariants", "What a test looks like"]
            self.assertEqual(re.findall("^## (.*)", text, re.MULTILINE), headings, page.name)
            self.assertRegex(text, r"\./dev test \w+", page.name)


if __name__ == "__main__":
    unittest.main()
