# SPDX-License-Identifier: Apache-2.0
"""`tenon inspect` of GGUF files, which a writer of a few lines makes."""

import json
import os
import struct
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
STRUCTS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


def tenon(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([str(TENON), *map(str, arguments)], capture_output=True, text=True, timeout=120)


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def stored(kind, value) -> bytes:
    if isinstance(kind, tuple):  # (ARRAY, element)
        return struct.pack("<IQ", kind[1], len(value)) + b"".join(stored(kind[1], v) for v in value)
    return text(value) if kind == STRING else struct.pack("<" + STRUCTS[kind], value)


def gguf_bytes(metadata: dict, tensors: dict) -> bytes:
    """metadata: key -> (type, value); tensors: name -> (row-major shape, ggml type, bytes)."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, (kind, value) in metadata.items():
        out += text(key) + struct.pack("<I", kind[0] if isinstance(kind, tuple) else kind) + stored(kind, value)
    data = b""
    for name, (shape, kind, raw) in tensors.items():
        out += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), kind, len(data))
        data += raw + bytes(-len(raw) % 32)
    return out + bytes(-len(out) % 32) + data


METADATA = {
    "general.architecture": (STRING, "llama"),
    "general.name": (STRING, "tiny\nmodel"),
    "llama.context_length": (4, 2048),
    "llama.rope.freq_base": (6, 0.1),
    "tokenizer.ggml.model": (STRING, "gpt2"),
    "tokenizer.ggml.tokens": ((ARRAY, STRING), [f"<{k}>" for k in range(20)]),
    "tokenizer.chat_template": (STRING, "{{ messages }}" * 100),
}
TENSORS = {"a": ((2, 32), 2, b"\1" * 36), "b": ((3, 4), 0, b"\0" * 48), "c": ((32,), 2, b"\2" * 18)}


class InspectGguf(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.file = self.folder / "model.gguf"
        self.file.write_bytes(gguf_bytes(METADATA, TENSORS))

    def test_json_states_model_tokenizer_tensors_and_metadata(self):
        report = json.loads(tenon("inspect", self.file, "--json").stdout)
        self.assertEqual((report["format"], report["architecture"], report["name"]), ("gguf", "llama", "tiny\nmodel"))
        self.assertEqual((report["parameters"], report["context_length"]), (108, 2048))
        self.assertEqual(report["tokenizer"], {"kind": "gpt2", "pre": None, "tokens": 20, "chat_template": True})
        self.assertEqual(
            report["types"],
            [{"type": "Q4_0", "tensors": 2, "elements": 96, "bytes": 54}, {"type": "F32", "tensors": 1, "elements": 12, "bytes": 48}],
        )
        self.assertEqual(report["tensors"][1], {"name": "b", "type": "F32", "shape": [3, 4], "bytes": 48})
        values = {entry["key"]: entry["value"] for entry in report["metadata"]}
        self.assertEqual(list(values), list(METADATA))
        self.assertEqual(values["llama.rope.freq_base"], 0.1)
        self.assertEqual(values["tokenizer.ggml.tokens"], [f"<{k}>" for k in range(8)])
        self.assertLess(len(values["tokenizer.chat_template"]), 210)

    def test_text_shortens_arrays_and_stays_on_its_lines(self):
        shown = tenon("inspect", self.file).stdout
        self.assertIn("GGUF version 3, 3 tensors", shown)
        self.assertRegex(shown, r"tokenizer.ggml.tokens +string\[20\] +\[\"<0>\",.*\"<7>\",\.\.\.\]")
        self.assertRegex(shown, r'general.name +string +"tiny\\nmodel"')
        self.assertRegex(shown, r"context length +2048")

    def test_a_file_without_metadata_has_unknown_facts(self):
        self.file.write_bytes(gguf_bytes({}, {}))
        report = json.loads(tenon("inspect", self.file, "--json").stdout)
        self.assertEqual([report[key] for key in ("architecture", "context_length", "parameters")], [None, None, 0])

    def test_damaged_files_are_one_error(self):
        whole = self.file.read_bytes()
        self.file.write_bytes(whole[: len(whole) // 2])
        result = tenon("inspect", self.file)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr.count("error["), 1)

    def test_unsupported_blocks_are_named_with_the_nearest(self):
        self.file.write_bytes(gguf_bytes({}, {"w": ((256,), 16, bytes(66))}))
        result = tenon("inspect", self.file)
        self.assertEqual(result.returncode, 3)
        self.assertIn("IQ2_XXS", result.stderr)
        self.assertIn("Q2_K", result.stderr)

    def test_options_of_onnx_models_are_refused(self):
        for option in (["--only-output", "y"], ["--state", "x=y"], ["--shape", "x=1"]):
            self.assertEqual(tenon("inspect", self.file, *option).returncode, 2, option)


if __name__ == "__main__":
    unittest.main()
