# SPDX-License-Identifier: Apache-2.0
"""Runs a test's command where .venv-peers has the packages that it needs; elsewhere the test is skipped, with the reason.

run_with_packages.py PACKAGE[,PACKAGE...] COMMAND...    ends as the command does, or with 77: skipped
"""

import os
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
PEERS = Path(__file__).resolve().parents[2] / ".venv-peers/bin/python"


def has(packages: list[str], python: Path = PEERS) -> bool:
    """Whether that Python finds the packages; does not import them."""
    find = f"import importlib.util, sys; sys.exit(not all(map(importlib.util.find_spec, {packages!r})))"
    return python.exists() and subprocess.run([python, "-c", find]).returncode == 0


def main() -> None:
    packages = sys.argv[1].split(",")
    if not has(packages):
        print(f"skipped {'needs ' + ' and '.join(packages) + ' in .venv-peers'!r}")
        sys.exit(SKIPPED)
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
