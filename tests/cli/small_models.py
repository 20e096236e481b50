# SPDX-License-Identifier: Apache-2.0
"""What the tests of `tenon rewrite`, `rules` and `bisect` share: small models with something to rewrite, and running the program."""

from __future__ import annotations

import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
sys.path.insert(0, str(ROOT / "tests/bad_input"))

import numpy as np  # noqa: E402
import onnx_bytes as o  # noqa: E402


def tenon(*arguments: object, **options) -> subprocess.CompletedProcess:
    return subprocess.run([str(TENON), *map(str, arguments)], capture_output=True, text=True, timeout=120, **options)


def report(verb: str, *arguments: object, **options) -> dict:
    return json.loads(tenon(verb, "--json", *arguments, **options).stdout)


def data_of(page: Path) -> dict:
    """What a page shows."""
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)[1])


def ops_of(path: Path) -> dict[str, int]:
    return report("inspect", path)["ops"]


def number(name: str, value: float) -> bytes:
    return o.tensor(name, [], struct.pack("<f", value))


def gelu(x: str, y: str) -> list[bytes]:
    """x * (1 + erf(x / sqrt 2)) * 0.5, as exporters write it."""
    return [
        o.node("Div", [x, "root2"], [y + "_d"]),
        o.node("Erf", [y + "_d"], [y + "_e"]),
        o.node("Add", [y + "_e", "one"], [y + "_a"]),
        o.node("Mul", [x, y + "_a"], [y + "_m"]),
        o.node("Mul", [y + "_m", "half"], [y]),
    ]


def turned(x: str, y: str) -> list[bytes]:
    """Two Transposes that undo each other."""
    perm = o.attribute_ints("perm", [1, 0])
    return [o.node("Transpose", [x], [y + "_t"], perm), o.node("Transpose", [y + "_t"], [y], perm)]


def rewritable() -> bytes:
    """y = gelu(transpose(transpose(gelu(transpose(transpose(relu(x))))))), x: f32[n,4]: 15 nodes, of which 3 remain."""
    nodes = [o.node("Relu", ["x"], ["a"])] + turned("a", "b") + gelu("b", "c") + turned("c", "d") + gelu("d", "y")
    return o.chain(nodes, initializers=[number("root2", 2**0.5), number("one", 1.0), number("half", 0.5)], opset=20)


def settled() -> bytes:
    """A model in which there is nothing to rewrite."""
    return o.chain([o.node("Relu", ["x"], ["y"])])


def save_inputs(path: Path, model: Path) -> None:
    """An array for each input of the model, equal for equal names; n is 3."""
    arrays = {}
    for port in report("inspect", model)["inputs"]:
        shape = [3 if size == "n" else size for size in port["shape"]]
        arrays[port["name"]] = np.linspace(-2, 2, int(np.prod(shape)), dtype=np.float32).reshape(shape) + len(port["name"])
    np.savez(path, **arrays)


def close(before: Path, after: Path) -> bool:
    with np.load(before) as a, np.load(after) as b:
        return a.files == b.files and all(np.allclose(a[name], b[name], rtol=1e-5, atol=1e-6) for name in a.files)
