# SPDX-License-Identifier: Apache-2.0
"""Writes the docstrings of .pyi files as C++: TENON_DOCSTRING("Engine.run", "...") for each name that has one, sorted by name.

make_docstrings.py FILE.pyi... OUT.inc
"""

import ast
import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path

NAMED = (ast.ClassDef, ast.FunctionDef)


def docstrings(body: list[ast.stmt], scope: str = "") -> Iterator[tuple[str, str]]:
    """(qualified name, text) of the classes, functions, methods and properties in `body`; of overloads the first text."""
    for node in body:
        if isinstance(node, NAMED):
            if text := ast.get_docstring(node, clean=False):
                yield scope + node.name, inspect.cleandoc(text)
            if isinstance(node, ast.ClassDef):
                yield from docstrings(node.body, f"{scope}{node.name}.")


def literal(text: str) -> str:
    """A C++ string literal; JSON's escapes are C++'s."""
    return json.dumps(text, ensure_ascii=False).replace("??", '?""?')


def main() -> None:
    *sources, out = map(Path, sys.argv[1:])
    found: dict[str, str] = {}
    for source in sources:
        for name, text in docstrings(ast.parse(source.read_text(encoding="utf-8")).body):
            found.setdefault(name, text)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(f"TENON_DOCSTRING({literal(n)}, {literal(t)})\n" for n, t in sorted(found.items())), encoding="utf-8")


if __name__ == "__main__":
    main()
