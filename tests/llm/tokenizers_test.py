# SPDX-License-Identifier: Apache-2.0
"""Tokens are those of PyPI tokenizers: of tokenizer.json and GGUF, on pages, sources and random Unicode."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import small_tokenizers as small
from tokenizers import Regex, Tokenizer, decoders, normalizers, pre_tokenizers

PROGRAM = Path(os.environ.get("TENON_BUILD", small.ROOT / "build")) / "bin/token_ids"
MANY, FEW = 20_000, 800


def found_tokens(file: Path, texts: list[str], **options: bool) -> list[dict]:
    lines = "".join(json.dumps({"text": text} | options) + "\n" for text in texts)
    done = subprocess.run([PROGRAM, file], input=lines, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    return [json.loads(line) for line in done.stdout.split("\n")[:-1]]


class Tokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.many = [*small.EDGES, *small.random_texts(MANY, 1)]
        cls.few = [*small.EDGES, *small.corpus()[::20], *small.random_texts(FEW, 2)]
        cls.old = [*small.EDGES, *small.corpus()[::20], *small.random_texts(FEW, 3, old=True)]

    def agree(self, tokenizer: Tokenizer, file: Path, texts: list[str], special: bool = True, text: bool = True) -> None:
        expected = tokenizer.encode_batch(texts, add_special_tokens=special)
        for given, ours, theirs in zip(texts, found_tokens(file, texts, add_special=special), expected, strict=True):
            found = [tokenizer.id_to_token(i) for i in ours.get("ids", ())]
            self.assertTrue(ours.get("ids") == theirs.ids, f"{file.name}: {given!r}: {ours.get('error', found)} {theirs.tokens}"[:1000])
            if text:
                self.assertEqual(ours["text"], tokenizer.decode(theirs.ids, skip_special_tokens=False), f"{file.name}: {given!r}"[:1000])

    def json_file(self, name: str, tokenizer: Tokenizer) -> Path:
        out = self.folder / f"{name}.json"
        out.write_text(tokenizer.to_str(), encoding="utf-8")
        return out

    def gguf_file(self, name: str, metadata: dict[str, object]) -> Path:
        out = self.folder / f"{name}.gguf"
        out.write_bytes(small.gguf(metadata))
        return out

    def test_byte_level(self):
        for name in small.pre_tokenizers_by_name():
            with self.subTest(name):
                tokenizer = small.byte_level(name)
                self.agree(tokenizer, self.json_file(name, tokenizer), self.few)
                self.agree(tokenizer, self.gguf_file(name, small.byte_level_metadata(name)), self.many if name == "smollm" else self.few)

    def test_sentence_piece(self):
        tokenizer = small.sentence_piece()
        self.agree(tokenizer, self.json_file("pieces", tokenizer), self.few, special=False)
        self.agree(tokenizer, self.gguf_file("pieces", small.sentence_piece_metadata()), self.many)

    def test_pages_and_sources(self):
        files = [*sorted((small.ROOT / "docs").rglob("*.md"))[::2], *sorted((small.ROOT / "src/codegen").rglob("*.cpp"))[::6]]
        texts = [file.read_text(encoding="utf-8") for file in files]
        for name, tokenizer in {"smollm": small.byte_level("smollm"), "gpt-4o": small.byte_level("gpt-4o")}.items():
            self.agree(tokenizer, self.json_file(name, tokenizer), texts)
        tokenizer = small.sentence_piece()
        self.agree(tokenizer, self.json_file("pieces", tokenizer), [line for text in texts for line in text.splitlines()])

    def test_normalizers(self):
        n = normalizers
        for name, normalizer in {
            "nfc": n.NFC(),
            "nfd": n.NFD(),
            "nfkc": n.NFKC(),
            "nfkd": n.NFKD(),
            "lower": n.Lowercase(),
            "strip": n.Strip(),
            "left": n.Strip(left=True, right=False),
            "accents": n.Sequence([n.NFD(), n.StripAccents(), n.Lowercase()]),
            "replaced": n.Sequence([n.Replace(Regex(r"\s+"), "_"), n.Replace("ab", "\u00e4"), n.Prepend("^")]),
        }.items():
            with self.subTest(name):
                tokenizer = small.with_normalizer(normalizer)
                self.agree(tokenizer, self.json_file(name, tokenizer), self.old)

    def test_pre_tokenizers(self):
        p = pre_tokenizers
        steps = [p.Digits(), p.Whitespace(), p.WhitespaceSplit(), p.CharDelimiterSplit("-"), p.ByteLevel(add_prefix_space=True)]
        behaviors = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
        steps += [p.Punctuation(behavior) for behavior in behaviors]
        steps += [p.Split(Regex(r"[aeiou]|\s+"), behavior, invert) for behavior in behaviors for invert in (False, True)]
        steps += [p.Split("e", "merged_with_next"), p.Split(Regex(r"(?=[A-Z])|b$|\h{2,3}+|\bto\b"), "isolated")]
        for number, step in enumerate(steps):
            with self.subTest(number):
                tokenizer = small.with_pre_tokenizer(step)
                self.agree(tokenizer, self.json_file(f"step{number}", tokenizer), self.old)

    def test_metaspace(self):
        n = normalizers
        for scheme in ("always", "first", "never"):
            for split in (False, True):
                tokenizer = small.with_metaspace(scheme, split, n.NFKC(), n.Strip(left=False, right=True))
                self.agree(tokenizer, self.json_file(f"{scheme}{split}", tokenizer), self.old)

    def test_added_tokens(self):
        for base in (small.byte_level("qwen2"), small.sentence_piece(), small.with_normalizer(normalizers.Lowercase())):
            tokenizer = small.with_added(base)
            self.agree(tokenizer, self.json_file("added", tokenizer), self.few, text=False)
            tokenizer.encode_special_tokens = True
            ours = found_tokens(self.folder / "added.json", self.few, parse_special=False)
            theirs = tokenizer.encode_batch(self.few)
            self.assertEqual([o["ids"] for o in ours], [t.ids for t in theirs])

    def test_no_decoder_joins_by_spaces(self):
        tokenizer = Tokenizer.from_str(small.sentence_piece().to_str())
        tokenizer.decoder = decoders.Fuse()
        self.agree(tokenizer, self.json_file("fused", tokenizer), self.few)
        document = json.loads(tokenizer.to_str()) | {"decoder": None}
        (self.folder / "joined.json").write_text(json.dumps(document))
        self.agree(Tokenizer.from_str(json.dumps(document)), self.folder / "joined.json", self.few)

    def test_a_word_of_a_megabyte(self):
        text = "".join(chr(97 + (i * i + i // 7) % 26) for i in range(1 << 20))
        for tokenizer in (small.byte_level("gpt-2"), small.sentence_piece()):
            self.agree(tokenizer, self.json_file("long", tokenizer), [text], text=False)


if __name__ == "__main__":
    unittest.main()
