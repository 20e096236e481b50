# SPDX-License-Identifier: Apache-2.0
"""Too little memory is an error like any other: at every limit on the address space, and whichever allocation it is that fails.

SWEEP=1000 python tests/bad_input/memory_test.py   tries a thousand of each instead of a few
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path

import onnx_bytes as o
from harness import TENON, Outcome, complaint, tenon

SWEEP = int(os.environ.get("SWEEP", "0"))
FAILING_MALLOC = str(TENON.parent / "failing_malloc.so")
MIB = 1 << 20


def limited(megabytes: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes * MIB, megabytes * MIB))


def least(works: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number in (low, high] that works; works(high) must."""
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if works(middle) else (middle, high)
    return high


class Memory(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "m.onnx").write_bytes(o.small_model())
        (cls.folder / "large.onnx").write_bytes(
            o.chain([o.node("MatMul", ["x", "w"], ["y"])], initializers=[o.tensor("w", [4, 1 << 20], bytes(1 << 24))])
        )
        assert tenon("build", "m.onnx", "-o", "m.tenon", folder=cls.folder).exit == 0

    def check(self, result: Outcome, what: str) -> None:
        """Success, or one error that says so; never a signal, and no file that is not whole."""
        with self.subTest(what):
            if result.exit != 0:
                self.assertEqual((result.exit, result.error.get("name")), (1, "out_of_memory"), str(result))
                self.assertEqual(complaint(result, ("what", "advice")), "", str(result))
            known = {"m.onnx", "large.onnx", "m.tenon", "out.tenon", "out.npz"}
            self.assertLessEqual({p.name for p in self.folder.iterdir()}, known)

    def under_limits(self, *command: str) -> None:
        def starts(megabytes: int) -> bool:
            done = subprocess.run([TENON, "--version"], capture_output=True, preexec_fn=limited(megabytes))
            return done.returncode == 0

        def run(megabytes: int) -> Outcome:
            return tenon(*command, folder=self.folder, before=limited(megabytes))

        low = least(starts, 0, 4096)
        high = least(lambda megabytes: run(megabytes).exit == 0, low, 8192)
        count = SWEEP or 30
        for k in range(count):
            megabytes = low + (high + 8 - low) * k // count
            self.check(run(megabytes), f"{' '.join(command)} in {megabytes} MiB")

    def test_limits_on_a_build(self):
        self.under_limits("build", "m.onnx", "-o", "out.tenon", "--threads", "2")

    def test_limits_on_a_build_with_weights(self):
        self.under_limits("build", "large.onnx", "-o", "out.tenon", "--threads", "1")

    def test_limits_on_a_run(self):
        self.under_limits("run", "m.onnx", "--output", "out.npz", "--shape", "x=65536x4")

    def test_limits_on_an_engine(self):
        self.under_limits("run", "m.tenon", "--output", "out.npz", "--shape", "x=65536x4")

    def count(self, *command: str) -> int:
        read, write = os.pipe()
        environment = os.environ | {"LD_PRELOAD": FAILING_MALLOC, "COUNT_TO": str(write)}
        subprocess.run([TENON, *command], cwd=self.folder, env=environment, pass_fds=[write], check=True, capture_output=True)
        os.close(write)
        with os.fdopen(read) as counted:
            return int(counted.read())

    def with_failures(self, *command: str) -> None:
        first, last = self.count("--version"), self.count(*command, "--json")
        dice = random.Random(13)
        for at in sorted(dice.sample(range(first, last), min(SWEEP or 40, last - first))):
            for forever in ("0", "1"):
                environment = {"LD_PRELOAD": FAILING_MALLOC, "FAIL_AT": str(at), "FAIL_FOREVER": forever}
                result = tenon(*command, folder=self.folder, environment=environment)
                self.check(result, f"{' '.join(command)}, allocation {at} of {last}{' and all after it' if forever == '1' else ''}")

    @unittest.skipUnless(Path(FAILING_MALLOC).exists(), "needs failing_malloc.so of the build")
    def test_failing_allocations_of_a_build(self):
        self.with_failures("build", "m.onnx", "-o", "out.tenon")

    @unittest.skipUnless(Path(FAILING_MALLOC).exists(), "needs failing_malloc.so of the build")
    def test_failing_allocations_of_a_run(self):
        self.with_failures("run", "m.tenon", "--output", "out.npz")


if __name__ == "__main__":
    unittest.main()
