# SPDX-License-Identifier: Apache-2.0
"""The exit codes: what a script that calls tenon decides by."""

import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
MODEL = ROOT / "examples/mlp.onnx"


def tenon(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(TENON), *map(str, arguments)], capture_output=True, text=True, timeout=120)


def field(number: int, value: bytes) -> bytes:
    """A length-delimited protobuf field shorter than 128 bytes."""
    return bytes([number << 3 | 2, len(value)]) + value


def model_of_one(op: bytes) -> bytes:
    """An ONNX model with one node of this op from x to y, both f32[4]."""
    shape = b"\x08\x01" + field(2, field(1, b"\x08\x04"))
    port = [field(2, field(1, shape)) for _ in range(2)]
    node = field(1, b"x") + field(2, b"y") + field(4, op)
    graph = field(1, node) + field(2, b"g") + field(11, field(1, b"x") + port[0]) + field(12, field(1, b"y") + port[1])
    return b"\x08\x0a" + field(7, graph) + field(8, b"\x10\x15")


def wait_until_caught(process: int, number: int) -> None:
    """Until the process has set up what it does on a signal."""
    while True:
        status = Path(f"/proc/{process}/status").read_text()
        caught = next(int(line.split()[1], 16) for line in status.splitlines() if line.startswith("SigCgt"))
        if caught >> (number - 1) & 1:
            return
        time.sleep(0.01)


class ExitCodes(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def write(self, name: str, content: bytes) -> Path:
        (self.folder / name).write_bytes(content)
        return self.folder / name

    def test_0_where_all_went_well(self):
        self.assertEqual(tenon("run", MODEL).returncode, 0)
        self.assertEqual(tenon("run", "--help").returncode, 0)
        self.assertEqual(tenon().returncode, 0)
        self.assertEqual(tenon("run", self.write("relu.onnx", model_of_one(b"Relu"))).returncode, 0)

    def test_1_for_a_bad_model_or_input(self):
        self.assertEqual(tenon("run", self.folder / "none.onnx").returncode, 1)
        self.assertEqual(tenon("run", self.write("bad.onnx", b"no protobuf")).returncode, 1)
        self.assertEqual(tenon("run", MODEL, "--input", f"x={self.write('x.npy', b'no npy')}").returncode, 1)

    def test_2_for_bad_usage(self):
        for arguments in (["run"], ["fly"], ["run", MODEL, "--opt", "9"], ["run", MODEL, "--nonsense"]):
            with self.subTest(arguments):
                self.assertEqual(tenon(*arguments).returncode, 2)

    def test_3_for_what_is_not_there_yet(self):
        done = tenon("run", self.write("odd.onnx", model_of_one(b"Frobnicate")), "--json")
        self.assertEqual(done.returncode, 3)
        self.assertIn("Frobnicate", done.stdout)

    def test_70_for_a_bug_of_ours(self):
        command = [str(TENON), "bench", str(MODEL), "--runs", "1000", "--seconds", "60"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until_caught(process.pid, signal.SIGABRT)
        process.send_signal(signal.SIGABRT)  # what an assertion that does not hold ends in
        self.assertEqual(process.wait(60), 70)

    def test_a_mistyped_option_is_named_even_where_the_model_is_missing(self):
        report = json.loads(tenon("bench", "--trheads", "2", "--json").stdout)["error"]
        self.assertEqual((report["name"], report["found"]), ("bad_usage", "--trheads"))
        report = json.loads(tenon("bench", MODEL, "--trheads", "2", "--json").stdout)["error"]
        self.assertEqual((report["name"], report["found"]), ("bad_usage", "--trheads"))
        self.assertIn("MODEL", json.loads(tenon("bench", "--json").stdout)["error"]["what"])


if __name__ == "__main__":
    unittest.main()
