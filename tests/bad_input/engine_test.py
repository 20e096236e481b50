# SPDX-License-Identifier: Apache-2.0
"""Engine files that are cut off, changed or something else: nothing of them runs. (tests/engine has every byte; this is the program.)"""

from __future__ import annotations

import random
import struct
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path

import onnx_bytes as o
from harness import Case, complaint, table, tenon, written

HEADER, ENTRY = 64, 64
PROGRAMS, CODE, WEIGHTS, GRAPH_TEXT, PLAN_RECORD = 16, 7, 6, 1, 15


@dataclass
class Section:
    type: int
    offset: int
    length: int


def sections_of(data: bytes) -> list[Section]:
    count = struct.unpack_from("<I", data, 32)[0]
    entries = [struct.unpack_from("<IIQQ", data, HEADER + k * ENTRY) for k in range(count)]
    return [Section(kind, offset, length) for kind, _, offset, length in entries]


class Engines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        (cls.folder / "m.onnx").write_bytes(o.small_model())
        shared = ["--backend", "reference,cpu"]  # as segments of a device
        for name, options in {
            "native": [],
            "portable": ["--portable"],
            "shared": shared,
            "shared_portable": [*shared, "--portable"],
        }.items():
            assert tenon("build", cls.folder / "m.onnx", "-o", cls.folder / f"{name}.tenon", *options).exit == 0
        cls.native = (cls.folder / "native.tenon").read_bytes()
        cls.portable = (cls.folder / "portable.tenon").read_bytes()
        cls.shared = (cls.folder / "shared.tenon").read_bytes()

    def refused(self, data: bytes, name: str, *options: str) -> None:
        with self.subTest(name):
            (self.folder / "bad.tenon").write_bytes(data)
            result = tenon("run", "bad.tenon", *options, folder=self.folder)
            self.assertEqual((result.exit, result.error.get("place")), (1, "bad.tenon"), str(result))
            self.assertEqual(complaint(result, ("place", "what", "expected", "found", "advice")), "", str(result))

    def test_whole_ones_run(self):
        for name in ("native", "portable", "shared", "shared_portable"):
            for options in ([], ["--verify"]):
                self.assertEqual(tenon("run", f"{name}.tenon", *options, folder=self.folder).exit, 0)

    def test_cut_off_at_every_border_are_refused(self):
        for name, whole in {"native": self.native, "portable": self.portable, "shared": self.shared}.items():
            ends = [0, 1, 8, HEADER, HEADER + ENTRY]
            for section in sections_of(whole):
                ends += [section.offset, section.offset + section.length // 2, section.offset + section.length]
            for end in sorted({e for e in ends if e < len(whole)} | {len(whole) - 1}):
                self.refused(whole[:end], f"{name}, {end} bytes")
            self.refused(whole + b"\0", f"{name}, a byte more")

    def test_a_changed_byte_of_what_a_run_needs_is_found(self):
        dice = random.Random(7)
        for name, whole in {"native": self.native, "shared": self.shared}.items():
            table_end = HEADER + ENTRY * len(sections_of(whole))
            needed = [s for s in sections_of(whole) if s.type not in (WEIGHTS, GRAPH_TEXT, PLAN_RECORD)]
            places = dice.sample(range(table_end), 60) + [
                s.offset + dice.randrange(s.length) for s in needed if s.length for _ in range(12)
            ]
            for at in places:
                data = bytearray(whole)
                data[at] ^= 1 << dice.randrange(8)
                self.refused(bytes(data), f"{name}, byte {at}")

    def test_any_changed_byte_is_found_on_request_and_in_portable_engines(self):
        dice = random.Random(11)
        for name, whole, options in (
            ("native", self.native, ["--verify"]),
            ("portable", self.portable, []),
            ("shared", self.shared, ["--verify"]),
        ):
            for at in [dice.randrange(len(whole)) for _ in range(40)] + [s.offset for s in sections_of(whole) if s.length]:
                data = bytearray(whole)
                data[at] ^= 1 << dice.randrange(8)
                self.refused(bytes(data), f"{name}, byte {at}", *options)

    def test_sections_that_change_places_are_found(self):
        """Two sections' bytes swapped, the table left alone: every hash is there, each at the wrong place."""
        first, second = [s for s in sections_of(self.native) if s.type in (PROGRAMS, CODE)]
        data = bytearray(self.native)
        size = min(first.length, second.length)
        a, b = data[first.offset : first.offset + size], data[second.offset : second.offset + size]
        data[first.offset : first.offset + size], data[second.offset : second.offset + size] = b, a
        self.refused(bytes(data), "swapped")

    test_other_files = table(
        Case("missing", lambda folder: ["run", "gone.tenon"], 1, "file_missing", "gone.tenon"),
        Case("no bytes", written("e.tenon", b"", "run", "e.tenon"), 1, "bad_file", "e.tenon"),
        Case(
            "a letter", written("e.tenon", b"Dear all, please find the engine attached. " * 9, "run", "e.tenon"), 1, "bad_file", "e.tenon"
        ),
        Case("zeros", written("e.tenon", bytes(8192), "run", "e.tenon"), 1, "bad_file", "e.tenon"),
        Case(
            "lines ended otherwise",
            written("e.tenon", b"\x89TNN\n\x1a\n" + bytes(8192), "run", "e.tenon"),
            1,
            "bad_file",
            "e.tenon",
            ["text mode"],
        ),
    )

    def test_an_engine_by_the_name_of_a_model_is_refused(self):
        (self.folder / "engine.onnx").write_bytes(self.native)
        result = tenon("build", "engine.onnx", folder=self.folder)
        self.assertEqual((result.exit, result.error.get("name")), (1, "bad_file"), str(result))
        self.assertEqual(complaint(result), "")


if __name__ == "__main__":
    unittest.main()
