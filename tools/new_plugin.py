# SPDX-License-Identifier: Apache-2.0
"""Writes NAME.c, .cpp, .rs or .py to the current folder: a plugin of one op that passes its tests, ready to be edited."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from new_op import camel, snake
from new_rule import Mistake

ROOT = Path(__file__).resolve().parent.parent
SKELETONS = {"c": "plugin.c", "c++": "plugin.cpp", "python": "plugin_function.py", "rust": "plugin.rs"}
# The licence line of the skeleton, which the new file does not get.
LICENCE = re.compile(r"(//|#) SPDX-License-Identifier: Apache-2.0\n")


def language_of(language: str, name: str) -> str:
    if language in SKELETONS:
        return language
    raise Mistake("there is no such language", ", ".join(SKELETONS), language, f"./dev new-plugin {name}", 2)


def write(word: str, said: str, folder: Path) -> None:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", word):
        raise Mistake("this is no name for a plugin", "letters, digits and _, a letter first", word, "./dev new-plugin HardGate")
    skeleton = SKELETONS[language_of(said, word)]
    name = snake(word)
    path = folder / f"{name}{Path(skeleton).suffix}"
    if path.exists():
        raise Mistake(f"there is a file {path.name} already", "a new name", str(path), f"another name, or edit {path}", 1)
    text = (ROOT / "tools/skeletons" / skeleton).read_text(encoding="utf-8")
    text = LICENCE.sub("", text, count=1).replace("skeleton", name).replace("Skeleton", camel(word))
    path.write_text(text.replace("IINCLUDE", f"I{ROOT / 'include'}"), encoding="utf-8")  # last: the path may hold the word, too
    print(f"{path}\nthe commands in its first lines build and run it; docs/plugins.md describes what an op may declare")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev new-plugin", description=__doc__, epilog="how to go on: docs/plugins.md")
    parser.add_argument("name", metavar="NAME", nargs="?", help="of the file and of the op: HardGate")
    parser.add_argument("--language", default="c", help="what it is written in: c (default), c++, python or rust")
    parser.add_argument("--folder", type=Path, default=Path(), help="where it is written (default: here)")
    options = parser.parse_args()
    try:
        if options.name is None:
            raise Mistake("which plugin?", "./dev new-plugin NAME", "no name", "./dev new-plugin HardGate")
        write(options.name, options.language, options.folder)
    except Mistake as mistake:
        print(mistake, file=sys.stderr)
        return mistake.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
