# SPDX-License-Identifier: Apache-2.0
"""Finds identifiers with words that name a relation or an activity where the thing itself has a name (docs/why/040-plain-names.md).

python tools/check/words.py [ROOT]   prints each file, line and identifier, and what to name instead; exit code 1 where there is one
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

PARTS = {
    "told": "name the data (`report`, `sizes`, `description`) or the event (`notified`, `reported`)",
    "tell": "`report`, `declare`, `send` or `notify`",
    "teller": "`definition`: the value that defines it",
    "tellers": "`definitions`: the values that define them",
    "behind": "`after` for an order, `unbounded` or `fallback` for a program",
    "beside": "the role that it has there: `neighbor`, `extra`, `fallback`",
    "wish": "`constraint` or `option`",
    "wishes": "`constraints` or `options`",
    "guilty": "`faulty`",
    "dish": "`instance` or `result`",
    "cook": "`builder`",
    "doing": "`activity`",
    "door": "`input_checks`, or the function at that boundary",
}
TOPS = ("src", "include", "python", "tools", "tests", "bench", "examples")
C_LIKE = {".h", ".cpp", ".c", ".js"}
PYTHON = {".py", ".pyi"}
# Comments and texts, raw ones first; a digit separator (1'000) is no quote.
NO_CODE = re.compile(
    r"""R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'|//[^\n]*|/\*.*?\*/""", re.DOTALL
)
NAME = re.compile(r"[A-Za-z_]\w*")
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def parts_of(name: str) -> list[str]:
    """The words of a snake_case or CamelCase name, in lower case."""
    return [part.lower() for part in PART.findall(name)]


def bad_part(name: str) -> str | None:
    return next((part for part in parts_of(name) if part in PARTS), None)


def names_in_c(text: str) -> Iterator[tuple[int, str]]:
    """Line and identifier. Of names of included files only the include itself is left out: those are checked as files."""
    code = NO_CODE.sub(lambda m: "\n" * m.group(0).count("\n"), text)
    for number, line in enumerate(code.split("\n"), 1):
        yield from ((number, name) for name in NAME.findall(line))


def names_in_python(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            yield token.start[0], token.string


def bad_names(root: Path) -> list[str]:
    """ "FILE:LINE: identifier 'x_told' has 'told': ..." for each, in the order of files and lines; a name once a line."""
    out = []
    files = (p for top in TOPS for p in (root / top).rglob("*") if p.suffix in C_LIKE | PYTHON and p.is_file())
    for file in sorted(files):
        place = file.relative_to(root)
        if part := bad_part(file.stem):
            out.append(f"{place}: the file's name has '{part}': {PARTS[part]}")
        text = file.read_text(encoding="utf-8")
        names = names_in_python(text) if file.suffix in PYTHON else names_in_c(text)
        for line, name in dict.fromkeys(names):
            if part := bad_part(name):
                out.append(f"{place}:{line}: identifier '{name}' has '{part}': {PARTS[part]}")
    return out


def main() -> int:
    found = bad_names(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]))
    print("\n".join(found) if found else f"words: no identifier has one of {len(PARTS)} words that say nothing of a thing")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
