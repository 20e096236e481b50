# SPDX-License-Identifier: Apache-2.0
"""Inputs at run time: damaged and hostile .npy and .npz files, and arrays that are sound but not what the model takes."""

from __future__ import annotations

import io
import random
import struct
import tempfile
import unittest
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx_bytes as o
from harness import Case, complaint, table, tenon

X = np.ones((2, 4), np.float32)


def npy(array: np.ndarray, **options) -> bytes:
    out = io.BytesIO()
    np.save(out, array, **options)
    return out.getvalue()


def npz(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def header(text: str, data: bytes = bytes(32), length: int | None = None, version: bytes = b"\1\0") -> bytes:
    return b"\x93NUMPY" + version + struct.pack("<H", len(text) if length is None else length) + text.encode() + data


def described(descr: str = "'<f4'", order: str = "False", shape: str = "(2, 4)") -> bytes:
    return header(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n")


def two_inputs() -> bytes:
    """y = a + b, with a: f32[n,4], b: f32[n,4], and ids: i64[n] that choose rows of a table of 3."""
    nodes = [o.node("Add", ["a", "b"], ["s"]), o.node("Gather", ["t", "ids"], ["g"]), o.node("Add", ["s", "g"], ["y"])]
    inputs = [o.value_info("a", ["n", 4]), o.value_info("b", ["n", 4]), o.value_info("ids", ["n"], o.I64)]
    return o.model(o.graph(nodes, inputs, [o.value_info("y", None)], [o.tensor("t", [3, 4], bytes(48))]))


def given(data: bytes, name: str = "x.npy", spelled: str = "x=x.npy", model: bytes | None = None) -> Callable[[Path], list]:
    """`tenon run` of a model of x: f32[n,4] with the input file `data`."""

    def make(folder: Path) -> list:
        (folder / "m.onnx").write_bytes(o.small_model() if model is None else model)
        (folder / name).write_bytes(data)
        return ["run", "m.onnx", "--input", spelled, "--output", "out.npz"]

    return make


def gave(**arrays: np.ndarray) -> Callable[[Path], list]:
    return given(npz(**arrays), "in.npz", "in.npz", two_inputs())


def bomb() -> bytes:
    """A zip whose one file says that it unpacks to 2^40 bytes."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", bytes(100_000))
    data = bytearray(out.getvalue())
    at = data.rindex(b"PK\1\2")
    data[at + 24 : at + 28] = struct.pack("<I", 0xFFFFFFF0)
    return bytes(data)


class Files(unittest.TestCase):
    test_that_are_no_arrays = table(
        Case("missing", lambda f: given(b"")(f)[:2] + ["--input", "x=gone.npy"], 1, "file_missing", "gone.npy"),
        Case("no bytes", given(b""), 1, "bad_file", "x.npy"),
        Case("something else", given(b"hello" * 30), 1, "bad_file", "x.npy"),
        Case("an unknown version", given(header("{}", version=b"\x09\0")), 1, "bad_file", "x.npy", ["9"]),
        Case("cut off in the header", given(npy(X)[:30]), 1, "bad_file", "x.npy", ["cut off"]),
        Case("cut off in the data", given(npy(X)[:-1]), 1, "bad_file", "x.npy", ["cut off", "32 bytes", "31"]),
        Case("a header of 65,535 bytes", given(header("{'descr'", length=65535)), 1, "bad_file", "x.npy", ["cut off"]),
        Case("a header of 4 GiB", given(b"\x93NUMPY\2\0" + struct.pack("<I", 0xFFFFFFFF) + bytes(64)), 1, "limit_exceeded", "x.npy"),
        Case("a header that is code", given(header("__import__('os').system('true')  \n")), 1, "bad_file", "x.npy", ["does not parse"]),
        Case("no shape", given(header("{'descr': '<f4', 'fortran_order': False}\n")), 1, "bad_file", "x.npy"),
        Case("a negative size", given(described(shape="(-2, 4)")), 1, "bad_file", "x.npy"),
        Case("a huge size", given(described(shape="(9999999999999, 9999999999999)")), 1, "size_overflow", "x.npy"),
        Case("a size beyond the file", given(described(shape="(1099511627776, 4)")), 1, "bad_file", "x.npy", ["cut off"]),
        Case("100 axes", given(described(shape="(" + "1, " * 100 + ")")), 1, "limit_exceeded", "x.npy", ["64"]),
        Case("10,000 brackets", given(described(shape="(" * 10_000)), 1, "bad_file", "x.npy"),
        Case("an unknown dtype", given(described(descr="'<q9'")), 1, "bad_file", "x.npy"),
        Case("objects", given(npy(np.array([{}, 1], object), allow_pickle=True)), 3, "not_supported", "x.npy"),
        Case("dates", given(npy(np.array(["2020-01-01"], "M8[D]"))), 3, "not_supported", "x.npy"),
        Case("a structure", given(npy(np.zeros(2, [("a", "f4")]))), 3, "not_supported", "x.npy"),
    )
    test_archives = table(
        Case("no bytes", given(b"", "in.npz", "in.npz"), 1, "bad_file", "in.npz"),
        Case("an npy file by the name of npz", given(npy(X), "in.npz", "in.npz"), 1, "bad_file", "in.npz"),
        Case("cut off", given(npz(x=X)[:-10], "in.npz", "in.npz"), 1, "bad_file", "in.npz"),
        Case("a bomb", given(bomb(), "in.npz", "in.npz"), 1, "bad_file", "in.npz"),
        Case("without the wanted array", given(npz(z=X), "in.npz", "x=in.npz"), 1, "bad_input", "in.npz", ["x", "z"]),
    )

    def test_that_are_written_otherwise_are_read(self):
        """Fortran order, big-endian numbers, compressed archives: the same values, the same result."""
        compressed = io.BytesIO()
        np.savez_compressed(compressed, x=X)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            results = []
            for data, file in {
                npy(X): "x.npy",
                npy(np.asfortranarray(X)): "x.npy",
                npy(X.astype(">f4")): "x.npy",
                compressed.getvalue(): "x.npz",
            }.items():
                self.assertEqual(tenon(*given(data, file, f"x={file}")(folder), folder=folder).exit, 0)
                results.append(np.load(folder / "out.npz")["y"])
            for other in results[1:]:
                np.testing.assert_array_equal(results[0], other)

    def test_with_flipped_bits_are_errors_or_harmless(self):
        dice = random.Random(5)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for file, whole in {"x.npy": npy(X), "x.npz": npz(x=X)}.items():
                for _ in range(60):
                    bit = dice.randrange(len(whole) * 8)
                    data = bytearray(whole)
                    data[bit // 8] ^= 1 << bit % 8
                    result = tenon(*given(bytes(data), file, f"x={file}")(folder), folder=folder)
                    if result.exit != 0:
                        with self.subTest(f"{file}, bit {bit}"):
                            self.assertEqual(complaint(result), "", str(result))


def inputs(n: int = 2, m: int = 2, **changed: np.ndarray) -> dict[str, np.ndarray]:
    return {"a": np.ones((n, 4), np.float32), "b": np.ones((m, 4), np.float32), "ids": np.zeros(n, np.int64)} | changed


class Arrays(unittest.TestCase):
    test_that_the_model_does_not_take = table(
        Case("another name", gave(c=X), 1, "bad_input", "c", ["a, b, ids"]),
        Case("another dtype", gave(**inputs(a=np.ones((2, 4), np.float64))), 1, "bad_input", "input 'a'", ["f32[n,4]", "f64[2,4]"]),
        Case("text", gave(**inputs(a=np.full((2, 4), "one"))), 1, "bad_input", "input 'a'", ["f32[n,4]", "string[2,4]"]),
        Case("another rank", gave(**inputs(a=np.ones(4, np.float32))), 1, "bad_input", "input 'a'", ["f32[n,4]", "f32[4]"]),
        Case("another size", gave(**inputs(a=np.ones((2, 5), np.float32))), 1, "bad_input", "input 'a'", ["4", "[2,5]"]),
        Case("two sizes of one name", gave(**inputs(2, 3)), 1, "bad_input", "input 'b'", ["n = 2", "[3,4]"]),
        Case("a token that is not in the table", gave(**inputs(ids=np.array([0, 3]))), 1, "index_out_of_range", "input 'ids'", ["3"]),
        Case("an input twice", lambda f: gave(**inputs())(f) + ["--input", "in.npz"], 1, "bad_input", "'a'", ["twice"]),
    )
    test_that_are_asked_for_wrongly = table(
        Case("an unknown verb", lambda f: ["biuld"], 2, "bad_usage", "command line", ["build"]),
        Case("no model", lambda f: ["build"], 2, "bad_usage", "command line", ["MODEL"]),
        Case("an unknown option", lambda f: ["build", "m.onnx", "--fast"], 2, "bad_usage", "command line", ["--fast"]),
        Case("a level that is none", lambda f: ["build", "m.onnx", "--opt", "4"], 2, "bad_usage", "command line", ["4"]),
        Case("no name of an npy file", given(npy(X), spelled="x.npy"), 2, "bad_usage", "--input x.npy", ["NAME=FILE.npy"]),
        Case("a shape without a name", lambda f: given(npy(X))(f) + ["--shape", "2x4"], 2, "bad_usage", "--shape", ["NAME="]),
        Case("a shape with a word", lambda f: given(npy(X))(f) + ["--shape", "x=2x-4"], 2, "bad_usage", "--shape", ["-4"]),
        Case("a shape of another rank", lambda f: given(npy(X))(f) + ["--shape", "x=2"], 1, "bad_input", "input 'x'", ["2 sizes"]),
        Case("a shape of another size", lambda f: given(npy(X))(f) + ["--shape", "x=2x5"], 1, "bad_input", "input 'x'", ["4", "5"]),
        Case("a shape of no input", lambda f: given(npy(X))(f) + ["--shape", "z=2x4"], 1, "bad_input", "m.onnx", ["z", "x"]),
        Case("a shape too large to count", lambda f: given(npy(X))(f)[:2] + ["--shape", f"x={1 << 40}x4"], 1, "limit_exceeded", ""),
    )


if __name__ == "__main__":
    unittest.main()
