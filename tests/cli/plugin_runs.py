# SPDX-License-Identifier: Apache-2.0
"""What tests of plugins share: libraries by the system's compiler on the public headers alone, and what the program says of runs."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from small_models import ROOT, o, tenon


def library(folder: Path, source: Path, *options: str, name: str = "") -> Path:
    out = folder / f"{name or source.stem}.so"
    compiler, standard = ("cc", "-std=c11") if source.suffix == ".c" else ("c++", "-std=c++17")
    flags = [standard, "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{ROOT / 'include'}"]
    subprocess.run([compiler, *flags, source, *options, "-o", out, "-lm"], check=True)
    return out


def attribute_text(name: str, value: str) -> bytes:
    return o.message(5, o.text(1, name), o.text(4, value), o.number(20, 3))


def report(*arguments: object) -> dict:
    """What it says of a success."""
    done = tenon(*arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def error(*arguments: object, status: int = 1) -> dict:
    done = tenon(*arguments, "--json")
    assert done.returncode == status, done.stdout + done.stderr
    return json.loads(done.stdout)["error"]
