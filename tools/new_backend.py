# SPDX-License-Identifier: Apache-2.0
"""Writes src/backends/NAME: a backend that supports nodes whose result sizes are known and returns zeros, ready to be edited."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from new_op import camel, snake
from new_rule import Mistake

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = ROOT / "tests/backends/null"  # which the tests run unchanged


def write(word: str) -> None:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", word):
        raise Mistake("this is no name for a backend", "letters, digits and _, a letter first", word, "./dev new-backend far_away")
    name = snake(word)
    folder = ROOT / "src/backends" / name
    if folder.exists():
        known = folder.relative_to(ROOT)
        raise Mistake(f"there is a backend {name} already", "a new name", str(known), f"another name, or edit {known}", 1)
    for part, words in (("", "compiles: what it takes, and to what"), ("device/", "runs that")):
        text = (TEMPLATE / f"{part}null.cpp").read_text(encoding="utf-8")
        path = folder / f"{part}{name}.cpp"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(re.sub(r"\bNull\b", camel(name), re.sub(r"\bnull\b", name, text)), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}  {words}")
    print(f"change both (docs/add-a-backend.md), then ./dev build && tenon compare MODEL --backend {name}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev new-backend", description=__doc__, epilog="how to go on: docs/add-a-backend.md")
    parser.add_argument("name", metavar="NAME", nargs="?", help="of the folder, and for --backend")
    options = parser.parse_args()
    try:
        if options.name is None:
            raise Mistake("which backend?", "./dev new-backend NAME", "no name", "./dev new-backend far_away")
        write(options.name)
    except Mistake as mistake:
        print(mistake, file=sys.stderr)
        return mistake.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
