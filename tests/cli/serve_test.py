# SPDX-License-Identifier: Apache-2.0
"""`tenon bench --serve` answers a line a command."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
MODEL = ROOT / "examples/mlp.onnx"
COMMAND = [str(TENON), "bench", str(MODEL), "--shape", "x=4x16", "--threads", "1", "--serve"]


def served(*commands: str) -> subprocess.CompletedProcess:
    return subprocess.run(COMMAND, input="".join(f"{each}\n" for each in commands), capture_output=True, text=True, timeout=300)


class Serve(unittest.TestCase):
    def test_each_command_has_its_line(self):
        done = served("run 3", "cold 2", "work", "limits")
        self.assertEqual(done.returncode, 0, done.stderr)
        words = [line.split() for line in done.stdout.splitlines()]
        self.assertEqual([line[0] for line in words], ["ready", "times", "times", "work", "limits"])
        times, work, limits = words[1:3], *([float(number) for number in line[1:]] for line in words[3:])
        self.assertEqual([len(line) - 1 for line in times], [3, 2])
        self.assertTrue(all(float(number) > 0 for line in times for number in line[1:]))
        for numbers in (work, limits):  # of f32, bf16 and int8, and of memory: the model computes in f32 alone
            self.assertEqual([number > 0 for number in numbers], [True, False, False, True])
        self.assertEqual(words[0][3], "tenon")

    def test_outputs_are_those_of_a_run(self):
        with tempfile.TemporaryDirectory() as name:
            there, next_to = Path(name) / "there.npz", Path(name) / "beside.npz"
            self.assertEqual(served(f"outputs {there}").stdout.splitlines()[1], "written")
            run = [str(TENON), "run", str(MODEL), "--shape", "x=4x16", "--threads", "1", "--output", str(next_to)]
            subprocess.run(run, check=True, capture_output=True)
            with np.load(there) as a, np.load(next_to) as b:
                self.assertEqual(len(a.files), len(b.files))
                for k, each in enumerate(b.files):
                    np.testing.assert_array_equal(a[f"arr_{k}"], b[each])

    def test_what_it_cannot_do_is_one_error(self):
        for command, said in [
            ("sleep 3", "no such command"),
            ("run", "runs cannot be"),
            ("run -1", "runs cannot be"),
            ("run 2x", "runs cannot be"),
        ]:
            done = served(command, "run 1")
            self.assertEqual(done.returncode, 2, command)
            self.assertIn(said, done.stderr)
            self.assertEqual(len(done.stdout.splitlines()), 1, "nothing is answered after an error")


if __name__ == "__main__":
    unittest.main()
