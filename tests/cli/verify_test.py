# SPDX-License-Identifier: Apache-2.0
"""`--verify`: no changed byte of an engine file stays unseen, whichever verb loads it."""

import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))


def tenon(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(TENON), *map(str, arguments)], capture_output=True, text=True, timeout=120)


class Verify(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))

    def places(self, *options: str) -> tuple[bytes, dict[str, list[int]]]:
        """An engine's bytes, and places in each section (first, middle, last), in the header and in all that is between sections."""
        engine = self.folder / "mlp.tenon"
        self.assertEqual(tenon("build", ROOT / "examples/mlp.onnx", "-o", engine, *options).returncode, 0)
        sections = json.loads(tenon("inspect", engine, "--json").stdout)["sections"]
        content = engine.read_bytes()
        found = {s["name"]: [s["offset"], s["offset"] + s["bytes"] // 2, s["offset"] + s["bytes"] - 1] for s in sections if s["bytes"]}
        used = set().union(*(range(s["offset"], s["offset"] + s["bytes"]) for s in sections))
        start = min(s["offset"] for s in sections)
        padding = [k for k in range(start, len(content)) if k not in used]
        return content, found | {"header": [0, 9, start // 2, start - 1], "padding": padding[:: max(1, len(padding) // 6)]}

    def expect_found(self, content: bytes, place: int, verb: str):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path = self.folder / "damaged.tenon"
        path.write_bytes(damaged)
        done = tenon(verb, path, "--verify", *(["--runs", 1] if verb == "bench" else []), "--json")
        self.assertEqual(done.returncode, 1, f"{verb}: byte {place}: {done.stdout[-300:]}")

    def test_finds_a_changed_bit_in_every_section_and_between_them(self):
        for options in ([], ["--portable"]):
            content, places = self.places(*options)
            self.assertTrue({"weights", "header", "padding", "manifest"} <= places.keys())
            self.assertTrue(places["padding"])
            for name, chosen in places.items():
                for place in chosen:
                    with self.subTest(section=name, place=place, options=options):
                        self.expect_found(content, place, "run")
                with self.subTest(section=name, options=options, verb="bench"):
                    self.expect_found(content, chosen[-1], "bench")

    def test_weights_are_verified_only_on_request(self):
        content, places = self.places()
        damaged = bytearray(content)
        damaged[places["weights"][1]] ^= 1
        (self.folder / "damaged.tenon").write_bytes(damaged)
        self.assertEqual(tenon("run", self.folder / "damaged.tenon").returncode, 0)

    def test_lets_a_sound_file_pass(self):
        content, _ = self.places()
        self.assertEqual(tenon("run", self.folder / "mlp.tenon", "--verify").returncode, 0)
        self.assertEqual(tenon("bench", self.folder / "mlp.tenon", "--verify", "--runs", 1).returncode, 0)


if __name__ == "__main__":
    unittest.main()
