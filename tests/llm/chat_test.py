# SPDX-License-Identifier: Apache-2.0
"""`tenon chat`, `generate` and `tokens` on a small random model, whose tokens are letters."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/nn"))
from checkpoint_files import CONTEXT, small_gguf, weights, write_folder, write_language_model  # noqa: E402
from onnx_decoders import Decoder, write_text  # noqa: E402

TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
GREEDY = ("--temperature", "0")
LETTERS = "abcdefghijklmnopqrstuvwxyz:; "


class LanguageModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.environment = os.environ | {"XDG_CACHE_HOME": str(cls.top / "cache")}
        cls.model = cls.top / "small"
        cls.model.mkdir()
        write_language_model(cls.model)
        cls.engine = cls.top / "small.tenon"
        cls.tenon("build", cls.model, "--context", 200, "-o", cls.engine)

    @classmethod
    def start(cls, *arguments: object, environment: dict[str, str] | None = None, **more) -> subprocess.CompletedProcess:
        words = [str(TENON), *map(str, arguments)]
        return subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment or cls.environment, **more)

    @classmethod
    def tenon(cls, *arguments: object, **more) -> str:
        done = cls.start(*arguments, **more)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        return done.stdout

    def failure(self, *arguments: object) -> dict:
        done = self.start(*arguments, "--json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return json.loads(done.stdout)["error"]

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

    def measured(self, model: Path, *options: object, **more) -> dict:
        return json.loads(self.tenon("bench", model, *options, "--runs", 1, "--seconds", 0.1, "--json", **more))

    def test_prompts_and_answers_are_measured(self):
        report = self.measured(self.model, "--prefill", "8,600", "--decode", 4, "--past", 20)
        rows = report["rows"]
        self.assertEqual([(r["work"], r["tokens"], r["past"]) for r in rows], [("prefill", 8, 20), ("prefill", 600, 20), ("decode", 4, 20)])
        for row in rows:
            self.assertAlmostEqual(row["ms_per_token"] * row["tokens"], row["median_ms"])
            self.assertAlmostEqual(row["tokens_per_second"] * row["ms_per_token"], 1000)
            self.assertLessEqual(row["tokens_per_second_p5"], row["tokens_per_second"])
            self.assertGreater(min(row["gflops"], row["peak_share"], row["memory_share"], row["memory_gbps"]), 0)
            self.assertIsNone(row["vs"])
        read = [row["read_gbps"] * row["median_ms"] * 1e6 for row in rows]
        layers, token = 2 * 2 * 30_720, 2 * 2 * 32 * 4  # their products, f16; keys and values of a token, f32
        self.assertTrue(layers < read[0] - 20 * token < report["weight_bytes"], read)
        self.assertTrue(4 * layers < read[2] - (4 * 20 + 6) * token <= 4 * (read[0] - 20 * token), read)

    def test_sequences_of_a_batch_are_measured_together(self):
        report = self.measured(self.model, "--prefill", 600, "--decode", 4, "--past", 20, "--batch", "1,3")
        rows = report["rows"]
        self.assertEqual([(r["work"], r["batch"]) for r in rows], [(w, n) for n in (1, 3) for w in ("prefill", "decode")])
        self.assertIn("decode 4 behind 20, batch 3", self.tenon("bench", self.model, *"--decode 4 --past 20 --batch 3 --runs 1".split()))
        for row in rows:
            self.assertAlmostEqual(row["ms_per_token"] * row["tokens"] * row["batch"], row["median_ms"])
            self.assertAlmostEqual(row["tokens_per_second"] * row["ms_per_token"], 1000)
        one, three = (row["gflops"] * row["median_ms"] for row in rows[1::2])
        self.assertAlmostEqual(three / one, 3, delta=0.03)
        read = [row["read_gbps"] * row["median_ms"] * 1e6 for row in rows[1::2]]
        cached = 2 * 2 * 32 * 4 * (4 * 20 + 6)  # keys and values that four steps of a sequence read, f32; weights once for all
        self.assertTrue(2 * cached < read[1] - read[0] < 2.5 * cached, (read, cached))
        fixed = self.top / "three.tenon"
        self.tenon("build", self.model, "--context", 30, "--batch", 3, "-o", fixed)
        self.assertEqual(self.measured(fixed, "--decode", 2, "--batch", 3)["rows"][0]["batch"], 3)
        other = self.failure("bench", fixed, "--decode", 2)
        self.assertEqual((other["what"], other["expected"]), ("the engine runs another number of sequences", "tokens of 1 sequence"))
        self.assertIn("tokens: i64[3,", other["found"])

    def llama(self, package: Path) -> dict[str, str]:
        """The environment of a Python that has this llama_cpp."""
        python = self.top / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH={package} exec {sys.executable} "$@"\n')
        python.chmod(0o755)
        return self.environment | {"TENON_PEERS_PYTHON": str(python)}

    def test_llama_cpp_runs_the_same_tokens(self):
        checkpoint, environment = self.top / "small.gguf", self.environment
        checkpoint.write_bytes(small_gguf())
        try:
            type(self).environment = self.llama(ROOT / "tests/llm/fake_llama")
            works = ("--prefill", "5,20", "--decode", 4, "--past", 3, "--batch", "1,60")  # chunks of 512 tokens: 8 of each of 60
            for row in self.measured(checkpoint, *works, "--vs", "llama.cpp")["rows"]:
                self.assertEqual((row["vs"]["name"], row["vs"]["version"]), ("llama.cpp", "fake"))
                self.assertLessEqual(row["vs"]["ratio_low"], row["vs"]["ratio_high"])
            report = json.loads(self.tenon("compare", checkpoint, "--tokens", 7, "--with", "llama.cpp", "--json"))
            ours, theirs = report["engines"]
            self.assertEqual((report["verdict"], ours["name"], theirs["name"]), ("good", "tenon", "llama.cpp"))
            self.assertLess(ours["rms_error"], 1e-5)
            self.assertGreater(theirs["rms_error"], 0.1)  # a line is far from any
            type(self).environment = self.llama(self.top)
            missing = self.failure("compare", checkpoint, "--with", "llama.cpp")
            self.assertEqual(missing["found"], "no module llama_cpp")
            self.assertIn("requirements-llama.txt", missing["advice"])
        finally:
            type(self).environment = environment

    def test_logits_are_compared_with_fp64(self):
        report = json.loads(self.tenon("compare", self.model, "--tokens", 9, "--json"))
        (ours,) = report["engines"]
        self.assertEqual((report["verdict"], report["tokens"], ours["same_likeliest"]), ("good", 9, 9))
        self.assertLess(ours["rms_error"], 1e-5 * report["logit_deviation"])
        self.assertLess(0, ours["largest_error"])
        rounded = json.loads(self.tenon("compare", self.model, "--tokens", 9, "--kv", "f16", "--json"))
        self.assertEqual(rounded["verdict"], "good")
        self.assertGreater(rounded["engines"][0]["rms_error"], 10 * ours["rms_error"])  # to a cache of f32
        file = self.top / "given.npy"
        np.save(file, np.array([[3, 1, 31]]))
        self.assertIn("logits of 3 tokens", self.tenon("compare", self.model, "--input", f"tokens={file}"))
        np.save(file, np.array([[3, 1, 32]]))
        self.assertEqual(self.failure("compare", self.model, "--input", f"tokens={file}")["found"], "32")

    def test_logits_of_runs_of_few_tokens_are_compared(self):
        """With dynamic NTK a run takes at most 16 tokens."""
        folder = self.top / "dynamic"
        shutil.copytree(self.model, folder)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"rope_scaling": {"type": "dynamic", "factor": 2.0}}))
        report = json.loads(self.tenon("compare", folder, "--tokens", 37, "--json"))
        self.assertEqual((report["verdict"], report["tokens"]), ("good", 37))

    @unittest.skipUnless("avx512_bf16" in Path("/proc/cpuinfo").read_text(), "needs a CPU with AVX512_BF16")
    def test_logits_of_rounded_activations_are_compared(self):
        errors = {}
        for activations in ("f32", "bf16", "i8"):
            options = ("--weights", "int8", "--activations", activations)
            report = json.loads(self.tenon("compare", self.model, "--tokens", 9, *options, "--json"))
            self.assertEqual((report["verdict"], report["activations"]), ("good", activations))
            errors[activations] = report["engines"][0]["rms_error"]
            self.assertIn("answer:", self.start("generate", self.model, *options, "-p", "once", "-n", 2).stderr)
        self.assertLess(10 * errors["f32"], errors["bf16"])
        self.assertLess(errors["bf16"], errors["i8"])

    def test_bad_calls_of_bench_and_compare_are_one_error_each(self):
        def what(*arguments: object) -> tuple[int, str]:
            error = self.failure(*arguments)
            return error["code"], error["what"]

        bench = ("bench", self.engine, "--prefill", 8)
        self.assertEqual(what(*bench, "--batch", "1,4"), (200, "the engine runs another number of sequences"))
        self.assertEqual(self.failure(*bench, "--vs", "onnxruntime")["expected"], "--vs llama.cpp")
        self.assertEqual(self.failure(*bench, "--vs", "llama.cpp")["expected"], "a GGUF file")
        self.assertEqual(self.failure("bench", self.engine, "--past", 8)["found"], "neither")
        self.assertEqual(self.failure(*bench, "--past", 200)["expected"], "at most 200 tokens")
        self.assertEqual(self.failure(*bench, "--cold")["code"], 200)
        self.assertEqual(self.failure("bench", ROOT / "examples/mlp.onnx", "--decode", 4)["what"], "the engine is no language model")
        self.assertEqual(self.failure("compare", ROOT / "examples/mlp.onnx", "--tokens", 4)["code"], 200)
        self.assertEqual(self.failure("compare", self.model, "--with", "llama.cpp")["code"], 200)
        self.assertEqual(self.failure("compare", self.model, "--tokens", 4, "--steps", 4)["found"], "also --steps")

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
