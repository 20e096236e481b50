# SPDX-License-Identifier: Apache-2.0
"""Writes the docstrings of .pyi files as C++: TENON_DOCSTRING("Engine.run", "...") for each name that has one, sorted by name.

make_docstrings.py FILE.pyi... OUT.inc
"""

import ast
import inspect
import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

NAMED = (ast.ClassDef, ast.FunctionDef)


def keys(body: list[ast.stmt]) -> dict[str, list[str]]:
    """The documented keys of each TypedDict in `body`, as "key: text"; those of its base first."""
    out: dict[str, list[str]] = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            inherited = [line for base in node.bases for line in out.get(ast.unparse(base), [])]
            own = [
                f"{ast.unparse(key.target)}: {text.value.value}"
                for key, text in zip(node.body, node.body[1:], strict=False)
                if isinstance(key, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
            ]
            out[node.name] = inherited + own
    return out


def keywords(node: ast.ClassDef | ast.FunctionDef, options: dict[str, list[str]]) -> str:
    """The keys of X of a function that takes **options: Unpack[X], a paragraph each."""
    if isinstance(node, ast.ClassDef) or not node.args.kwarg or not isinstance(node.args.kwarg.annotation, ast.Subscript):
        return ""
    lines = options.get(ast.unparse(node.args.kwarg.annotation.slice), [])
    return "".join("\n" + textwrap.fill(line, 120, subsequent_indent="    ", break_on_hyphens=False) for line in lines)


def docstrings(body: list[ast.stmt], options: dict[str, list[str]], scope: str = "") -> Iterator[tuple[str, str]]:
    """(qualified name, text) of the classes, functions, methods and properties in `body`; of overloads the first text."""
    for node in body:
        if isinstance(node, NAMED):
            if text := ast.get_docstring(node, clean=False):
                more = keywords(node, options)
                yield scope + node.name, inspect.cleandoc(text) + ("\n" + more if more else "")
            if isinstance(node, ast.ClassDef):
                yield from docstrings(node.body, options, f"{scope}{node.name}.")


def literal(text: str) -> str:
    """A C++ string literal; JSON's escapes are C++'s."""
    return json.dumps(text, ensure_ascii=False).replace("??", '?""?')


def main() -> None:
    *sources, out = map(Path, sys.argv[1:])
    bodies = [ast.parse(source.read_text(encoding="utf-8")).body for source in sources]
    options = {name: lines for body in bodies for name, lines in keys(body).items()}
    found: dict[str, str] = {}
    for body in bodies:
        for name, text in docstrings(body, options):
            found.setdefault(name, text)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(f"TENON_DOCSTRING({literal(n)}, {literal(t)})\n" for n, t in sorted(found.items())), encoding="utf-8")


if __name__ == "__main__":
    main()
