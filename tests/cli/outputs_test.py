# SPDX-License-Identifier: Apache-2.0
"""Outputs: none overwrites an input, and all are tried before the work begins."""

from __future__ import annotations

import json
import re
import tempfile
import unittest
from pathlib import Path

import numpy as np
import small_models as small
from small_models import o, tenon

VERBS = (
    "backends",
    "bench",
    "bisect",
    "build",
    "calibrate",
    "compare",
    "export",
    "inspect",
    "partition",
    "plugin",
    "rewrite",
    "rules",
    "run",
)
#: What a call needs beside the output that is tried.
NEEDED = {"bisect": {"--dump": ["--against-reference"]}}


def outputs_of(verb: str) -> list[tuple[str, str]]:
    """Name and type of the options that write, as --help-all lists them."""
    return re.findall(r"(--[a-z-]+) (OUT(?:DIR)?)[.a-z]*\b", tenon(verb, "--help-all").stdout)


OUTPUTS = [(verb, option, kind) for verb in VERBS for option, kind in outputs_of(verb)]


class Outputs(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.model = self.folder / "m.onnx"
        self.model.write_bytes(small.rewritable())

    def snapshot(self) -> dict[str, bytes]:
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in self.folder.rglob("*") if p.is_file()}

    def refused(self, *arguments: object) -> dict:
        """The error of a call that changes nothing."""
        before = self.snapshot()
        done = tenon(*arguments, "--json", cwd=self.folder)
        self.assertEqual(self.snapshot(), before, arguments)
        self.assertIn("error", done.stdout, arguments)
        return json.loads(done.stdout)["error"]

    def call(self, verb: str, option: str, output: object, model: object = None) -> list[object]:
        first = ["-o", self.folder / "engine.tenon"] if verb == "build" and option != "--output" else []
        if verb == "export" and option != "--output":
            first = ["-o", self.folder / "other.onnx"]
        return [verb, model or self.model, *first, *NEEDED.get(verb, {}).get(option, []), option, output]

    def test_all_options_that_write_are_found(self):
        found = {(verb, option) for verb, option, _ in OUTPUTS}
        self.assertLessEqual(
            {
                ("build", "--output"),
                ("build", "--html"),
                ("build", "--dump-plan"),
                ("bench", "--trace"),
                ("export", "--output"),
                ("inspect", "--svg"),
                ("partition", "--html"),
                ("rewrite", "--dump"),
                ("run", "--output"),
                ("run", "--output-dir"),
                ("bisect", "--dump"),
            },
            found,
        )

    def test_no_output_file_overwrites_the_model(self):
        for verb, option, kind in OUTPUTS:
            if kind == "OUT":
                with self.subTest(f"{verb} {option}"):
                    error = self.refused(*self.call(verb, option, self.model))
                    self.assertEqual((error["name"], "MODEL" in error["what"]), ("bad_usage", True), error)

    def test_links_are_followed(self):
        hard, soft, folder = (self.folder / name for name in ("hard.onnx", "soft.onnx", "linked"))
        hard.hardlink_to(self.model)
        soft.symlink_to(self.model)
        folder.symlink_to(self.folder)
        for output in (hard, soft, folder / "m.onnx", "./m.onnx", f"../{self.folder.name}/m.onnx"):
            with self.subTest(output):
                self.assertEqual(self.refused("export", self.model, "-o", output)["name"], "bad_usage")
                self.assertEqual(self.refused("export", soft, "-o", output)["name"], "bad_usage")

    def test_no_output_overwrites_another_input(self):
        x = self.folder / "x.npy"
        np.save(x, np.ones((2, 4), np.float32))
        rules = self.folder / "mine.rules"
        rules.write_text("")
        for call in (
            ["run", self.model, "--input", f"x={x}", "--output", x],
            ["bench", self.model, "--input", f"x={x}", "--trace", x],
            ["rewrite", self.model, "--rules", rules, "-o", rules],
        ):
            with self.subTest(call[0]):
                self.assertEqual(self.refused(*call)["name"], "bad_usage")

    def test_a_result_does_not_overwrite_an_input_in_its_folder(self):
        y = self.folder / "y.npy"
        np.save(y, np.ones((2, 4), np.float32))
        self.assertEqual(self.refused("run", self.model, "--input", f"x={y}", "--output-dir", self.folder)["name"], "bad_usage")
        y.rename(self.folder / "x.npy")
        done = tenon("run", self.model, "--input", f"x={self.folder / 'x.npy'}", "--output-dir", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_dump_does_not_remove_an_input(self):
        folder = self.folder / "dump"
        self.assertEqual(tenon("rewrite", self.model, "--dump", folder).returncode, 0)
        step = next(folder.glob("*.before.onnx"))
        self.assertEqual(self.refused("rewrite", step, "--dump", folder)["name"], "bad_usage")

    def test_external_data_is_an_input(self):
        data = self.folder / "weights"
        data.write_bytes(bytes(64))
        w = o.external("w", [4, 4], {"location": "weights", "offset": "0", "length": "64"})
        self.model.write_bytes(o.chain([o.node("MatMul", ["x", "w"], ["y"])], initializers=[w]))
        self.assertEqual(tenon("inspect", self.model).returncode, 0)
        for call in (["build", self.model, "-o", data], ["inspect", self.model, "--html", data]):
            self.assertIn("external data", self.refused(*call)["what"])

    def test_data_next_to_an_export_is_an_output(self):
        (self.folder / "new.onnx.data").write_bytes(self.model.read_bytes())
        error = self.refused("export", self.folder / "new.onnx.data", "-o", self.folder / "new.onnx", "--external-weights")
        self.assertEqual(error["name"], "bad_usage")

    def test_the_name_that_build_makes_up_is_no_input(self):
        engine = self.folder / "m.tenon"
        engine.write_bytes(self.model.read_bytes())
        self.assertEqual(self.refused("build", engine)["name"], "bad_usage")

    def test_two_outputs_are_two_files(self):
        same = self.folder / "same"
        self.assertEqual(self.refused("build", self.model, "-o", same, "--html", same)["name"], "bad_usage")
        self.assertEqual(self.refused("build", self.model, "-o", "same", "--html", "./same")["name"], "bad_usage")

    def test_outputs_are_tried_before_the_model_is_read(self):
        nowhere = self.folder / "none" / "file"
        long_name = self.folder / ("n" * 300)
        broken = self.folder / "broken.onnx"
        broken.write_bytes(b"no protobuf")
        for verb, option, kind in OUTPUTS:
            with self.subTest(f"{verb} {option}"):
                bad = [nowhere, long_name, self.folder] if kind == "OUT" else [self.model / "x", self.model]
                for output in bad:
                    self.assertEqual(self.refused(*self.call(verb, option, output, broken))["name"], "write_failed")


if __name__ == "__main__":
    unittest.main()
