# SPDX-License-Identifier: Apache-2.0
"""Engines that are asked by turns: made-up ones that differ, fail or end, and real ones where they are installed."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools/bench"))

import engines  # noqa: E402
import turns  # noqa: E402

# Answers as an engine does; a word on its command line says what it is like.
PRETENDED = """
import shutil, sys
like, folder = sys.argv[1:]
if like == "unfit": print("error unfit no such op"); sys.exit(1)
if like == "crash": sys.exit("out of luck")
print("ready 1.5 2.5 engine 1.0", flush=True)
for line in sys.stdin:
    command, _, argument = line.strip().partition(" ")
    if command == "outputs":
        shutil.copyfile(f"{folder}/{'other' if like == 'other' else 'usual'}.npz", argument)
        print("written", flush=True)
    elif like == "ends": sys.exit("enough")
    elif command == "limits": print("limits 100 0 400 20", flush=True)
    elif command == "work": print("work 3e8 0 4e8 1e6", flush=True)
    else: print("times", *[20 if like == "slow" else 10] * int(argument), flush=True)
"""
WORK = engines.Work(Path("model"), "family", Path("inputs"), {}, 1)


def silent(text: str) -> None:
    pass


def measured(peers: list[str], rounds: int = 6) -> dict:
    """tenon and peers are pretended; each peer is called by what it is like."""
    with tempfile.TemporaryDirectory() as folder:
        for name, off in (("usual", 0), ("other", 1)):
            np.savez(Path(folder) / name, np.arange(4.0) + off)
        command = [sys.executable, "-S", "-c", PRETENDED]
        with mock.patch.object(engines, "command_of", lambda name, work: [*command, name, folder]):
            return turns.measure(peers, WORK, turns.Budget(rounds, 60), silent)


class Turns(unittest.TestCase):
    def test_another_precision_is_compared_with_engines_that_have_it_and_our_f32(self):
        self.assertEqual(engines.peers_of("f32", ["onnxruntime"]), ["onnxruntime"])
        self.assertEqual(engines.peers_of("bf16", list(engines.PEERS)), ["openvino-dynamic", "openvino-static", "tenon-f32"])
        work = engines.Work(Path("model"), "family", Path("inputs"), {}, 1, "bf16")
        asks = {name: "bf16" in engines.command_of(name, work) for name in ("tenon", "tenon-f32", "openvino-static")}
        self.assertEqual(asks, {"tenon": True, "tenon-f32": False, "openvino-static": True})

    def test_figures_follow_from_what_engines_say(self):
        row = measured(["slow", "like"])
        self.assertEqual((row["vs"]["slow"]["ratio"], row["vs"]["like"]["ratio"], row["best"]), (2, 1, "like"))
        self.assertEqual((row["vs"]["slow"]["kept"], row["vs"]["slow"]["tried"], row["vs"]["slow"]["quiet"]), (6, 6, True))
        self.assertAlmostEqual(row["share"], 0.4)  # 3 ms at 100 GFLOP/s, 1 ms at 400
        self.assertEqual((row["gflop"], row["peak_gflops"], row["products"]), (0.7, 100, {"int8": {"gflop": 0.4, "peak_gflops": 400}}))
        self.assertEqual(row["vs"]["slow"]["version"], "engine 1.0")
        self.assertTrue(row["counts"])

    def test_one_that_answers_otherwise_is_not_measured(self):
        row = measured(["slow", "like", "other"])
        self.assertEqual((row["unlike"], sorted(row["vs"]), row["counts"]), (["other"], ["like", "slow"], True))

    def test_where_most_answer_otherwise_the_row_does_not_count(self):
        row = measured(["other", "slow"])
        self.assertEqual((row["unlike"], row["counts"]), (["other"], False))
        self.assertIn("other", row["vs"])

    def test_one_that_fails_is_reported_and_the_rest_goes_on(self):
        row = measured(["unfit", "crash", "slow"])
        self.assertEqual(row["failed"]["unfit"], "no such op")
        self.assertIn("out of luck", row["failed"]["crash"])
        self.assertEqual(list(row["vs"]), ["slow"])

    def test_one_that_ends_while_it_is_measured_is_reported_too(self):
        row = measured(["slow", "ends"])
        self.assertEqual((sorted(row["vs"]), row["vs"]["slow"]["tried"]), (["slow"], 6))
        self.assertIn("enough", row["failed"]["ends"])

    def test_nothing_is_measured_where_tenon_fails(self):
        with mock.patch.object(engines, "command_of", lambda name, work: [sys.executable, "-S", "-c", PRETENDED, "unfit", ""]):
            with self.assertRaisesRegex(engines.EngineError, "no such op"):
                turns.measure(["slow"], WORK, turns.Budget(1, 1), silent)

    def test_no_process_is_left(self):
        begun = []
        real = subprocess.Popen

        def popen(*arguments, **options):
            begun.append(real(*arguments, **options))
            return begun[-1]

        with mock.patch.object(subprocess, "Popen", popen):
            measured(["slow", "crash", "other"])
        self.assertEqual(len(begun), 4)
        self.assertTrue(all(each.poll() is not None for each in begun))


class Disturbed(unittest.TestCase):
    def sample(self, *peaks: float) -> tuple:
        """Of an engine whose runs take 1, 2, 3, ... ms, beside limits that go through `peaks`."""
        engine, limits = mock.Mock(), mock.Mock()
        engine.times_ms.side_effect = [[k] for k in range(1, 9)]
        limits.numbers.side_effect = [[peak, 0, 0, 20] for peak in peaks[1:]]
        return turns.sample_of(engine, 1, False, limits, [peaks[0], 0, 0, 20])

    def test_a_sample_is_taken_again_until_the_peak_holds_still(self):
        sample, after = self.sample(100, 50, 99, 100)
        self.assertEqual((sample.times_ms, sample.peaks, after), ([3], [99, 100], [100, 0, 0, 20]))

    def test_but_not_for_ever(self):
        sample, _ = self.sample(100, 50, 100, 50)
        self.assertEqual((sample.times_ms, sample.peaks), ([3], [100, 50]))
        self.assertEqual(self.sample(100, 98)[0].times_ms, [1])


class Real(unittest.TestCase):
    def test_installed_engines_agree_on_a_small_model(self):
        if not engines.PEERS_PYTHON.exists():
            self.skipTest("needs .venv-peers")
        has = lambda package: subprocess.run([engines.PEERS_PYTHON, "-c", f"import {package}"], capture_output=True).returncode == 0  # noqa: E731
        names = [name for name in engines.PEERS[:3] if has(name.partition("-")[0])]
        with tempfile.TemporaryDirectory() as folder:
            inputs = Path(folder) / "inputs.npz"
            np.savez(inputs, x=np.random.default_rng(1).standard_normal((4, 16), np.float32))
            work = engines.Work(ROOT / "examples/mlp.onnx", "", inputs, {"x": [4, 16]}, 1)
            row = turns.measure(names, work, turns.Budget(2, 1), silent)
        self.assertEqual((row["failed"], row["unlike"], sorted(row["vs"])), ({}, [], sorted(names)))
        self.assertGreater(row["gflop"], 0)
        self.assertNotIn("products", row, "all are of f32")


if __name__ == "__main__":
    unittest.main()
