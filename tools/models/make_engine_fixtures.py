# SPDX-License-Identifier: Apache-2.0
"""Writes engine files of this version, and what they compute: later versions must load and run them (tests/compiler/fixtures).

.venv/bin/python tools/models/make_engine_fixtures.py FOLDER

FOLDER/NAME.portable.tenon, FOLDER/NAME.CPU.tenon with code for this CPU's instruction set, FOLDER/NAME.inputs.npz, FOLDER/NAME.results.npz.
A folder is written once, by the version whose name it has, and never again.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TENON = os.environ.get("TENON", ROOT / "build/bin/tenon")
sys.path.insert(0, str(ROOT / "tests/bad_input"))

from whole_models import whole_models  # noqa: E402

SHAPES = {"perceptron": (5, 8), "images": (2, 3, 16, 16), "shapes": (3, 8), "control": (2, 4), "defaults": (2, 4)}
MOST_BYTES = 100_000


def tenon(*arguments: object) -> None:
    subprocess.run([str(TENON), *map(str, arguments), "--quiet"], check=True)


def main() -> None:
    folder = Path(sys.argv[1])
    if folder.exists():
        sys.exit(f"{folder} is there: engines of a version are written once")
    folder.mkdir(parents=True)
    isa = "avx512" if "avx512dq" in Path("/proc/cpuinfo").read_text() else "avx2"
    for name, data in whole_models().items():
        model = folder / f"{name}.onnx"
        model.write_bytes(data)
        x = np.random.default_rng(7).standard_normal(SHAPES[name]).astype(np.float32)
        np.savez_compressed(folder / f"{name}.inputs.npz", x=x)
        tenon("build", model, "-o", folder / f"{name}.{isa}.tenon")
        tenon("build", model, "-o", folder / f"{name}.portable.tenon", "--portable")
        tenon("run", model, "--input", folder / f"{name}.inputs.npz", "--output", folder / f"{name}.results.npz")
        model.unlink()
    for path in folder.iterdir():
        if path.stat().st_size > MOST_BYTES:
            sys.exit(f"{path} is too large for a fixture: {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
