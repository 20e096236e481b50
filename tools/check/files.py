# SPDX-License-Identifier: Apache-2.0
"""What every file of the project keeps to: a licence line, a size, a length, nothing that names a machine, nothing left for later; and
every folder to a number of files.

python tools/check/files.py   prints each offence; exit code 1 where there is one
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LICENCE = "SPDX-License-Identifier: Apache-2.0"
LICENSED = {".cpp", ".h", ".py", ".pyi", ".cmake", ".sh", ".toml"}
LARGEST_BYTES = 1_000_000
LONGEST_LINES = 400
MOST_FILES = 30  # of one kind in one folder
CODE = {".cpp", ".h", ".py"}
ROOMS = {"src", "include", "python", "tools", "tests"}
MACHINE_PATH = re.compile(r"(?<![\w./])/(?:root|home/\w+|work|Users|tmp/\w+)/")
UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")


def files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    return sorted({ROOT / name for name in listed.decode().split("\0") if name and (ROOT / name).is_file()})


def is_source(path: Path) -> bool:
    return path.suffix in LICENSED or path.name == "CMakeLists.txt"


def problems_of(path: Path) -> list[str]:
    name = str(path.relative_to(ROOT))
    if path.stat().st_size >= LARGEST_BYTES:
        return [f"{name}: {path.stat().st_size} bytes; at most {LARGEST_BYTES} are kept here"]
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return []
    out = []
    lines = text.splitlines()
    if is_source(path) and not any(LICENCE in line for line in lines[:2]):
        out.append(f"{name}:1: the first line must say {LICENCE}")
    if path.suffix in CODE and len(lines) > LONGEST_LINES:
        out.append(f"{name}: {len(lines)} lines; at most {LONGEST_LINES}. What second thing has it become?")
    if path == Path(__file__).resolve():
        return out
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            out.append(f"{name}:{number}: names a folder of one machine")
        if is_source(path) and UNFINISHED.search(line):
            out.append(f"{name}:{number}: left for later; do it, or say what is not supported yet")
    return out


def crowded_folders(names: Iterable[str]) -> list[str]:
    """Of these paths, relative to ROOT: the folders that hold more than MOST_FILES files of one kind."""
    code = [path for path in map(Path, names) if path.suffix in CODE and path.parts[0] in ROOMS]
    counts = Counter((str(path.parent), path.suffix) for path in code)
    return [
        f"{folder}: {count} files end in {suffix}; at most {MOST_FILES} belong in one folder. What second subject does it have?"
        for (folder, suffix), count in sorted(counts.items())
        if count > MOST_FILES
    ]


def main() -> int:
    everything = files()
    found = [problem for path in everything for problem in problems_of(path)]
    found += crowded_folders(str(path.relative_to(ROOT)) for path in everything)
    if found:
        print("\n".join(found))
        return 1
    sources = [p for p in everything if p.suffix in (".cpp", ".h")]
    lengths = [len(p.read_text(encoding="utf-8").splitlines()) for p in sources]
    print(f"files: {len(everything)}, C++ median {statistics.median(lengths):.0f} lines, longest {max(lengths)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
