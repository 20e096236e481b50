# SPDX-License-Identifier: Apache-2.0
"""Finds circles: files that include, folders of source files that include, and modules that import, each other by whatever way round. An
import inside a function, or for type checkers alone, counts like every other.

python tools/check/circles.py [ROOT]   prints each circle, and the includes that close one of folders; exit code 1 where there is one
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

Arrows = dict[str, set[str]]

SHOWN_INCLUDES = 8
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def circles(arrows: Arrows) -> list[list[str]]:
    """One circle of each set of names that all reach each other: the shortest way round from the first of them, in order."""
    out = []
    for group in _knots(arrows):
        start = min(group)
        if len(group) > 1 or start in arrows.get(start, ()):
            out.append(_way_round(arrows, group, start))
    return sorted(out)


def _knots(arrows: Arrows) -> Iterator[set[str]]:
    """The strongly connected components, by Kosaraju's two walks. Cost: linear in names and arrows."""
    seen: set[str] = set()
    order = [name for start in sorted(arrows) for name in _walk(arrows, start, seen)]
    back: Arrows = {}
    for name, targets in arrows.items():
        for target in targets:
            back.setdefault(target, set()).add(name)
    seen = set()
    for start in reversed(order):
        group = set(_walk(back, start, seen))
        if group:
            yield group


def _walk(arrows: Arrows, start: str, seen: set[str]) -> list[str]:
    """What is reached from `start` and not seen before; each name behind all that it reaches."""
    if start in seen:
        return []
    seen.add(start)
    done, stack = [], [(start, iter(sorted(arrows.get(start, ()))))]
    while stack:
        name, targets = stack[-1]
        new = next((t for t in targets if t not in seen), None)
        if new is None:
            done.append(name)
            stack.pop()
        else:
            seen.add(new)
            stack.append((new, iter(sorted(arrows.get(new, ())))))
    return done


def _way_round(arrows: Arrows, group: set[str], start: str) -> list[str]:
    came_from: dict[str, str] = {}
    front = [start]
    while start not in came_from:
        reached = [(t, name) for name in front for t in sorted(arrows[name]) if t in group and t not in came_from]
        came_from.update(reversed(reached))
        front = [t for t, _ in reached]
    way, name = [start], came_from[start]
    while name != start:
        way.append(name)
        name = came_from[name]
    return [start, *reversed(way[1:]), start]


# --- C++ --------------------------------------------------------------------------------------------------------


def includes(root: Path) -> Arrows:
    """What each source file includes of the others. A name is looked for below include/ and src/, below the root, and beside the file."""
    files = {p for top in ("include", "src", "python") for p in (root / top).rglob("*") if p.suffix in (".cpp", ".h")}

    def target(file: Path, name: str) -> Path | None:
        return next((p for p in (root / "src" / name, root / "include" / name, root / name, file.parent / name) if p in files), None)

    def targets(file: Path) -> set[str]:
        found = (target(file, name) for name in INCLUDE.findall(file.read_text(encoding="utf-8")))
        return {str(p.relative_to(root)) for p in found if p is not None}

    return {str(file.relative_to(root)): targets(file) for file in files}


def folders(files: Arrows) -> tuple[Arrows, dict[tuple[str, str], list[str]]]:
    """What the folders below src include of each other, and for each pair of them its includes: "src/a/x.cpp includes src/b/y.h". Of a
    circle that leaves a floor, tools/check/floors.py prints the include that goes up."""
    arrows: Arrows = {}
    lines: dict[tuple[str, str], list[str]] = {}
    for file, targets in sorted(files.items()):
        here = str(Path(file).parent)
        if here.split("/")[0] != "src":
            continue
        arrows.setdefault(here, set())
        for target in sorted(targets):
            there = str(Path(target).parent)
            if there != here and there.split("/")[0] == "src":
                arrows[here].add(there)
                lines.setdefault((here, there), []).append(f"{file} includes {target}")
    return arrows, lines


def folder_circles(files: Arrows) -> list[str]:
    """Each circle of folders with its includes, at most SHOWN_INCLUDES of a pair of folders."""
    arrows, lines = folders(files)
    out = []
    for circle in circles(arrows):
        out.append(f"a circle of folders: {' -> '.join(circle)}")
        for pair in zip(circle, circle[1:], strict=False):
            shown = lines[pair][:SHOWN_INCLUDES]
            out += [f"  {line}" for line in shown]
            if len(shown) < len(lines[pair]):
                out.append(f"  and {len(lines[pair]) - len(shown)} more from {pair[0]} to {pair[1]}")
    return out


# --- Python -----------------------------------------------------------------------------------------------------


def _modules(top: Path) -> dict[str, Path]:
    """The modules of the packages in folder `top`, by their full names."""
    files = {p.relative_to(top).with_suffix(""): p for p in top.rglob("*.py")}
    return {".".join(name.parent.parts if name.name == "__init__" else name.parts): p for name, p in files.items()}


def _full_name(module: str, path: Path, statement: ast.ImportFrom) -> str:
    """The module that `from ... import` names, dots at its beginning resolved."""
    if statement.level == 0:
        return statement.module or ""
    here = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    base = here[: len(here) - statement.level + 1]
    return ".".join([*base, statement.module] if statement.module else base)


def imports(top: Path) -> Arrows:
    """What each module imports of the others, wherever the statement stands. Packages above a module are not counted: Python runs them
    first in any case, and `from . import name` points at the module `name` where there is one."""
    modules = _modules(top)

    def named(module: str, path: Path) -> Iterator[str]:
        for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(statement, ast.Import):
                yield from (alias.name for alias in statement.names)
            elif isinstance(statement, ast.ImportFrom):
                base = _full_name(module, path, statement)
                inner = [f"{base}.{alias.name}" for alias in statement.names]
                yield from (name for name in inner if name in modules)
                if not all(name in modules for name in inner):
                    yield base

    return {module: {name for name in named(module, path) if name in modules} for module, path in modules.items()}


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    parts = [includes(root), imports(root / "python")]
    found = [f"a circle: {' -> '.join(circle)}" for arrows in parts for circle in circles(arrows)]
    found += folder_circles(parts[0])
    if found:
        print("\n".join(found))
    else:
        count = len(folders(parts[0])[0])
        print(f"circles: none among {len(parts[0])} C++ files, {count} folders of src and {len(parts[1])} Python modules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
