# SPDX-License-Identifier: Apache-2.0
"""Compares graphs, plans, programs and tile IR that the compiler makes of tests/models with those of an earlier run.

python tools/replay.py NOW [--save FOLDER] [--against FOLDER]

NOW is a folder that build/bin/replay wrote. Without an option each file's hash is printed. Exit code 1: they differ.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import shutil
import sys
from pathlib import Path

SHOWN_LINES = 60


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.glob("*.txt"))}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def print_hashes(now: dict[str, str]) -> None:
    for name, text in now.items():
        print(f"{digest(text)}  {name}")
    print(f"{digest(''.join(now.values()))}  all {len(now)}")


def difference(name: str, before: str, now: str) -> list[str]:
    return list(difflib.unified_diff(before.splitlines(), now.splitlines(), f"before/{name}", f"now/{name}", n=2, lineterm=""))


def compare(before: dict[str, str], now: dict[str, str]) -> bool:
    """Prints what differs, the first file's difference in full up to SHOWN_LINES. True: nothing does."""
    changed = [name for name in now if name in before and before[name] != now[name]]
    for what, names in (("new", now.keys() - before.keys()), ("gone", before.keys() - now.keys())):
        for name in sorted(names):
            print(f"{what}: {name}")
    for name in changed:
        lines = difference(name, before[name], now[name])
        added = sum(line.startswith("+") for line in lines) - 1
        taken = sum(line.startswith("-") for line in lines) - 1
        print(f"changed: {name} (+{added} -{taken} lines)")
    if changed:
        print("\n".join(difference(changed[0], before[changed[0]], now[changed[0]])[:SHOWN_LINES]))
    same = before == now
    print(f"replay: {len(now) - len(changed)} of {len(now)} files are the same" + ("" if same else ", the change is not empty"))
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("now", type=Path)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    now = texts(options.now)
    if not now:
        print(f"replay: {options.now} holds nothing", file=sys.stderr)
        return 2
    if options.save:
        shutil.rmtree(options.save, ignore_errors=True)
        shutil.copytree(options.now, options.save)
        print(f"replay: {len(now)} files saved in {options.save}")
    elif options.against:
        return 0 if compare(texts(options.against), now) else 1
    else:
        print_hashes(now)
    return 0


if __name__ == "__main__":
    sys.exit(main())
