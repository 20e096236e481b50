# SPDX-License-Identifier: Apache-2.0
"""`tenon chat`, `generate` and `tokens` on a small random model, whose tokens are letters."""

import json
import os
import pty
import signal
import subprocess
import sys
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/llm"))
sys.path.insert(0, str(ROOT / "tests/nn"))
from checkpoint_files import CONTEXT, weights, write_folder, write_language_model  # noqa: E402
from onnx_decoders import Decoder, write_text  # noqa: E402
from small_model import TENON, SmallModel  # noqa: E402

GREEDY = ("--temperature", "0")
LETTERS = "abcdefghijklmnopqrstuvwxyz:; "


class LanguageModel(SmallModel):
    def tokens(self, text: str) -> list[int]:
        return json.loads(self.tenon("tokens", self.engine, text, "--json"))["tokens"]

    def likeliest(self, text: str, count: int) -> list[int]:
        """The likeliest tokens after the text, each from a run of all tokens before it."""
        tokens, file = self.tokens(text), self.top / "tokens.npy"
        first = len(tokens)
        for _ in range(count):
            np.save(file, np.array([tokens], dtype=np.int64))
            self.tenon("run", self.engine, "--input", f"tokens={file}", "--output", self.top / "out.npz")
            tokens.append(int(np.load(self.top / "out.npz")["logits"].argmax()))
            if tokens[-1] == len(LETTERS):
                break
        return tokens[first:]

    def generated(self, prompt: str, count: int, *more: object) -> dict:
        """The likeliest text, unless `more` has other options."""
        return json.loads(self.tenon("generate", self.engine, "--prompt", prompt, "-n", count, "--json", *(more or GREEDY)))

    def chats(self, *more: object, **options) -> list[dict]:
        return json.loads(self.tenon("chat", self.engine, "--json", "-n", 5, *GREEDY, *more, **options))["answers"]

    def test_tokens_are_letters(self):
        out = json.loads(self.tenon("tokens", self.engine, "ab: </s>", "--json"))
        self.assertEqual(out, {"tokens": [0, 1, 26, 28, 29], "texts": ["a", "b", ":", " ", "</s>"]})
        self.assertIn("5 tokens", self.tenon("tokens", self.model, "ab: </s>"))
        self.assertEqual(json.loads(self.tenon("tokens", self.engine, "</s>", "--literal", "--json"))["tokens"], [18])

    def test_a_greedy_text_is_the_likeliest_token_in_each_run(self):
        out = self.generated("once upon", 6)
        self.assertEqual(out["tokens"], self.likeliest("once upon", 6))
        self.assertEqual(out["prompt_tokens"], 9)
        shown = self.tenon("generate", self.engine, "-n", 6, *GREEDY, input="once upon")
        self.assertEqual(shown.rstrip("\n"), out["text"])

    def test_equal_seeds_give_equal_texts(self):
        texts = [self.generated("once", 20, "--temp", 1, "--seed", seed)["text"] for seed in (3, 3, 4)]
        self.assertEqual(texts[0], texts[1])
        self.assertNotEqual(texts[0], texts[2])

    def test_turns_are_answered_over_one_cache(self):
        first, second = self.chats("--ask", "hello", "--ask", "and")
        self.assertEqual(first["tokens"], self.likeliest("u:hello;a:", 5))
        chat = f"u:hello;a:{first['text']};u:and;a:"
        self.assertEqual(second["tokens"], self.likeliest(chat, 5))
        self.assertEqual(first["reused_tokens"], 0)
        self.assertGreaterEqual(second["reused_tokens"], first["prompt_tokens"])
        piped = self.chats(input="hello\n\nand\n")
        self.assertEqual([a["tokens"] for a in piped], [first["tokens"], second["tokens"]])

    def test_turns_of_files_and_of_several_lines(self):
        file, whole = self.top / "text.txt", self.top / "whole.txt"
        file.write_text("hello\n")
        whole.write_text("hello\n\nand\n")
        (asked,) = self.chats("--ask", "hello\n\nand")
        for words in (("--file", file, "--ask", "and"), ("--file", whole), ("--file", file, "--ask", "-")):
            (answer,) = self.chats(*words, input="and")
            self.assertEqual(answer["tokens"], asked["tokens"], words)
        (joined,) = self.chats(input="hello\\\n\\\nand\n")
        self.assertEqual(joined["tokens"], asked["tokens"])
        self.assertEqual(self.generated("hello", 5)["tokens"], self.chats_of_file("generate", file))

    def chats_of_file(self, verb: str, file: Path) -> list[int]:
        return json.loads(self.tenon(verb, self.engine, "--file", file, "-n", 5, "--json", *GREEDY))["tokens"]

    def test_clear_forgets_the_turns_and_exit_ends_the_chat(self):
        first, second, again = self.chats(input="hello\nand\n/clear\nhello\n/exit\nmore\n")
        self.assertEqual(again["tokens"], first["tokens"])
        self.assertNotEqual(second["tokens"], first["tokens"])
        self.assertEqual(again["prompt_tokens"], first["prompt_tokens"])

    def test_a_person_goes_on_after_a_turn_that_is_refused(self):
        ours, theirs = pty.openpty()
        words = [str(TENON), "chat", str(self.engine), "-n", "5", "--verbose", *GREEDY]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(words, stdin=theirs, env=self.environment, **pipes) as chat:
            os.write(ours, b"/help\n" + b"x" * 300 + b"\nhello\n/exit\n")
            shown, noted = (pipe.read().decode() for pipe in (chat.stdout, chat.stderr))
        os.close(ours)
        os.close(theirs)
        self.assertEqual(chat.returncode, 0, noted)
        self.assertIn("longer than the context", noted)
        self.assertRegex(noted, r"seed \d+; prompt [\d.]+ s, answer [\d.]+ s.*context: 15 of 200 tokens")
        self.assertIn(self.chats("--ask", "hello")[0]["text"], shown)

    def test_a_stream_goes_on_after_the_context(self):
        folder = self.top / "stream"
        folder.mkdir()
        write_language_model(folder, context=24)
        stream = ("--window", 16, "--sinks", 4, *GREEDY)
        words = ("generate", folder, "--prompt", "once", "-n", 300, "--ignore-eos", "--json")
        whole = json.loads(self.tenon(*words, *GREEDY))
        endless = json.loads(self.tenon(*words, *stream))
        self.assertEqual((whole["ended_by"], endless["ended_by"]), ("context_full", "max_tokens"))
        self.assertEqual(len(endless["tokens"]), 300)
        self.assertEqual(endless["tokens"][:10], whole["tokens"][:10])
        # A prompt of all but the last token, in runs of 128, has the same answer.
        text = "once" + "".join(LETTERS[t] if t < len(LETTERS) else "</s>" for t in endless["tokens"][:-1])
        again = json.loads(self.tenon("generate", folder, "--prompt", text, "-n", 1, "--ignore-eos", "--json", *stream))
        self.assertEqual((again["prompt_tokens"], again["tokens"]), (303, endless["tokens"][-1:]))
        # A turn continues the rings; a chat that begins anew computes all again.
        chat = ("chat", folder, "--json", "-n", 5, *stream)
        long, second, again = json.loads(self.tenon(*chat, input="x" * 200 + "\nhello\n/clear\nhello\n"))["answers"]
        self.assertGreaterEqual(second["reused_tokens"], long["prompt_tokens"])
        text = f"u:{'x' * 200};a:{long['text']};u:hello;a:"
        fresh = json.loads(self.tenon("generate", folder, "--prompt", text, "-n", 5, "--json", *stream))
        self.assertEqual(second["tokens"], fresh["tokens"])
        self.assertEqual(again["reused_tokens"], 0)
        self.assertEqual(again["tokens"], json.loads(self.tenon(*chat, "--ask", "hello"))["answers"][0]["tokens"])
        error = self.failure("generate", self.engine, "--prompt", "once", "--window", 16)
        self.assertEqual((error["place"], error["found"]), ("--window", f"{self.engine}, an engine"))

    def test_a_token_reads_a_row_of_an_embedding_that_is_not_the_output_table(self):
        folder = self.top / "untied"
        folder.mkdir()
        write_language_model(folder)
        rows = weights()["model.embed_tokens"]
        write_folder(folder, 2000, {"lm_head": rows * 2})
        for model in (self.model, folder):  # of f16 a table of both is stored twice: rows, and panels of the product
            out = json.loads(self.tenon("generate", model, "-p", "once", "-n", 1, "--json"))
            self.assertEqual(out["weight_bytes"] - out["token_bytes"], rows[1:].size * 2)

    def test_a_stop_string_is_no_part_of_the_text(self):
        whole = self.generated("once", 12)["text"]
        stop = whole[4:6]
        out = self.generated("once", 12, "--stop", stop, *GREEDY)
        self.assertEqual(out["text"], whole[: whole.index(stop)])
        self.assertEqual(out["ended_by"], "stop_string")

    def test_a_checkpoint_is_built_once_into_the_cache(self):
        folder = self.top / "changing"
        folder.mkdir()
        write_language_model(folder)
        answers = [self.start("generate", folder, "-p", "once", "-n", 4, "--ignore-eos", *GREEDY) for _ in range(2)]
        self.assertIn("builds", answers[0].stderr)
        self.assertIn(str(self.top / "cache/tenon/engines/changing-"), answers[0].stderr)
        self.assertNotIn("builds", answers[1].stderr)
        self.assertRegex(answers[1].stderr, r"answer: 4 tokens at [\d.]+ tokens/s, \d+ % of the read bandwidth of [\d.]+ GB/s")
        self.assertEqual(answers[0].stdout, answers[1].stdout)
        self.assertIn("builds", self.start("generate", folder, "-p", "once", "-n", 4, "--context", 20, *GREEDY).stderr)
        os.utime(folder / "model.safetensors", (1, 1))
        self.assertIn("builds", self.start("generate", folder, "-p", "once", "-n", 4, *GREEDY).stderr)
        made = list((self.top / "cache/tenon/engines").iterdir())
        self.assertTrue(all(file.suffix == ".tenon" for file in made), made)
        for file in made:
            os.utime(file, (1, 1))
        limited = self.environment | {"TENON_CACHE_SIZE": "1K"}
        noted = self.start("generate", folder, "-p", "once", "-n", 4, "--context", 21, *GREEDY, environment=limited).stderr
        self.assertIn(f"removed {len(made)} engines", noted)
        (left,) = (self.top / "cache/tenon/engines").iterdir()
        self.assertNotIn(left, made)

    def test_ctrl_c_ends_the_answer_and_not_the_chat(self):
        folder = self.top / "long"
        folder.mkdir()
        write_language_model(folder, context=100_000)
        words = [str(TENON), "chat", str(folder), "--ignore-eos", *GREEDY]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(words, bufsize=0, env=self.environment, **pipes) as chat:
            for question in (b"hello\n", b"and\n"):
                chat.stdin.write(question)
                self.assertTrue(chat.stdout.read(1))  # the answer is under way, and would take minutes
                chat.send_signal(signal.SIGINT)
                while chat.stdout.read(1) not in (b"\n", b""):
                    pass
            chat.stdin.close()
            noted = chat.stderr.read().decode()
        self.assertEqual(chat.returncode, 0, noted)
        self.assertEqual(noted.count("; stopped]"), 2, noted)
        self.assertIn("kept from before", noted)  # what was computed before Ctrl-C

    def test_bad_inputs_are_one_error_each(self):
        bare, plain = self.top / "bare", self.top / "plain"
        bare.mkdir(exist_ok=True)
        plain.mkdir(exist_ok=True)
        write_folder(bare)
        write_language_model(plain, template=None)
        self.tenon("build", bare, "-o", self.top / "bare.tenon")
        self.assertEqual(self.failure("chat", self.top / "bare.tenon", "--ask", "hi")["what"], "the model has no tokenizer")
        self.assertEqual(self.failure("chat", plain, "--ask", "hi")["what"], "the model has no chat template")
        self.assertEqual(self.failure("generate", self.engine, "--prompt", "")["what"], "the prompt is empty")
        longer = self.failure("generate", self.model, "--context", CONTEXT, "--prompt", "x" * 30)
        self.assertEqual(longer["what"], "the prompt is longer than the context")
        self.assertEqual(longer["found"], f"30 tokens, {30 - CONTEXT + 1} too many")
        self.assertIn("no system", self.failure("chat", self.engine, "--system", "be kind", "--ask", "hi")["what"])
        self.assertEqual(self.failure("chat", self.engine, "--context", 5, "--ask", "hi")["code"], 200)
        self.assertEqual(self.failure("generate", self.engine, "-p", "a", "--top-p", 3)["code"], 200)
        self.assertEqual(self.failure("chat", ROOT / "examples/mlp.onnx", "--ask", "hi")["code"], 200)
        self.assertEqual(self.failure("chat", self.top / "none.gguf", "--ask", "hi")["name"], "file_missing")

    def test_an_answer_ends_where_the_context_is_full(self):
        words = ("--context", CONTEXT, "--prompt", "once", "--ignore-eos", "--json", *GREEDY)
        out = json.loads(self.tenon("generate", self.model, *words))
        self.assertEqual(out["ended_by"], "context_full")
        self.assertEqual(len(out["tokens"]), CONTEXT - len("once"))

    def decoder(self, name: str, model: bytes, **text) -> Path:
        folder = self.top / name
        folder.mkdir()
        (folder / "model.onnx").write_bytes(model)
        write_text(folder, **text)
        return folder

    def test_onnx_decoders_give_the_tokens_of_whole_sequences(self):
        """50 tokens each; the checkpoint of the same weights gives them too."""
        want = self.generated("once upon", 50, "--ignore-eos", *GREEDY)["tokens"]
        self.assertEqual(want[:6], self.likeliest("once upon", 6))
        models = {
            "optimum": Decoder().model(),
            "merged": Decoder().merged(),
            "dynamo": Decoder(length="p_{}").model(),
            "genai": Decoder(grouped=True).model(),
        }
        for name, model in models.items():
            with self.subTest(name):
                folder = self.decoder(name, model, genai=name == "genai")
                words = ("-p", "once upon", "-n", 50, "--ignore-eos", "--json", *GREEDY)
                self.assertEqual(json.loads(self.tenon("generate", folder, *words))["tokens"], want)
        out = json.loads(self.tenon("chat", self.top / "genai/model.onnx", "--json", "-n", 5, *GREEDY, "--ask", "hello"))["answers"]
        self.assertEqual(out[0]["tokens"], self.chats("--ask", "hello")[0]["tokens"])

    def test_an_onnx_decoder_is_built_for_other_names(self):
        model = Decoder().model().replace(b"present.", b"updated.")
        folder = self.decoder("renamed", model, context=30)
        self.assertIn("no output replaces", self.failure("generate", folder, "-p", "a")["what"])
        pair = ("--state", "past_key_values.*=updated.*")
        self.assertTrue(json.loads(self.tenon("generate", folder, "-p", "a", "-n", 3, "--json", *pair, *GREEDY))["tokens"])
        self.assertEqual(self.failure("generate", folder, "-p", "a", "--context", 31, *pair)["expected"], "at most 30")
        self.tenon("build", folder / "model.onnx", "--state", "auto", *pair, "--context", 20, "-o", self.top / "renamed.tenon")
        self.assertEqual(self.failure("generate", self.top / "renamed.tenon", "-p", "x" * 25)["found"], "25 tokens, 6 too many")

    def test_a_tokenizer_of_another_vocabulary_is_refused(self):
        folder = self.decoder("larger", Decoder().model())
        text = json.loads((folder / "tokenizer.json").read_text())
        text["model"]["vocab"] |= {f"{k:04}": 30 + k for k in range(20)}
        (folder / "tokenizer.json").write_text(json.dumps(text))
        self.assertIn("vocabulary", json.dumps(self.failure("generate", folder, "-p", "a")))


if __name__ == "__main__":
    unittest.main()
