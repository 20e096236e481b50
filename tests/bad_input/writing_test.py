# SPDX-License-Identifier: Apache-2.0
"""Files that cannot be written: a full disk, a folder that is not there or not ours, an interrupt. Nothing half-written is left."""

from __future__ import annotations

import itertools
import os
import resource
import signal
import subprocess
import tempfile
import time
import unittest
from collections.abc import Callable
from pathlib import Path

import onnx_bytes as o
from harness import MOST_MEGABYTES, TENON, complaint, tenon

MEASURING_MEGABYTES = 256  # that bench reads through to measure what memory gives
ROOM = 2048  # bytes a file may have where the disk is full; every output here is larger, or fits into it whole


def full_disk() -> None:
    """In the child: a write past ROOM bytes of a file fails, as on a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


def no_room() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def large_model() -> bytes:
    """y = x @ w with 16 KB of weights and results of 64 numbers a row."""
    return o.chain([o.node("MatMul", ["x", "w"], ["y"])], initializers=[o.tensor("w", [4, 1024], bytes(16384))])


# Every verb that writes a file, with the place for the file's name.
WRITERS: dict[str, tuple[list[str], str]] = {
    "build": (["build", "m.onnx", "-o", "{}"], "out.tenon"),
    "build --portable": (["build", "m.onnx", "--portable", "-o", "{}"], "out.tenon"),
    "run --output": (["run", "m.onnx", "--output", "{}"], "out.npz"),
    "run --output-dir": (["run", "m.onnx", "--output-dir", "{}"], "results"),
    "bench --trace": (["bench", "m.onnx", "--trace", "{}"], "trace.json"),
    "build --svg": (["build", "m.onnx", "-o", "engine.tenon", "--svg", "{}"], "graph.svg"),
    "inspect --svg": (["inspect", "m.onnx", "--svg", "{}"], "graph.svg"),
    "inspect --html": (["inspect", "m.onnx", "--html", "{}"], "graph.html"),
    "build --html": (["build", "m.onnx", "-o", "engine.tenon", "--html", "{}"], "graph.html"),
    "partition --html": (["partition", "m.onnx", "--html", "{}"], "shares.html"),
    "export": (["export", "m.onnx", "-o", "{}"], "out.onnx"),
    "export --external-weights": (["export", "m.onnx", "--external-weights", "-o", "{}"], "out.onnx"),
}


def snapshot(folder: Path) -> dict[Path, bytes]:
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


class Writing(unittest.TestCase):
    def refused(
        self, verb: str, target: str, before: Callable[[], None] | None = None, prepare: Callable[[Path], None] = lambda folder: None
    ) -> None:
        """`prepare` fills the folder that the call works in; afterwards it is as it was, but for the engine in front of a picture."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "m.onnx").write_bytes(large_model())
            prepare(folder)
            there = snapshot(folder)
            arguments = [part.replace("{}", target) for part in WRITERS[verb][0]]
            result = tenon(*arguments, folder=folder, before=before)
            self.assertEqual((result.exit, result.error.get("name")), (1, "write_failed"), str(result))
            most = MOST_MEGABYTES + (MEASURING_MEGABYTES if verb.startswith("bench") else 0)
            self.assertEqual(complaint(result, ("place", "what", "expected", "found", "advice"), most), "", str(result))
            self.assertIn(Path(target).name, result.error["place"])
            self.assertEqual({k: v for k, v in snapshot(folder).items() if k.name != "engine.tenon"}, there, "left behind")

    def test_on_a_full_disk(self):
        for verb, (_, target) in WRITERS.items():
            with self.subTest(verb):
                # The engine that comes before the picture has no room either, and Graphviz has none for its own.
                if verb in ("build --svg", "build --html", "inspect --svg"):
                    target = "tmp" if verb == "inspect --svg" else "engine"  # part of the engine's name
                self.refused(verb, target, no_room)

    def test_on_a_disk_that_fills_up(self):
        """What was under the name before is still there."""
        for verb in ("build", "build --portable", "run --output"):
            with self.subTest(verb):
                target = WRITERS[verb][1]
                self.refused(verb, target, full_disk, lambda folder, target=target: (folder / target).write_bytes(b"what was there before"))

    def test_on_a_device_that_is_full(self):
        for verb in ("build", "run --output", "export"):
            with self.subTest(verb):
                self.refused(verb, "/dev/full")

    def test_into_a_folder_that_is_not_there(self):
        for verb, (_, target) in WRITERS.items():
            if verb == "run --output-dir":  # which makes its folder
                continue
            with self.subTest(verb):
                self.refused(verb, f"nowhere/{target}")

    def test_under_the_name_of_a_folder(self):
        for verb in WRITERS:
            if verb == "run --output-dir":
                continue
            with self.subTest(verb):
                self.refused(verb, "taken", prepare=lambda folder: (folder / "taken").mkdir())

    def test_under_no_name(self):
        for verb, (arguments, _) in WRITERS.items():
            with self.subTest(verb), tempfile.TemporaryDirectory() as name:
                (Path(name) / "m.onnx").write_bytes(large_model())
                result = tenon(*[part.replace("{}", "") for part in arguments], folder=Path(name))
                self.assertEqual((result.exit, result.error.get("name")), (2, "bad_usage"), str(result))

    def test_into_a_folder_whose_name_a_file_has(self):
        self.refused("run --output-dir", "taken", prepare=lambda folder: (folder / "taken").write_bytes(b"a file"))

    def test_into_a_folder_that_may_not_be_written(self):
        """For root, /proc is such a folder; for others, one without the permission."""
        for verb in ("build", "run --output", "export"):
            with self.subTest(verb):
                if os.geteuid() == 0:
                    self.refused(verb, f"/proc/{WRITERS[verb][1]}")
                else:
                    self.refused(verb, f"locked/{WRITERS[verb][1]}", prepare=lambda folder: (folder / "locked").mkdir(mode=0o555))

    def test_to_a_standard_output_that_is_full(self):
        with tempfile.TemporaryDirectory() as name, open("/dev/full", "wb") as full:
            (Path(name) / "m.onnx").write_bytes(large_model())
            done = subprocess.run([TENON, "run", "m.onnx", "--json"], cwd=name, stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"error[TN140] at standard output", done.stderr)


class Interrupts(unittest.TestCase):
    def test_leave_no_temporary_file(self):
        """A build that is stopped at any time leaves the old engine or the new one, and nothing else but, killed, a second whole one."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "m.onnx").write_bytes(
                o.chain([o.node("MatMul", ["x", "w"], ["y"])], initializers=[o.tensor("w", [4, 1 << 20], bytes(1 << 24))])
            )
            for delay, stop in itertools.product(
                (0.01, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3), (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
            ):
                with self.subTest(delay=delay, stop=stop.name):
                    child = subprocess.Popen([TENON, "build", "m.onnx", "-o", "m.tenon", "--quiet"], cwd=folder)
                    time.sleep(delay)
                    child.send_signal(stop)
                    self.assertIn(child.wait(60), (0, -stop))
                    if stop == signal.SIGKILL:  # between the two calls that put a whole file in the place of another
                        for part in folder.glob("m.tenon.part-*"):
                            self.assertEqual(tenon("run", part.name, "--verify", folder=folder).exit, 0)
                            part.unlink()
                    self.assertLessEqual({p.name for p in folder.iterdir()}, {"m.onnx", "m.tenon"})
            if (folder / "m.tenon").exists():
                self.assertEqual(tenon("run", "m.tenon", "--verify", folder=folder).exit, 0)


if __name__ == "__main__":
    unittest.main()
