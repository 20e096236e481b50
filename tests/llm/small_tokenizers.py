# SPDX-License-Identifier: Apache-2.0
"""Small tokenizers of every kind, made with PyPI tokenizers from this project's pages; the same as GGUF; and texts to try them on."""

from __future__ import annotations

import functools
import json
import random
import struct
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

ROOT = Path(__file__).resolve().parents[2]
SPACE = "\u2581"
LETTERS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = LETTERS + r"\p{N}{1,3}" + REST
QWEN2 = LETTERS + r"\p{N}" + REST
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
START, ENDING = r"[^\r\n\p{L}\p{N}]?", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
SIGNS = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT4O = rf"{START}{UPPER}*{LOWER}+{ENDING}|{START}{UPPER}+{LOWER}*{ENDING}|\p{{N}}{{1,3}}{SIGNS}"
TEKKEN = rf"{START}{UPPER}*{LOWER}+|{START}{UPPER}+{LOWER}*|\p{{N}}{SIGNS}"
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
HAN = "[一-龥\u3040-ゟ゠-ヿ]+"
DEEPSEEK3 = (
    r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
    r"""| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
)
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


def split(pattern: str, behavior: str = "isolated", invert: bool = False) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def bytes_of(*steps: pre_tokenizers.PreTokenizer, use_regex: bool = False) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence([*steps, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)])


def pre_tokenizers_by_name() -> dict[str, pre_tokenizers.PreTokenizer]:
    """What GGUF's names stand for, as the tokenizer.json of such models has it."""
    p = pre_tokenizers
    return {
        "gpt-2": bytes_of(use_regex=True),
        "smollm": bytes_of(p.Digits(individual_digits=True), use_regex=True),
        "llama-bpe": bytes_of(split(LLAMA3)),
        "dbrx": bytes_of(split(LLAMA3)),
        "qwen2": bytes_of(split(QWEN2)),
        "gpt-4o": bytes_of(split(GPT4O)),
        "tekken": bytes_of(split(TEKKEN)),
        "bloom": bytes_of(split(BLOOM)),
        "falcon": p.Sequence(
            [
                p.Punctuation("contiguous"),
                p.ByteLevel(add_prefix_space=False),
                p.Digits(individual_digits=False),
                split("[0-9][0-9][0-9]"),
            ]
        ),
        "deepseek-v3": bytes_of(split(r"\p{N}{1,3}"), split(HAN), split(DEEPSEEK3)),
    }


@functools.cache
def corpus() -> list[str]:
    """Pages and sources of the project, a paragraph each."""
    files = [*sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "src/base").rglob("*.cpp")), *sorted((ROOT / "src/llm").rglob("*.*"))]
    return [part for file in files for part in file.read_text(encoding="utf-8").split("\n\n")]


def byte_level(name: str, size: int = 1500) -> Tokenizer:
    """A byte pair encoding of bytes with this name's pre-tokenizer."""
    return _byte_level(name, size)


@functools.cache
def _byte_level(name: str, size: int) -> Tokenizer:
    out = Tokenizer(models.BPE(ignore_merges=name in ("llama-bpe", "tekken")))
    out.pre_tokenizer = pre_tokenizers_by_name()[name]
    out.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=CONTROL, initial_alphabet=alphabet, show_progress=False)
    out.train_from_iterator(corpus(), trainer)
    if name in ("llama-bpe", "tekken"):
        first = CONTROL[0]
        out.post_processor = processors.TemplateProcessing(single=f"{first} $A", special_tokens=[(first, out.token_to_id(first))])
    return out


@functools.cache
def sentence_piece() -> Tokenizer:
    """Like LLaMA's: spaces are U+2581, no pieces, bytes for characters that are no token."""
    special = ["<unk>", "<s>", "</s>"]
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    trained = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    trained.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.BpeTrainer(vocab_size=1500, special_tokens=[*special, *byte_tokens], limit_alphabet=150, show_progress=False)
    trained.train_from_iterator(corpus(), trainer)
    document = json.loads(trained.to_str())
    document["added_tokens"] = [token for token in document["added_tokens"] if token["content"] in special]
    out = Tokenizer.from_str(json.dumps(document | {"pre_tokenizer": None}))
    out.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
    steps = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    out.decoder = decoders.Sequence(steps)
    out.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return out


def with_normalizer(normalizer: normalizers.Normalizer, name: str = "qwen2") -> Tokenizer:
    out = Tokenizer.from_str(byte_level(name).to_str())
    out.normalizer = normalizer
    return out


def with_metaspace(scheme: str, split: bool, *before: normalizers.Normalizer) -> Tokenizer:
    out = Tokenizer.from_str(sentence_piece().to_str())
    out.normalizer = normalizers.Sequence(list(before))
    out.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    out.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme=scheme, split=split)])
    return out


def with_pre_tokenizer(pre_tokenizer: pre_tokenizers.PreTokenizer) -> Tokenizer:
    out = Tokenizer.from_str(byte_level("gpt-2").to_str())
    out.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizer, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    return out


def with_added(tokenizer: Tokenizer) -> Tokenizer:
    """With tokens of every kind that are found before anything is merged."""
    out = Tokenizer.from_str(tokenizer.to_str())
    out.add_tokens(
        [
            AddedToken("tenon", normalized=False),
            AddedToken("tenon engine", normalized=False),
            AddedToken("Graph", normalized=True),
            AddedToken("left", lstrip=True, normalized=False),
            AddedToken("right", rstrip=True, normalized=False),
            AddedToken("word", single_word=True, normalized=False),
            AddedToken("é", normalized=False),
        ]
    )
    out.add_special_tokens([AddedToken("<|tool|>", lstrip=True, rstrip=True), AddedToken("<t>")])
    return out


# --- GGUF -------------------------------------------------------------------------------------------------------


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf(metadata: dict[str, object]) -> bytes:
    """A checkpoint of metadata alone."""
    out = b"GGUF" + struct.pack("<IQQ", 3, 0, len(metadata))
    for key, value in metadata.items():
        out += _text(key) + _value(value)
    return out + bytes(-len(out) % 32)


def _value(value: object) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<IB", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    assert isinstance(value, list)
    first = value[0] if value else ""
    kind, elements = (8, b"".join(map(_text, value))) if isinstance(first, str) else (5, struct.pack(f"<{len(value)}i", *map(int, value)))
    if isinstance(first, float):
        kind, elements = 6, struct.pack(f"<{len(value)}f", *value)
    return struct.pack("<IIQ", 9, kind, len(value)) + elements


def tokens_of(tokenizer: Tokenizer) -> list[str]:
    return [tokenizer.id_to_token(i) for i in range(tokenizer.get_vocab_size())]


def byte_level_metadata(name: str) -> dict[str, object]:
    tokenizer = byte_level(name)
    model = json.loads(tokenizer.to_str())["model"]
    tokens = tokens_of(tokenizer)
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": name,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3 if token in CONTROL else 1 for token in tokens],
        "tokenizer.ggml.merges": [" ".join(pair) for pair in model["merges"]],
        "tokenizer.ggml.bos_token_id": tokenizer.token_to_id(CONTROL[0]),
        "tokenizer.ggml.eos_token_id": tokenizer.token_to_id(CONTROL[0]),
    }


def sentence_piece_metadata() -> dict[str, object]:
    """Scores fall with the rank of the first merge that makes a token."""
    tokenizer = sentence_piece()
    tokens = tokens_of(tokenizer)
    scores = dict.fromkeys(tokens, 0.0)
    for rank, pair in reversed(list(enumerate(json.loads(tokenizer.to_str())["model"]["merges"]))):
        scores["".join(pair)] = -1.0 - rank
    kinds = {"<unk>": 2, "<s>": 3, "</s>": 3} | {f"<0x{byte:02X}>": 6 for byte in range(256)}
    return {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.scores": [scores[token] for token in tokens],
        "tokenizer.ggml.token_type": [kinds.get(token, 1) for token in tokens],
    }


# --- texts ------------------------------------------------------------------------------------------------------

EDGES = [
    "", " ", "  ", "\n", " \n \n\n x", "a", " a", "a ", "\t\ttab", "don't I'LL we'ſ", "x\r\n\r\ny", "1234567 12 3", "\u00a0\u2003\u3000x",
    "<|im_start|>user\nhi<|im_end|>\n", "<s>a</s> b", "<unk>", "<0x0A>", "e\u0301é ﬁ²", "İstanbul ΑΣ",
    "日本語のテスト。中文，123", "👩‍👩‍👧‍👦🇩🇪",
    "\u180e\u200b\ufeff\x1c\x85", "नमस्ते दुनिया।", "a" * 300, " " * 300, "ab " * 100,
    "tenon engine tenonengine Graph a left  b right  c word swordfish word",
    "x <|tool|> y<t>z\u2581 \u2581", "\x00\x01\x7f", "HTTPServerID camelCase snake_case XMLs", "٣३ⅷ①²½ ㊿", "Ａｂ１",
]  # fmt: skip


@functools.cache
def characters(old: bool = False) -> list[str]:
    """Those that are assigned, for use by none but their owners left out; old: of Unicode 3.2, about which all tables agree."""
    known = unicodedata.ucd_3_2_0 if old else unicodedata
    return [chr(code) for code in range(sys.maxunicode + 1) if known.category(chr(code)) not in ("Cn", "Co", "Cs")]


def random_texts(count: int, seed: int, old: bool = False) -> Iterable[str]:
    """Characters of all scripts, of a few neighbors in the tables, and ASCII, in every mixture."""
    source = random.Random(seed)
    everything = characters(old)
    for _ in range(count):
        start = source.randrange(len(everything))
        pools = [everything, everything[start : start + 60], [chr(c) for c in range(9, 127)], list(" \n\t'.é")]
        weights = [source.random() ** 2 for _ in pools]
        yield "".join(source.choice(source.choices(pools, weights)[0]) for _ in range(source.randrange(1, 40)))
