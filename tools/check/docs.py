# SPDX-License-Identifier: Apache-2.0
"""Whether the documents tell the truth about the tree: links lead somewhere, files that they name exist, generated pages are fresh.

python tools/check/docs.py   prints each broken link; exit code 1 where there is one
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import make_docs  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
# `src/ir/graph.h`, `tools/models/make_models.py`: a path of the tree in code style. Words in capitals stand for a choice.
NAMED = re.compile(r"`((?:src|include|tools|tests|docs|python|examples|cmake|assets|bench)/[\w./-]*\w/?)`")


def documents() -> list[Path]:
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md"))]


def is_choice(path: str) -> bool:
    """`src/ops/onnx/NAME.cpp`, `tests/FOLDER/NAME_test.py`"""
    return any(word.isupper() and word != "README" for word in re.split(r"[/._]", path))


def problems_of(page: Path) -> list[str]:
    out, fenced = [], False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        fenced ^= line.startswith("```")
        where = f"{page.relative_to(ROOT)}:{number}"
        for target in [] if fenced else LINK.findall(line):
            if "://" not in target and not (page.parent / target).exists():
                out.append(f"{where}: the link leads nowhere: {target}")
        for target in NAMED.findall(line):
            if not is_choice(target) and not (ROOT / target).exists():
                out.append(f"{where}: names a file that is not there: {target}")
    return out


def main() -> int:
    found = [problem for page in documents() for problem in problems_of(page)]
    for path, text in make_docs.pages().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            found.append(f"{path.relative_to(ROOT)}: older than the sources; ./dev docs writes it")
    print("\n".join(found) or f"docs: {len(documents())} pages, every link leads somewhere")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
