# SPDX-License-Identifier: Apache-2.0
"""The command line: `python -m tenon ARGUMENTS`; the command `tenon` that the package installs is the same without importing it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn


def program() -> Path:
    """The executable: next to this file in an installed package; in the folder `bin` of a build."""
    package = Path(__file__).parent
    places = [package / "tenon", package.parent.parent / "bin/tenon"]
    found = next((place for place in places if os.access(place, os.X_OK) and place.is_file()), None)
    if found is None:
        sys.exit(f"tenon: the program is missing; looked for {' and '.join(map(str, places))}: install the package tenon-compiler again")
    return found


def main() -> NoReturn:
    os.execv(program(), ["tenon", *sys.argv[1:]])


if __name__ == "__main__":
    main()
