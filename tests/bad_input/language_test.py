# SPDX-License-Identifier: Apache-2.0
"""`tenon chat`, `generate` and `tokens`: wrong options, files that are no language models, prompts that do not fit, templates that do not
end, tokenizers that cannot be, weights that are no numbers. Each is one error.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
from harness import ROOT, Case, complaint, refuse, table, tenon, written

sys.path.insert(0, str(ROOT / "tests/nn"))
from checkpoint_files import small_gguf, write_folder, write_language_model  # noqa: E402
from onnx_decoders import Decoder, write_text  # noqa: E402

CONTEXT = 64
# What a template may do, by what a turn's text is.
TEMPLATE = (
    "{% macro again(n) %}{{ again(n + 1) }}{% endmacro %}"
    "{% for m in messages %}"
    "{% if m.content == 'loop' %}{% for a in range(99999) %}{% for b in range(99999) %}{% for c in range(99999) %}"
    "{% endfor %}{% endfor %}{% endfor %}"
    "{% elif m.content == 'deep' %}{{ again(0) }}"
    "{% elif m.content == 'long' %}{{ 'x' * 10**10 }}"
    "{% elif m.content == 'range' %}{{ range(10**15) | list }}"
    "{% elif m.content == 'output' %}{% for a in range(99999) %}{{ 'x' * 10000 }}{% endfor %}"
    "{% elif m.content == 'unknown' %}{{ nowhere.at.all }}"
    "{% elif m.content == 'refused' %}{{ raise_exception('turns must alternate') }}"
    "{% else %}{{ m.content }}{% endif %}{% endfor %}"
)


SOME = ("what", "expected", "found")
# Options that are no numbers, or out of their range: the option, the value, and what the error has.
WORDS = [
    ("--context", "0", "1 or more"),
    ("--context", "many", "'many'"),
    ("--threads", "-1", "'-1'"),
    ("--temperature", "hot", "hot"),
    ("--seed", "-1", "'-1'"),
    ("--seed", str(2**64), "2^64 - 1"),
    ("-n", "0", "1 or more"),
    ("--temprature", "1", "--temprature"),
]
NUMBERS = [
    ("temperature", "--temperature", "-0.5", "-0.5"),
    ("temperature", "--temperature", "nan", "nan"),
    ("top_k", "--top-k", "-1", "-1"),
    ("top_p", "--top-p", "0", "above 0"),
    ("min_p", "--min-p", "1.5", "1.5"),
    ("repetition_penalty", "--repeat-penalty", "0", "above 0"),
    ("presence_penalty", "--presence-penalty", "inf", "inf"),
    ("stop", "--stop", "", "empty"),
]


def language_model(folder: Path, name: str, **more) -> Path:
    out = folder / name
    out.mkdir()
    write_language_model(out, context=CONTEXT, **more)
    return out


def built(folder: Path, name: str) -> Path:
    engine = folder / f"{name}.tenon"
    done = tenon("build", folder / name, "-o", engine)
    assert done.exit == 0, str(done)
    return engine


def chat(*words: object):
    """A row's `make`: of the engine whose template is hostile, in FOLDER."""
    return lambda folder: ["chat", Models.engine, *words]


def generate(*words: object):
    return lambda folder: ["generate", Models.engine, "--prompt", "once", *words]


def tokenizer(change):
    """A row's `make`: the tokens of a tokenizer.json that is changed."""

    def make(folder: Path) -> list:
        model = language_model(folder, "m")
        file = model / "tokenizer.json"
        data = json.loads(file.read_text())
        change(data)
        file.write_text(json.dumps(data))
        return ["tokens", "m", "hello"]

    return make


def cyclic(data: dict) -> None:
    """A token that is merged of itself."""
    data["model"]["vocab"] |= {"ab": 40, "abab": 41}
    data["model"]["merges"] = [["a", "b"], ["ab", "ab"], ["abab", ""]]


def unmergeable(data: dict) -> None:
    data["model"]["merges"] = [["a", "nowhere"]]


def twice(data: dict) -> None:
    data["model"]["vocab"]["b"] = 0


def unigram(data: dict) -> None:
    data["model"] = {"type": "Unigram", "vocab": [["a", -1.0]], "unk_id": 0}


def checkpoint(key: str, value: float | str | None):
    """A row's `make`: builds a GGUF file with that metadata; None: without."""
    return written("m.gguf", small_gguf(changed={key: value}), "build", "m.gguf")


def change(model: Path, changes: dict[str, dict]) -> None:
    """Of each file of the folder the members are changed, those of an object joined to it."""
    for name, members in changes.items():
        data = json.loads((model / name).read_text()) if (model / name).exists() else {}
        for key, value in members.items():
            data[key] = data.get(key, {}) | value if isinstance(value, dict) else value
        (model / name).write_text(json.dumps(data))


def checkpoint_of(changes: dict[str, dict]):
    """A row's `make`: builds a folder of 32 rows of embeddings with changed files."""

    def make(folder: Path) -> list:
        change(language_model(folder, "m"), changes)
        return ["build", "m"]

    return make


# A token without a row of embeddings, and the list of tokens of Unigram.
LATE = {"tokenizer.json": {"model": {"type": "BPE", "vocab": {"a": 0, "late": 32}, "merges": []}}}


def pieces(count: int) -> dict[str, dict]:
    return {"tokenizer.json": {"model": {"type": "Unigram", "vocab": [[f"t{i}", -1.5] for i in range(count)], "unk_id": 0}}}


def tokens_of(count: int, **special: int):
    """A row's `make`: builds a GGUF file of 32 rows of embeddings with so many tokens."""
    metadata = {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": [f"t{i}" for i in range(count)]}
    metadata |= {f"tokenizer.ggml.{name}": id for name, id in special.items()}
    return written("m.gguf", small_gguf(changed=metadata), "build", "m.gguf")


def decoder_of(changes: dict[str, dict], under: str = ""):
    """A row's `make`: builds an ONNX decoder with 32 logits, which lies in the folder `under` of the folder with its changed text."""

    def make(folder: Path) -> list:
        model = folder / "m"
        (model / under).mkdir(parents=True)
        (model / under / "model.onnx").write_bytes(Decoder().model())
        write_text(model)
        change(model, changes)
        return ["build", "m"]

    return make


def text_file(data: bytes, *words: object):
    def make(folder: Path) -> list:
        (folder / "t.txt").write_bytes(data)
        return [*words[:1], Models.engine, *words[1:]]

    return make


class Models(unittest.TestCase):
    engine: Path

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        language_model(cls.folder, "hostile", template=TEMPLATE)
        Models.engine = built(cls.folder, "hostile")

    test_options = table(
        *(
            Case(f"{word} {value}", generate(word, value), 2, "bad_usage", place, [says], parts)
            for parts, place, word, value, says in [
                *((("what", "advice"), "command line", *row) for row in WORDS),
                *((("what", "expected", "found"), *row) for row in NUMBERS),
            ]
        ),
        Case("no model", lambda folder: ["chat"], 2, "bad_usage", "command line", ["MODEL"], ("what", "advice")),
        Case("two prompts", generate("--file", "t.txt"), 2, "bad_usage", "command line", ["--file"], ("what", "advice")),
        Case(
            "two system prompts", chat("--system", "a", "--system-file", "t.txt"), 2, "bad_usage", "command line", ["--system"], ("what",)
        ),
    )

    test_files = table(
        Case("no model", lambda folder: ["chat", "none.gguf", "--ask", "a"], 1, "file_missing", "none.gguf", [], SOME),
        Case("no engine", lambda folder: ["chat", "none.tenon", "--ask", "a"], 1, "file_missing", "none.tenon", [], SOME),
        Case("an ONNX model", lambda folder: ["chat", ROOT / "examples/mlp.onnx", "--ask", "a"], 2, "bad_usage", "mlp.onnx"),
        Case(
            "a GGUF file that is cut",
            written("cut.gguf", b"GGUF\3" + bytes(9), "chat", "cut.gguf", "--ask", "a"),
            1,
            "bad_file",
            "cut.gguf",
        ),
        Case("a system prompt that is not there", chat("--ask", "a", "--system-file", "none"), 1, "file_missing", "none", [], SOME),
        Case("a system prompt that is a folder", chat("--ask", "a", "--system-file", "."), 1, "bad_file", ".", [], SOME),
        Case("a prompt of no UTF-8", text_file(b"ab\xff", "generate", "--file", "t.txt"), 1, "bad_file", "t.txt, byte 2"),
        Case("tokens of no tokenizer", lambda folder: ["tokens", ROOT / "examples/mlp.onnx", "a"], 1, "bad_file", "mlp.onnx", [], SOME),
    )

    test_checkpoints = table(
        *(
            Case(f"{key} {value}", checkpoint(f"llama.{key}", value), 1, code, f"hyperparameter '{place or key}'", [says], SOME)
            for key, value, code, place, says in [
                ("block_count", 2**31, "limit_exceeded", "", "too many layers"),
                ("block_count", None, "bad_input", "", "does not have it"),
                ("context_length", 2**31 - 1, "limit_exceeded", "", "2147483647 tokens"),
                ("attention.key_length", 2**31, "limit_exceeded", "", "heads are too large"),
                ("attention.head_count", 3, "bad_input", "attention.head_count_kv", "do not divide"),
                ("attention.layer_norm_rms_epsilon", -1.0, "bad_input", "attention.layer_norm_epsilon", "-1"),
                ("attention.layer_norm_rms_epsilon", float("nan"), "bad_input", "", "nan"),
            ]
        ),
        Case(
            "an unknown architecture",
            checkpoint("general.architecture", "lama"),
            3,
            "not_supported",
            "general.architecture",
            ["did you mean 'llama'?"],
        ),
        Case(
            "tensors that are missing and left over",
            written(
                "m.gguf",
                small_gguf(renamed={"blk.1.ffn_gate.weight": "blk.1.ffn_gat.weight", "output_norm.weight": "o"}),
                "build",
                "m.gguf",
            ),
            1,
            "bad_input",
            "weights",
            ["missing: blk.1.ffn_gate.weight [96, 64], output_norm.weight [64]", "left over: o, blk.1.ffn_gat.weight"],
            SOME,
        ),
    )

    test_prompts = table(
        Case("an empty one", lambda folder: ["generate", Models.engine, "--prompt", ""], 1, "bad_input", "prompt", ["empty"]),
        Case("an empty file", text_file(b"\n", "generate", "--file", "t.txt"), 1, "bad_input", "prompt", ["empty"]),
        Case("a longer one", lambda folder: ["generate", Models.engine, "-p", "x" * 100], 1, "bad_input", "prompt", ["37 too many"]),
        Case("a longer chat", chat("--ask", "x" * 64), 1, "bad_input", "prompt", ["64 tokens, 1 too many"]),
        Case(
            "one of no UTF-8",
            lambda folder: ["generate", Models.engine, "-p", b"ab\xff".decode(errors="surrogateescape")],
            1,
            "bad_input",
            "prompt, byte 2",
        ),
        Case("a turn of no UTF-8", chat("--ask", b"a\xff".decode(errors="surrogateescape")), 1, "bad_input", "turn, byte 1"),
        Case("no letters of its own", lambda folder: ["generate", Models.engine, "-p", "ÄÖ"], 1, "bad_input", "prompt", [], SOME),
    )

    test_templates = table(
        Case("endless", chat("--ask", "loop"), 1, "limit_exceeded", "chat template:1:", ["without bound"], SOME),
        Case("endless depth", chat("--ask", "deep"), 1, "limit_exceeded", "chat template:1:", ["too deeply"], ("what", "expected")),
        Case("a long text", chat("--ask", "long"), 1, "limit_exceeded", "chat template:1:", ["without bound"], SOME),
        Case("a long range", chat("--ask", "range"), 1, "limit_exceeded", "chat template:1:", ["too many items"], SOME),
        Case("a long output", chat("--ask", "output"), 1, "limit_exceeded", "chat template:1:", [], SOME),
        Case("a variable that is none", chat("--ask", "unknown"), 1, "bad_input", "chat template:1:", ["'nowhere'"], ("what",)),
        Case("a refusal", chat("--ask", "refused"), 1, "bad_input", "chat template:1:", ["turns must alternate"], ("what",)),
    )

    test_tokenizers = table(
        Case("cyclic merges", tokenizer(cyclic), 1, "bad_file", "m", ["merge 2 is cyclic"]),
        Case("merges of tokens that are none", tokenizer(unmergeable), 1, "bad_file", "m", ["'nowhere'"]),
        Case("a token twice", tokenizer(twice), 1, "bad_file", "m", ["id 0"]),
        Case("another kind", tokenizer(unigram), 3, "not_supported", "m", ["Unigram"], ("what",)),
        Case("no JSON", written("tokenizer.json", b"{", "tokens", "tokenizer.json", "a"), 1, "bad_file", "tokenizer.json"),
    )

    test_vocabularies = table(
        *(
            Case(name, make, 1, "bad_input", place, ["below 32", *found])
            for name, make, place, found in [
                (
                    "more tokens than rows",
                    checkpoint_of(LATE),
                    "m/tokenizer.json, model.vocab",
                    ["token 32, 'late'"],
                ),
                (
                    "an added token",
                    checkpoint_of({"tokenizer.json": {"added_tokens": [{"content": "</s>", "id": 77, "special": True}]}}),
                    "m/tokenizer.json, added_tokens",
                    ["token 77"],
                ),
                ("an end", checkpoint_of({"config.json": {"eos_token_id": [2, 32]}}), "m/config.json, eos_token_id", ["32"]),
                ("a beginning", checkpoint_of({"config.json": {"bos_token_id": 2**63}}), "m/config.json, bos_token_id", [str(2**63)]),
                (
                    "an end of answers",
                    checkpoint_of({"generation_config.json": {"eos_token_id": 50256}}),
                    "m/generation_config.json, eos_token_id",
                    ["50256"],
                ),
                ("more pieces than rows", checkpoint_of(pieces(33)), "m/tokenizer.json, model.vocab", ["embeddings", "33 tokens"]),
                ("more tokens than logits", decoder_of(LATE), "m/tokenizer.json, model.vocab", ["logits", "token 32, 'late'"]),
                ("more pieces than logits", decoder_of(pieces(33), "onnx"), "m/tokenizer.json, model.vocab", ["logits", "33 tokens"]),
                (
                    "an end of an ONNX decoder",
                    decoder_of({"genai_config.json": {"model": {"eos_token_id": [2, 32]}}}),
                    "m/genai_config.json, model.eos_token_id",
                    ["logits", "32"],
                ),
                ("more tokens than rows, in GGUF", tokens_of(33), "m.gguf, tokenizer.ggml.tokens", ["33 tokens"]),
                (
                    "an end, in GGUF",
                    tokens_of(32, eos_token_id=32),
                    "m.gguf, tokenizer.ggml.eos_token_id",
                    ["32"],
                ),
            ]
        )
    )

    def test_vocabularies_with_fewer_tokens_than_rows_are_built(self):
        ids = {"bos_token_id": 0, "eos_token_id": [29, 31], "pad_token_id": -1}
        for name, make in {
            "folder": checkpoint_of({"config.json": ids, "generation_config.json": ids}),
            "pieces": checkpoint_of(pieces(32)),
            "onnx": decoder_of({"config.json": ids} | pieces(32), "onnx"),
            "gguf": tokens_of(30, eos_token_id=31, bos_token_id=2**32 - 1),
        }.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                arguments = make(Path(folder))
                (Path(folder) / "c.json").write_text('{"dry_run": true}')
                how = ("-o", "m.tenon") if name == "onnx" else ("--build-config", "c.json")
                result = tenon(*arguments, *how, folder=Path(folder))
                self.assertEqual(result.exit, 0, str(result))

    def test_templates_of_wrong_syntax(self):
        language_model(self.folder, "syntax", template="{% for m in messages %}{{ m.content")
        engine = built(self.folder, "syntax")
        refuse(self, Case("open", lambda folder: ["chat", engine, "--ask", "a"], 1, "bad_file", "chat template:1:", [], ("what",)))

    def test_weights_that_are_no_numbers_name_their_layer(self):
        for name, layer in {
            "model.layers.1.self_attn.k_proj": "layer 1",
            "model.layers.0.mlp.down_proj": "layer 1",
            "model.norm": "last layer",
        }.items():
            with self.subTest(name):
                folder = self.folder / name
                folder.mkdir()
                write_language_model(folder, context=CONTEXT)
                shape = {"k_proj": (32, 64), "down_proj": (64, 96), "norm": (64,)}[name.rpartition(".")[2]]
                write_folder(folder, CONTEXT, {name: np.full(shape, np.nan, np.float16)})
                engine = built(self.folder, name)
                row = Case(name, lambda folder, engine=engine: ["generate", engine, "-p", "once"], 1, "bad_input", "logits", ["nan", layer])
                refuse(self, row)

    def test_a_limit_of_the_cache_that_is_none(self):
        with tempfile.TemporaryDirectory() as cache:
            environment = {"XDG_CACHE_HOME": cache, "TENON_CACHE_SIZE": "much"}
            result = tenon("chat", self.folder / "hostile", "--ask", "a", environment=environment)
            self.assertEqual((result.exit, result.error.get("place")), (2, "TENON_CACHE_SIZE"), str(result))
            self.assertEqual(complaint(result), "", str(result))
            self.assertEqual(os.listdir(cache), [])


if __name__ == "__main__":
    unittest.main()
