# SPDX-License-Identifier: Apache-2.0
"""How the demo cuts text into passages and batches, and what its page holds."""

import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
TEXTS = Path(__file__).resolve().parent / "texts"
sys.path.insert(0, str(ROOT / "examples/demo"))

import demo  # noqa: E402
import demo_page  # noqa: E402
import demo_text  # noqa: E402


class Text(unittest.TestCase):
    def test_passages_carry_their_place(self):
        passages, files = demo_text.read_folder(TEXTS)
        self.assertEqual(files, 3)
        bread = [p for p in passages if p.file == "bread.md"]
        self.assertEqual((bread[0].line, bread[0].heading), (3, "Bread"))
        self.assertFalse(any("no passage at all" in p.text for p in passages))

    def test_long_paragraphs_are_cut(self):
        with tempfile.TemporaryDirectory() as name:
            (Path(name) / "long.txt").write_text("word " * 500)
            passages, _ = demo_text.read_folder(Path(name))
        self.assertEqual(sum(len(p.text.split()) for p in passages), 500)
        self.assertLessEqual(max(len(p.text.split()) for p in passages), demo_text.WORDS_A_PASSAGE)

    def test_batches_are_padded_and_masked(self):
        encoder = demo_text.Encoder(demo.model_folder() / "tokenizer.json")
        first, second = encoder.batches(["one", "one two three four", "five"], 2)
        self.assertEqual(first["input_ids"].dtype, np.int64)
        self.assertEqual(first["attention_mask"].sum(axis=1).tolist(), [3, 6])
        self.assertTrue((first["input_ids"][0, 3:] == 0).all())
        self.assertEqual(second["input_ids"].shape, (1, 3))


class PageTest(unittest.TestCase):
    def test_equal_kernels_share_a_row_and_text_is_escaped(self):
        kernels = [{"label": "MatMul+Add", "ms": 2.0}, {"label": "MatMul+Add", "ms": 1.0}, {"label": "Softmax", "ms": 1.0}]
        page = demo_page.Page("t", kernels=kernels, question="is a < b?")
        with tempfile.TemporaryDirectory() as name:
            demo_page.write_page(page, Path(name) / "p.html")
            text = (Path(name) / "p.html").read_text()
        self.assertIn('<td>MatMul+Add</td><td class="n">2</td><td class="n">3.000</td><td class="n">75.0 %</td>', text)
        self.assertIn("is a &lt; b?", text)
        self.assertNotIn("http", text)


if __name__ == "__main__":
    unittest.main()
