# SPDX-License-Identifier: Apache-2.0
"""Installs the wheels in dist/ into bare virtual environments and runs them: no compiler, no other package, every Python that is here.

check_wheels.py    ends with 1 where something fails, a wheel is over 45 MB, or installing and the first results take over 60 s
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
MOST_MEGABYTES, MOST_SECONDS = 45, 60
EXAMPLE = (ROOT / "examples/python/run.py").read_text(encoding="utf-8")
HELP = "import tenon; assert 'Runs once' in tenon.Engine.run.__doc__ and 'model' in tenon.compile.__doc__ and tenon.ThreadPool.__doc__"
# Type checkers find the extension's names.
TYPED = """
import importlib, pathlib, sys
folder = pathlib.Path(importlib.import_module(sys.argv[1]).__file__).parent
for name in ("py.typed", f"_{sys.argv[1]}.pyi", "_engine.pyi"):
    assert (folder / name).is_file(), name
assert sys.argv[1] != "tenon" or (folder / "_options.pyi").is_file()
"""
# The script that runs other engines is there, and runs in the environment's own Python, which lacks ONNX Runtime.
PEER = """
import json, subprocess, sys
for verb in (["bench", "--vs"], ["compare", "--with"]):
    command = ["tenon", verb[0], "examples/mlp.onnx", verb[1], "onnxruntime", "--json"]
    error = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)["error"]
    assert error["found"] == "no module onnxruntime" and sys.prefix in error["expected"], error
"""
RUNTIME = """
import numpy as np, sys, tenon_runtime
try:
    tenon_runtime.load("no.tenon")
except tenon_runtime.TenonError as error:
    assert error.code == "file_missing", error
engine = tenon_runtime.load(sys.argv[1])
assert "Runs once" in engine.run.__doc__
print(engine.run({"x": np.full((3, 16), 0.5, np.float32)})["y"].argmax(axis=1))
"""


def pythons() -> dict[str, Path]:
    """By version, those found on the path, in pyenv's folder and in the system's."""
    folders = [Path(f) for f in os.environ["PATH"].split(os.pathsep)]
    folders += sorted((Path.home() / ".pyenv/versions").glob("3.*/bin")) + [Path("/usr/bin"), Path("/usr/local/bin")]
    found = {}
    for version in VERSIONS:
        for folder in folders:
            python = folder / f"python{version}"
            if version not in found and os.access(python, os.X_OK) and starts(python):
                found[version] = python
    return found


def starts(python: Path) -> bool:
    """pyenv's shims are there for versions that are not active, and fail."""
    return subprocess.run([python, "-c", "import venv, ensurepip"], capture_output=True).returncode == 0


class Environment:
    """A bare virtual environment, whose programs alone are on the path."""

    def __init__(self, python: Path, folder: Path) -> None:
        self.folder, self.bin = folder, folder / "env/bin"
        subprocess.run([python, "-m", "venv", folder / "env"], check=True, capture_output=True)

    def run(self, *command: object) -> str:
        variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TENON", "LD_"))} | {"PATH": str(self.bin)}
        done = subprocess.run(
            [self.bin / str(command[0]), *map(str, command[1:])], cwd=self.folder, env=variables, capture_output=True, text=True
        )
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
        return done.stdout

    def install(self, name: str) -> float:
        """Seconds."""
        start = time.monotonic()
        self.run("python", "-m", "pip", "install", "--disable-pip-version-check", next(DIST.glob(f"{name}-*.whl")))
        return time.monotonic() - start


def check_compiler(python: Path, folder: Path) -> tuple[float, float]:
    """Seconds that installing took; those until the command, and the README's example, had printed results. Leaves m.tenon in `folder`."""
    environment = Environment(python, folder)
    (folder / "examples").symlink_to(ROOT / "examples")
    installed = environment.install("tenon_compiler")
    start = time.monotonic()
    environment.run("tenon", "build", "examples/mlp.onnx", "-o", folder / "m.tenon")
    environment.run("tenon", "run", folder / "m.tenon")
    environment.run("python", "-c", EXAMPLE)
    first = time.monotonic() - start
    environment.run("python", "-c", HELP)
    environment.run("python", "-c", TYPED, "tenon")
    environment.run("python", "-c", PEER)
    assert "usage" in environment.run("python", "-m", "tenon", "--help").lower()
    return installed, first


def main() -> int:
    failures = 0
    for wheel in sorted(DIST.glob("*.whl")):
        size = wheel.stat().st_size / 1e6
        print(f"{size:5.1f} MB  {wheel.name}")
        failures += size > MOST_MEGABYTES
    found = pythons()
    print(f"{'Python':8} {'installed':>10} {'first results':>14} {'runtime installed':>18}")
    for version, python in found.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "compiler").mkdir()
            (folder / "runtime").mkdir()
            try:
                installed, first = check_compiler(python, folder / "compiler")
                environment = Environment(python, folder / "runtime")
                runtime = environment.install("tenon_runtime")
                environment.run("python", "-c", RUNTIME, folder / "compiler/m.tenon")
                environment.run("python", "-c", TYPED, "tenon_runtime")
            except (RuntimeError, AssertionError) as error:
                print(f"{version:8} failed: {error}", flush=True)
                failures += 1
                continue
            print(f"{version:8} {installed:8.1f} s {first:12.1f} s {runtime:16.1f} s", flush=True)
            failures += installed + first > MOST_SECONDS
    if missing := [v for v in VERSIONS if v not in found]:
        print(f"not here, and so not tried: Python {', '.join(missing)}")
    return 1 if failures or not found else 0


if __name__ == "__main__":
    sys.exit(main())
