# SPDX-License-Identifier: Apache-2.0
"""`tenon bench` and `compare` of a small language model: tokens a second, errors of logits, beside a fake llama.cpp."""

import json
import shutil
import sys
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
from small_model import ROOT, SmallModel  # noqa: E402

sys.path.insert(0, str(ROOT / "tests/nn"))
from checkpoint_files import small_gguf  # noqa: E402


class Measurements(SmallModel):
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


if __name__ == "__main__":
    unittest.main()
