# SPDX-License-Identifier: Apache-2.0
"""Plugin libraries for tests, built by the system's own compiler on the public headers alone."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def compiled(source: str, folder: Path, *options: str) -> Path:
    """`source`: from the root of the project. Skips the test where there is no compiler."""
    compiler = "c++" if source.endswith(".cpp") else "cc"
    if not shutil.which(compiler):
        pytest.skip(f"needs the compiler {compiler}")
    out = folder / f"{Path(source).stem}.so"
    standard = "-std=c++17" if compiler == "c++" else "-std=c11"
    flags = [standard, "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", f"-I{ROOT / 'include'}"]
    subprocess.run([compiler, *flags, ROOT / source, *options, "-o", out, "-lm", "-ldl"], check=True)
    return out
