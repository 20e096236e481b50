# SPDX-License-Identifier: Apache-2.0
"""Rows about processes, on a small model: what they say is in its form, and what they read is what the system counts."""

import os
import subprocess
import sys
import tempfile
import time
import unittest
from itertools import product
from pathlib import Path
from unittest import mock

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/bench"))

import llm_bench  # noqa: E402
import process_bench  # noqa: E402
from cases import Case  # noqa: E402

MODEL = ROOT / "examples/mlp.onnx"
CASE = Case("small", "a small model", "mlp", {"x": [4, 16]})


class Processes(unittest.TestCase):
    def test_counts_are_those_of_the_system(self):
        before = process_bench.cpu_seconds(os.getpid())
        while time.process_time() < 0.05 or process_bench.cpu_seconds(os.getpid()) == before:
            sum(range(10_000))
        self.assertGreater(process_bench.cpu_seconds(os.getpid()), before)
        held = process_bench.resident_mb(os.getpid())
        more = np.ones(25_000_000)
        self.assertGreater(process_bench.resident_mb(os.getpid()), held + 0.9 * more.nbytes / 1e6)

    def rows(self, measure) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            engine = Path(folder) / "small.tenon"
            subprocess.run([process_bench.ROOT / "build/bin/tenon", "build", MODEL, "-o", engine, "--quiet"], check=True)
            names = ("MEMORY_CASE", "IDLE_CASE", "CONTEXTS_CASE")
            with mock.patch.multiple(process_bench, **{each: "small" for each in names}, TURNS=2, TURN_SECONDS=0.01, IDLE_TIMES=2):
                with mock.patch.multiple(process_bench, engine_of=lambda family: engine, model_of=lambda family: MODEL):
                    with mock.patch.object(process_bench.cases, "all_cases", lambda: {"small": CASE}):
                        return [f"{row['what']}: {row['figure']}" for row in measure(1)["rows"]]

    def test_memory_is_reported_for_both_ways_to_load(self):
        engine, onnx = self.rows(process_bench.measure_memory)
        self.assertRegex(engine, r"^resident memory, a small model, from its engine: \d+ MB: weights in use \(0\) \+ \d+$")
        self.assertRegex(onnx, r"from ONNX: \d+ MB")

    def test_idle_time_is_reported(self):
        self.assertRegex(self.rows(process_bench.measure_idle)[0], r"^CPU time from 1 ms after a run on: \d+ us in 200 ms")

    def test_prompts_and_answers_are_reported(self):
        vs = {"ratio": 1.987, "ratio_low": 1.9, "ratio_high": 2.1}
        row = {
            "work": "decode",
            "tokens": 128,
            "past": 4096,
            "batch": 1,
            "memory_share": 0.8,
            "peak_share": 0.1,
            "samples_quiet": 7,
            "samples_kept": 7,
        }
        far = llm_bench.speed_row("Q4_1", "f32", row | {"vs": vs})
        self.assertEqual(far["what"], "SmolLM2-135M Q4_1, f32, decode 128 behind 4096 tokens")
        self.assertEqual((far["figure"], far["to_be"]), ("1.99 (1.90 to 2.10) against llama.cpp; 80 % of the read bandwidth", "2.2"))
        near = llm_bench.speed_row("Q4_1", "f32", row | {"vs": vs, "work": "prefill", "past": 0, "samples_quiet": 2})
        self.assertEqual((near["figure"], near["to_be"]), ("~1.99 (1.90 to 2.10) against llama.cpp; ~10 % of the FMA peak", "2.5; 85 %"))

    def test_every_row_of_a_language_model_has_a_bar(self):
        """All that is measured is said with its bar, of both formats."""
        rows = []

        def tenon(verb: str, model: str, *words: object) -> dict:
            named = dict(zip(words[::2], map(str, words[1::2])))
            works = [("prefill", int(n)) for n in named.get("--prefill", "").split(",") if n]
            works += [("decode", int(n)) for n in [named.get("--decode")] if n]
            common = {"past": int(named.get("--past", 0)), "memory_share": 1, "peak_share": 1, "samples_quiet": 7, "samples_kept": 7}
            common["vs"] = {"ratio": 2, "ratio_low": 2, "ratio_high": 2}
            batches = map(int, named.get("--batch", "1").split(","))
            return {"rows": [common | {"work": w, "tokens": n, "batch": b} for b in batches for w, n in works]}

        with mock.patch.object(llm_bench, "tenon", tenon):
            for of in product(("Q4_1", "Q4_0"), llm_bench.ERRORS):
                rows += [llm_bench.speed_row(*of, row) for row in llm_bench.measure_speed(*of, Path(), 1, llm_bench.Budget())]
        self.assertEqual(len(rows), 19)
        bars = {row["what"]: row["to_be"] for row in rows}
        self.assertEqual(bars["SmolLM2-135M Q4_0, f32, decode 32 of 16 sequences"], "1.15")
        self.assertEqual(bars["SmolLM2-135M Q4_1, i8, prefill 512"], "6")

    def test_contexts_are_reported(self):
        if not list((ROOT / "build/python/tenon").glob("_tenon*.so")):
            self.skipTest("needs the Python package built")
        with mock.patch.object(process_bench, "python_of_tenon", lambda: Path(sys.executable)):
            two, four = self.rows(process_bench.measure_contexts)
        self.assertRegex(two, r"^throughput of 2 contexts of 1 threads, a small model: [\d.]+ \([\d.]+ to [\d.]+\) times that of one$")
        self.assertIn("4 contexts", four)


if __name__ == "__main__":
    unittest.main()
