# SPDX-License-Identifier: Apache-2.0
"""Holds every include to the floors: a folder may include itself and folders on lower floors; never a neighbour, never up.

python tools/check/floors.py [ROOT]   prints each include that is out of place; exit code 1 where there is one
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

# The table of the floors; a lower number is a lower floor.
FLOORS = {
    "tenon/plugin.h": -2, "tenon/types.h": -2,
    "base": -1,
    "ir": 0, "engine": 0, "files": 0, "plugin": 0,
    "ops": 1, "runtime": 1,
    "llm": 2, "rewrite": 2, "autodiff": 2, "codegen": 2,
    "rules": 3, "import": 3, "nn": 3, "backend": 3,
    "passes": 4, "partition": 4, "program": 4,
    "backends": 5,
    "compiler": 6,
    "tenon": 7, "cli": 7, "serve": 7,
    "api": 8,
    "python": 9,
}  # fmt: skip

# The public headers and the run side know no compiler: these see no more than this, although more stands on lower floors.
RUN_SIDE = {
    "engine": {"base"},
    "files": {"base"},
    "tenon": {"tenon/plugin.h", "tenon/types.h"},
    "plugin": {"base", "tenon/plugin.h", "tenon/types.h"},
    "runtime": {"base", "engine", "files", "plugin", "tenon/plugin.h", "tenon/types.h"},
    "llm": {"base", "engine", "files", "plugin", "runtime", "tenon/plugin.h", "tenon/types.h"},
    "device": {"base", "engine", "files", "plugin", "runtime", "tenon/plugin.h", "tenon/types.h"},
    "api": {"base", "engine", "files", "plugin", "runtime", "tenon", "tenon/plugin.h", "tenon/types.h"},
    "api/llm": {"base", "engine", "files", "llm", "plugin", "runtime", "tenon", "tenon/plugin.h", "tenon/types.h"},
    "reference/device": {"base", "engine", "files", "plugin", "runtime", "tenon/plugin.h", "tenon/types.h", "ir", "ops"},
}

# Headers of heavy or foreign libraries, and the only folders that see them.
FENCED = {
    "llvm/": "src/codegen/llvm",
    "llvm-c/": "src/codegen/llvm",
    "llvm/IR/IntrinsicsX86.h": "src/codegen/llvm/architectures",
    "lld/": "src/codegen/llvm",
    "protozero/": "src/base src/compiler src/import src/plugin src/runtime",
    "CLI/": "src/cli",
    "nanobind/": "python",
    "xxhash.h": "src/base src/engine",
    "openssl/": "src/plugin",
    "pcre2.h": "src/llm/text",
    "utf8proc.h": "src/llm/text",
}

# Folders that see a floor through one header of it.
FRONT_HEADERS = {"plugin": ("plugin/public/plugins.h", {"compiler", "cli", "api", "python"})}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def folder_of(include: str) -> str | None:
    """The folder of FLOORS that an include names; None for a library or a file beside the includer."""
    if include in FLOORS:
        return include
    if include.endswith(".inc"):  # lists that the build writes belong to the registry that includes them
        return None
    top = include.split("/")[0]
    return top if "/" in include and top in FLOORS else None


def part_of(path: Path, root: Path) -> tuple[str, str]:
    """The folder of a source file, and its backend with '/device' behind it for the run side of one: ("backends", "cpu/device")."""
    parts = path.relative_to(root).parts
    if parts[0] == "include":
        name = "/".join(parts[1:])
        return (name if name in FLOORS else parts[1]), ""
    if parts[0] != "src":
        return parts[0], ""
    if parts[1] == "api" and parts[2] in ("full", "llm"):  # the half of the public interface that compiles; language models
        return "api", parts[2]
    if parts[1] != "backends":
        return parts[1], ""
    return "backends", parts[2] + ("/device" if parts[3] == "device" else "")


def refusal(folder: str, backend: str, include: str) -> str | None:
    """Why the file may not include this; None where it may."""
    target = folder_of(include)
    if target is None or target == folder != "backends":
        return None
    device = backend.endswith("/device")
    front, callers = FRONT_HEADERS.get(target, (None, set()))
    if folder in callers and include != front:
        return f"{folder} sees {target} through {front} alone"
    if target == "backends":
        other = include.split("/")[1]
        if folder == "backends":
            if other != backend.split("/")[0]:
                return f"backends are strangers to each other: {other}"
            if device and "/device/" not in include:
                return "the run side of a backend knows nothing of its compile side"
            return None
    if device:
        allowed = RUN_SIDE.get(backend, RUN_SIDE["device"])
    elif folder in RUN_SIDE and backend != "full":
        allowed = RUN_SIDE.get(f"{folder}/{backend}", RUN_SIDE[folder])
    else:
        allowed = {f for f, floor in FLOORS.items() if floor < FLOORS[folder]}
    if target in allowed:
        return None
    return f"{target} is floor {FLOORS[target]}; here may be included: {', '.join(sorted(allowed)) or 'nothing'}"


def problems_of(path: Path, root: Path) -> list[str]:
    folder, backend = part_of(path, root)
    out = []
    if folder not in FLOORS:
        return [f"{path.relative_to(root)}: the folder {folder} stands on no floor; add it to FLOORS"]
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        include = found.group(2)
        where = f"{path.relative_to(root)}:{number}: #include {include}"
        for library, homes in FENCED.items():
            if include.startswith(library) and not str(path.relative_to(root)).startswith(tuple(homes.split())):
                out.append(f"{where}: only {homes} sees {library}")
        reason = refusal(folder, backend, include)
        if reason:
            out.append(f"{where}: {reason}")
    return out


def sources(root: Path) -> list[Path]:
    return sorted(p for top in ("include", "src", "python") for p in (root / top).rglob("*") if p.suffix in (".cpp", ".h"))


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).resolve().parents[2])
    found = [problem for path in sources(root) for problem in problems_of(path, root)]
    print("\n".join(found) or f"floors: {len(sources(root))} files, every include in its place")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
