# SPDX-License-Identifier: Apache-2.0
"""Models that are damaged, contradict themselves or ask for too much: each is one error that names the place."""

from __future__ import annotations

import gzip
import random
import struct
import subprocess
import tempfile
import unittest
import zlib
from pathlib import Path

import onnx_bytes as o
from harness import MOST_MEGABYTES, TENON, Case, built, complaint, table, tenon

F32_12 = bytes(48)


def weight(dims: list[int], raw: bytes | None, dtype: int = o.F32) -> bytes:
    return o.chain([o.node("Add", ["x", "w"], ["y"])], initializers=[o.tensor("w", dims, raw, dtype)])


def relu(inputs: list[bytes], initializers: list[bytes] = ()) -> bytes:
    return o.model(o.graph([o.node("Relu", ["x"], ["y"])], inputs, [o.value_info("y", None)], initializers))


def png() -> bytes:
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))  # noqa: E731
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(bytes(72))) + chunk(b"IEND", b"")


def directory(folder: Path) -> list:
    (folder / "m.onnx").mkdir()
    return ["build", "m.onnx"]


class Files(unittest.TestCase):
    test_that_are_no_models = table(
        Case("missing", lambda folder: ["build", "nowhere.onnx"], 1, "file_missing", "nowhere.onnx"),
        Case("a folder", directory, 1, "file_missing", "m.onnx/config.json"),
        Case("no bytes", built(b""), 1, "bad_file", "m.onnx"),
        Case("a picture", built(png()), 1, "bad_file", "m.onnx"),
        Case("a letter", built(b"Dear all, please find the model attached.\n" * 20), 1, "bad_file", "m.onnx"),
        Case("packed with gzip", built(gzip.compress(o.small_model())), 1, "bad_file", "m.onnx"),
        Case("zeros", built(bytes(4096)), 1, "bad_file", "m.onnx"),
        Case("a length of 2^63", built(o.number(1, 10) + o.varint(7 << 3 | 2) + o.varint(1 << 63)), 1, "bad_file", "m.onnx"),
    )


class Inputs(unittest.TestCase):
    test_that_have_no_type = table(
        Case("an undefined one", built(relu([o.value_info("x", [2], 0)])), 1, "bad_graph", "input 'x'", ["no element type"]),
    )


class Sizes(unittest.TestCase):
    test_that_cannot_be = table(
        Case("a negative size", built(weight([-4], F32_12)), 1, "size_overflow", "tensor 'w'"),
        Case("a product over 2^63", built(weight([1 << 40, 1 << 40], F32_12)), 1, "size_overflow", "tensor 'w'"),
        Case("a product of 2^64", built(weight([1 << 32, 1 << 32], b"")), 1, "size_overflow", "tensor 'w'"),
        Case("more than the limit", built(weight([1 << 50], F32_12)), 1, "limit_exceeded", "tensor 'w'"),
        Case("more than the file has", built(weight([1 << 30], F32_12)), 1, "bad_file", "tensor 'w'", ["48 bytes"]),
        Case("raw data too short", built(weight([4], bytes(15))), 1, "bad_file", "tensor 'w'", ["16 bytes", "15 bytes"]),
        Case("raw data too long", built(weight([4], bytes(17))), 1, "bad_file", "tensor 'w'", ["16 bytes", "17 bytes"]),
        Case("no data", built(weight([4], None)), 1, "bad_file", "'w'", ["4 elements"]),
        Case("no data for 2^40 elements", built(weight([1 << 38], None)), 1, "bad_file", "'w'"),
        Case("an input of 2^60", built(relu([o.value_info("x", [1 << 60])])), 1, "size_overflow", "'x'"),
        Case("rank 100", built(relu([o.value_info("x", [1] * 100)])), 1, "limit_exceeded", "m.onnx, byte"),
        Case("a dtype that does not exist", built(weight([4], bytes(16), 99)), 3, "not_supported", "tensor 'w'"),
    )

    def test_that_ops_make_out_of_nothing(self):
        """Constants of 2^40 and 2^62 elements are never laid out in memory: they are refused, or stay what they say."""
        huge = o.tensor("shape", [2], struct.pack("<qq", 1 << 20, 1 << 20), o.I64)
        wide = o.tensor("shape", [2], struct.pack("<qq", 1 << 31, 1 << 31), o.I64)
        for name, shape in {"2^40": huge, "2^62": wide}.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                data = o.chain([o.node("ConstantOfShape", ["shape"], ["c"]), o.node("ReduceSum", ["c"], ["y"])], initializers=[shape])
                (Path(folder) / "m.onnx").write_bytes(data)
                result = tenon("build", "m.onnx", folder=Path(folder))
                if result.exit != 0:
                    self.assertEqual(complaint(result), "", str(result))
                self.assertLess(result.megabytes, MOST_MEGABYTES)


def mlp(nodes: list[bytes], **options) -> bytes:
    return o.chain(nodes, initializers=[o.tensor("w", [4, 3], F32_12)], **options)


class Graphs(unittest.TestCase):
    test_that_contradict_themselves = table(
        Case(
            "a cycle",
            built(o.chain([o.node("Add", ["x", "b"], ["a"]), o.node("Relu", ["a"], ["b"]), o.node("Relu", ["b"], ["y"])])),
            1,
            "bad_graph",
            "add_a",
        ),
        Case("a node that reads itself", built(o.chain([o.node("Add", ["x", "y"], ["y"])])), 1, "bad_graph", "add_y"),
        Case(
            "one name of two results",
            built(o.chain([o.node("Relu", ["x"], ["y"]), o.node("Neg", ["x"], ["y"])])),
            1,
            "bad_graph",
            "neg_y",
            ["'y'"],
        ),
        Case("a result named like an input", built(o.chain([o.node("Relu", ["x"], ["x"])], "x")), 1, "bad_graph", "relu_x", ["own result"]),
        Case("two inputs of one name", built(relu([o.value_info("x", [4]), o.value_info("x", [4])])), 1, "bad_graph", "input 'x'", ["'x'"]),
        Case(
            "two initializers of one name",
            built(o.chain([o.node("Add", ["x", "w"], ["y"])], initializers=[o.tensor("w", [4], bytes(16))] * 2)),
            1,
            "bad_graph",
            "initializer 'w'",
            ["'w'"],
        ),
        Case(
            "two outputs of one name",
            built(o.model(o.graph([o.node("Relu", ["x"], ["y"])], [o.value_info("x", [4])], [o.value_info("y", None)] * 2))),
            1,
            "bad_graph",
            "output 'y'",
        ),
        Case("a value that nobody makes", built(o.chain([o.node("Add", ["x", "z"], ["y"])])), 1, "bad_graph", "add_y", ["'z'"]),
        Case("an output that nobody makes", built(o.chain([o.node("Relu", ["x"], ["y"])], "z")), 1, "bad_graph", "output 'z'", ["'z'"]),
        Case("an input without a name", built(relu([o.value_info("", [4])])), 1, "bad_graph", "input ''"),
        Case("sizes that do not fit", built(mlp([o.node("MatMul", ["w", "w"], ["y"])])), 1, "shape_mismatch", "matmul_y", ["3", "4"]),
        Case(
            "an attribute twice",
            built(o.chain([o.node("Softmax", ["x"], ["y"], o.attribute_int("axis", 0), o.attribute_int("axis", 1))])),
            1,
            "bad_attribute",
            "softmax_y",
            ["'axis'"],
        ),
        Case(
            "an axis out of range",
            built(o.chain([o.node("Softmax", ["x"], ["y"], o.attribute_int("axis", 7))])),
            1,
            "axis_out_of_range",
            "softmax_y",
            ["7"],
        ),
        Case(
            "a permutation that is none",
            built(o.chain([o.node("Transpose", ["x"], ["y"], o.attribute_ints("perm", [0, 0]))])),
            1,
            "bad_attribute",
            "transpose_y",
        ),
        Case("too few operands", built(o.chain([o.node("MatMul", ["x"], ["y"])])), 1, "bad_graph", "matmul_y"),
        Case("too many operands", built(o.chain([o.node("Relu", ["x", "x"], ["y"])])), 1, "bad_graph", "relu_y"),
        Case("too many results", built(o.chain([o.node("Relu", ["x"], ["y", "z"])])), 1, "bad_graph", "relu_y"),
        Case(
            "the wrong dtype",
            built(o.chain([o.node("Add", ["x", "w"], ["y"])], initializers=[o.tensor("w", [4], bytes(32), o.I64)])),
            1,
            "dtype_mismatch",
            "add_y",
            ["i64"],
        ),
    )


class Names(unittest.TestCase):
    def test_do_not_reach_the_terminal_as_commands(self):
        """A value named like an escape sequence is shown, not obeyed."""
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "m.onnx").write_bytes(o.chain([o.node("Add", ["x", "\x1b[31mred"], ["y"])]))
            done = subprocess.run([TENON, "build", "m.onnx"], cwd=folder, capture_output=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"'\\x1b[31mred'", done.stderr)
        self.assertNotIn(b"\x1b", done.stderr)


class Unknown(unittest.TestCase):
    test_ops_and_versions = table(
        Case(
            "every op in one error",
            built(
                o.chain(
                    [
                        o.node("Frobnicate", ["x"], ["a"]),
                        o.node("Frobnicate", ["a"], ["b"]),
                        o.node("Twist", ["b"], ["y"], domain="com.example"),
                    ]
                )
            ),
            3,
            "not_supported",
            "m.onnx",
            ["Frobnicate (2x)", "com.example::Twist (1x)"],
        ),
        Case("an IR version below 0", built(o.chain([o.node("Relu", ["x"], ["y"])], ir=2**64 - 1)), 1, "bad_file", "m.onnx"),
        Case("no opset", built(o.number(1, 10) + o.text(7, o.graph([]))), 1, "bad_file", "m.onnx"),
    )

    def test_newer_versions_are_warned_of_and_read(self):
        for name, data in {
            "opset": o.chain([o.node("Relu", ["x"], ["y"])], opset=99),
            "IR": o.chain([o.node("Relu", ["x"], ["y"])], ir=99),
        }.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "m.onnx").write_bytes(data)
                result = tenon("build", "m.onnx", folder=Path(folder))
                self.assertEqual(result.exit, 0, str(result))
                self.assertIn("99", " ".join(result.said["warnings"]))


class Damage(unittest.TestCase):
    def check(self, folder: str, data: bytes, name: str, whole_is_fine: bool) -> None:
        (Path(folder) / "m.onnx").write_bytes(data)
        result = tenon("build", "m.onnx", "-o", "m.tenon", folder=Path(folder))
        if whole_is_fine and result.exit == 0:
            return
        with self.subTest(name):
            self.assertEqual(complaint(result), "", str(result))
            self.assertEqual([p.name for p in Path(folder).iterdir() if p.name not in ("m.onnx", "m.tenon")], [])

    def test_every_truncation_is_an_error(self):
        whole = o.small_model()
        with tempfile.TemporaryDirectory() as folder:
            for size in range(0, len(whole) - 8, 16):  # the opset comes last
                self.check(folder, whole[:size], f"{size} bytes", whole_is_fine=False)

    def test_flipped_bits_are_errors_or_harmless(self):
        whole = o.small_model()
        dice = random.Random(3)
        with tempfile.TemporaryDirectory() as folder:
            for _ in range(200):
                bit = dice.randrange(len(whole) * 8)
                data = bytearray(whole)
                data[bit // 8] ^= 1 << bit % 8
                self.check(folder, bytes(data), f"bit {bit}", whole_is_fine=True)


if __name__ == "__main__":
    unittest.main()
