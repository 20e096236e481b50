# SPDX-License-Identifier: Apache-2.0
"""The glossary is in alphabetical order, and each word leads to the file that says it in full."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ENTRY = re.compile(r"^- \*\*([\w ]+)\*\*(.*?)(?=^- |\Z)", re.MULTILINE | re.DOTALL)


class Glossary(unittest.TestCase):
    def test_words_are_in_order_and_lead_somewhere(self):
        text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
        entries = ENTRY.findall(text)
        self.assertEqual(len(entries), text.count("\n- "))
        words = [word.lower() for word, _ in entries]
        self.assertEqual(words, sorted(words))
        for word, meaning in entries:
            self.assertRegex(meaning, r"\]\([\w./-]+\.\w+\)", word)


if __name__ == "__main__":
    unittest.main()
