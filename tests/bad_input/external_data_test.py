# SPDX-License-Identifier: Apache-2.0
"""External data may only be a file of its own below the model's folder, and only bytes that are there."""

from __future__ import annotations

import os
import unittest
from collections.abc import Callable
from pathlib import Path

import onnx_bytes as o
from harness import Case, obey_permissions, table


def pointing_at(location: str, prepare: Callable[[Path], None] = lambda folder: None, **entries: str) -> Callable[[Path], list]:
    """A model in FOLDER/model whose weight w: f32[4] lies at `location`; `prepare` gets that folder."""

    def make(folder: Path) -> list:
        place = folder / "model"
        place.mkdir()
        (folder / "secret.bin").write_bytes(bytes(16))
        (place / "w.bin").write_bytes(bytes(64))
        prepare(place)
        pairs = {"location": location} | entries
        data = o.chain([o.node("Add", ["x", "w"], ["y"])], initializers=[o.external("w", [4], pairs)])
        (place / "m.onnx").write_bytes(data)
        return ["build", "model/m.onnx", "-o", "m.tenon"]

    return make


def linked_folder(place: Path) -> None:
    (place / "down").symlink_to("..", target_is_directory=True)


def locked(place: Path) -> None:
    (place / "w.bin").chmod(0)


class ExternalData(unittest.TestCase):
    test_outside_the_folder = table(
        Case("upwards", pointing_at("../secret.bin"), 1, "file_unsafe", "../secret.bin", ["outside"]),
        Case("down and upwards", pointing_at("a/../../secret.bin"), 1, "file_unsafe", "secret.bin", ["outside"]),
        Case("absolute", pointing_at("/etc/passwd"), 1, "file_unsafe", "/etc/passwd", ["outside"]),
        Case(
            "a symbolic link",
            pointing_at("l.bin", lambda p: (p / "l.bin").symlink_to("../secret.bin")),
            1,
            "file_unsafe",
            "l.bin",
            ["link"],
        ),
        Case("a link beside", pointing_at("l.bin", lambda p: (p / "l.bin").symlink_to("w.bin")), 1, "file_unsafe", "l.bin", ["link"]),
        Case("a linked folder", pointing_at("down/secret.bin", linked_folder), 1, "file_unsafe", "down/secret.bin", ["link"]),
        Case(
            "a hard link",
            pointing_at("h.bin", lambda p: os.link(p.parent / "secret.bin", p / "h.bin")),
            1,
            "file_unsafe",
            "h.bin",
            ["hard links"],
        ),
        Case("a folder", pointing_at("d", lambda p: (p / "d").mkdir()), 1, "file_unsafe", "d", ["not a regular file"]),
        Case("a pipe", pointing_at("p", lambda p: os.mkfifo(p / "p")), 1, "file_unsafe", "p", ["not a regular file"]),
        Case("a zero byte", pointing_at("w.bin\0/x"), 1, "file_unsafe", "w.bin"),
        Case("no location", pointing_at(""), 1, "bad_file", "tensor 'w'", ["location"]),
        Case("nothing there", pointing_at("gone.bin"), 1, "file_missing", "gone.bin"),
    )
    test_numbers = table(
        Case("a negative offset", pointing_at("w.bin", offset="-4"), 1, "bad_file", "tensor 'w'", ["-4"]),
        Case("a negative length", pointing_at("w.bin", length="-1"), 1, "bad_file", "tensor 'w'", ["-1"]),
        Case("a huge length", pointing_at("w.bin", length=str(1 << 62)), 1, "bad_file", "tensor 'w'", [str(1 << 62), "16 bytes"]),
        Case("a length over 64 bits", pointing_at("w.bin", length=str(1 << 70)), 1, "bad_file", "tensor 'w'", ["length"]),
        Case("a huge offset", pointing_at("w.bin", offset=str((1 << 63) - 8)), 1, "bad_file", "w.bin", ["64 bytes"]),
        Case("past the end", pointing_at("w.bin", offset="56"), 1, "bad_file", "w.bin", ["56", "64 bytes"]),
        Case("no number", pointing_at("w.bin", offset="12abc"), 1, "bad_file", "tensor 'w'", ["12abc"]),
        Case("another length than the shape's", pointing_at("w.bin", length="8"), 1, "bad_file", "tensor 'w'", ["8", "16 bytes"]),
        Case("a key that is none", pointing_at("w.bin", basepath="/"), 1, "bad_file", "tensor 'w'", ["basepath"]),
    )

    test_that_may_not_be_read = table(
        Case("no permission", pointing_at("w.bin", locked), 1, "file_missing", "w.bin", ["Permission"], before=obey_permissions)
    )


if __name__ == "__main__":
    unittest.main()
