# SPDX-License-Identifier: Apache-2.0
"""A folder of text as passages, and passages as batches of token ids."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

SUFFIXES = {".md", ".txt", ".rst", ".text"}
MOST_PASSAGES = 2000
WORDS_A_PASSAGE = 60
LONGEST_TOKENS = 128


@dataclass(frozen=True)
class Passage:
    file: str
    line: int
    heading: str
    text: str


def plain_lines(path: Path) -> list[str]:
    """The lines without marks of Markdown; rows of tables, code and comments are left empty."""
    out, code = [], False
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        fence = line.lstrip().startswith("```")
        code ^= fence
        skipped = code or fence or line.lstrip().startswith(("|", "<", "![")) or line.startswith("    ")
        out.append("" if skipped else re.sub(r"\[([^\]]*)\]\([^)]*\)|\*\*|`", r"\1", line))
    return [*out, ""]


def paragraphs_of(path: Path) -> list[tuple[int, str, str]]:
    """(line, heading above, text) of each paragraph."""
    out: list[tuple[int, str, str]] = []
    heading, lines, start = "", [], 1
    for number, line in enumerate(plain_lines(path), 1):
        title = re.match(r"#{1,6}\s+(.*)", line)
        if (title or not line.strip()) and lines:
            out.append((start, heading, " ".join(lines)))
            lines = []
        if title:
            heading = title.group(1).strip()
        elif line.strip():
            if not lines:
                start = number
            lines.append(line.strip())
    return out


def passages_of(path: Path, name: str) -> list[Passage]:
    """Neighbouring paragraphs below one heading are joined while they stay short."""
    out: list[Passage] = []
    for line, heading, text in paragraphs_of(path):
        words = text.split()
        joins = out and out[-1].heading == heading and len(out[-1].text.split()) + len(words) <= WORDS_A_PASSAGE
        if joins:
            last = out.pop()
            out.append(Passage(name, last.line, heading, f"{last.text} {text}"))
            continue
        for at in range(0, len(words), WORDS_A_PASSAGE):
            out.append(Passage(name, line, heading, " ".join(words[at : at + WORDS_A_PASSAGE])))
    return [p for p in out if len(p.text.split()) >= 5]


def read_folder(folder: Path) -> tuple[list[Passage], int]:
    """Passages of all text files below the folder, in order, and how many files there were."""
    files = sorted(p for p in folder.rglob("*") if p.suffix.lower() in SUFFIXES and p.is_file())
    passages = [passage for path in files for passage in passages_of(path, str(path.relative_to(folder)))]
    return passages[:MOST_PASSAGES], len(files)


class Encoder:
    """Text to padded batches for the model's two inputs."""

    def __init__(self, tokenizer: Path):
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(LONGEST_TOKENS)

    def batches(self, texts: list[str], size: int) -> list[dict[str, np.ndarray]]:
        """Batches in the texts' order, so their lengths are mixed; each is padded to its longest."""
        encoded = [e.ids for e in self.tokenizer.encode_batch(texts)]
        return [self._padded(encoded[at : at + size]) for at in range(0, len(encoded), size)]

    @staticmethod
    def _padded(ids: list[list[int]]) -> dict[str, np.ndarray]:
        shape = (len(ids), max(len(row) for row in ids))
        batch = {"input_ids": np.zeros(shape, np.int64), "attention_mask": np.zeros(shape, np.int64)}
        for row, tokens in enumerate(ids):
            batch["input_ids"][row, : len(tokens)] = tokens
            batch["attention_mask"][row, : len(tokens)] = 1
        return batch
