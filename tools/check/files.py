# SPDX-License-Identifier: Apache-2.0
"""What every file of the project keeps to: a licence line, a size, a length, nothing that names a machine, nothing left for later.

python tools/check/files.py   prints each offence; exit code 1 where there is one
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LICENCE = "SPDX-License-Identifier: Apache-2.0"
LICENSED = {".cpp", ".h", ".py", ".pyi", ".cmake", ".sh", ".toml"}
LARGEST_BYTES = 1_000_000
LONGEST_LINES = 600
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
    if path.suffix in (".cpp", ".h") and len(lines) > LONGEST_LINES:
        out.append(f"{name}: {len(lines)} lines; at most {LONGEST_LINES}. What second thing has it become?")
    if path == Path(__file__).resolve():
        return out
    for number, line in enumerate(lines, 1):
        if MACHINE_PATH.search(line):
            out.append(f"{name}:{number}: names a folder of one machine")
        if is_source(path) and UNFINISHED.search(line):
            out.append(f"{name}:{number}: left for later; do it, or say what is not supported yet")
    return out


def main() -> int:
    everything = files()
    found = [problem for path in everything for problem in problems_of(path)]
    if found:
        print("\n".join(found))
        return 1
    sources = [p for p in everything if p.suffix in (".cpp", ".h")]
    lengths = [len(p.read_text(encoding="utf-8").splitlines()) for p in sources]
    print(f"files: {len(everything)}, C++ median {statistics.median(lengths):.0f} lines, longest {max(lengths)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
