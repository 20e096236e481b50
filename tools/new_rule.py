# SPDX-License-Identifier: Apache-2.0
"""Writes a new rule and its tests, which pass unchanged, ready to be edited: the files of tools/skeletons."""

from __future__ import annotations

import argparse
import difflib
import keyword
import re
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SKELETONS = Path(__file__).resolve().parent / "skeletons"


class Kind(NamedTuple):
    when: str  # when a rule is written in this way
    files: dict[str, str]  # path: its skeleton
    then: str  # the command that runs the tests


CPP_THEN = "./dev test rules && ./dev docs"
STAGES = {
    "clean": "makes graphs smaller or more uniform and never hides structure",
    "fuse": "replaces a subgraph by one fused op",
    "trim": "leaves out elements that no node reads",
    "combine": "joins fused ops, moves data layout",
    "onnxruntime": "rewrites the finished graph to the ops of ONNX Runtime",
}
KINDS = {
    "equation": Kind(
        "one equation expresses the rule",
        {"src/rules/FOLDER/NAME.cpp": "equation.cpp", "tests/rules/FOLDER/NAME.tn": "rule.tn"},
        CPP_THEN,
    ),
    "builder": Kind(
        "a value has several users, or one side is long: two functions over the graph builder",
        {"src/rules/FOLDER/NAME.cpp": "builder.cpp", "tests/rules/FOLDER/NAME.tn": "rule.tn"},
        CPP_THEN,
    ),
    "code": Kind(
        "an equation cannot express the decision: functions match and rewrite",
        {"src/rules/FOLDER/NAME.cpp": "code.cpp", "tests/rules/FOLDER/NAME.tn": "rule.tn"},
        CPP_THEN,
    ),
    "file": Kind(
        "equations that are loaded at run time, without a build: tenon rewrite --rules FILE",
        {"examples/rules/NAME.rules": "file.rules", "tests/rules/NAME_test.py": "file_test.py"},
        "./dev test rules",
    ),
    "python": Kind(
        "a decision in Python, over tenon.rewriting",
        {"examples/rules/NAME.py": "python.py", "examples/rules/test_NAME.py": "python_test.py"},
        "./dev test python",
    ),
}
IN_CPP = ("equation", "builder", "code")
EPILOG = "stages (FOLDER, of rules in C++):\n" + "".join(f"  {name:<12}{what}\n" for name, what in STAGES.items())
EPILOG += "\nkinds:\n" + "".join(f"  {name:<10}{kind.when}\n{'':<12}{', '.join(kind.files)}\n" for name, kind in KINDS.items())
EPILOG += "\nfor instance:\n  ./dev new-rule fold_sign\n  ./dev new-rule fold_sign --kind builder --stage fuse\n"
EPILOG += "\nhow to go on: docs/add-a-rule.md\n"


class Mistake(Exception):
    def __init__(self, what: str, expected: str, found: str, advice: str, status: int = 2):
        self.status = status
        super().__init__(f"error: {what}\n  expected: {expected}\n  found:    {found}\n  try:      {advice}")


def snake(name: str) -> str:
    """The nearest valid name, for an error's advice."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.sub(r"^[^a-z]+|_+$", "", re.sub(r"\W+|_+", "_", words.lower(), flags=re.ASCII)) or "fold_sign"


def check_name(name: str, kind: str) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name, re.ASCII):
        again = f"./dev new-rule {snake(name)}" + ("" if kind == "equation" else f" --kind {kind}")
        raise Mistake("this is no name for a rule", "small letters, digits and _, a letter first", name, again)
    taken = keyword.iskeyword(name) or name in sys.stdlib_module_names or name in ("numpy", "onnx", "pytest", "tenon")
    taken = taken or any((ROOT / "python/tests" / file).exists() for file in (f"{name}.py", f"test_{name}.py"))
    if kind == "python" and taken:
        raise Mistake(
            "the name is a keyword or a module of Python", "the name of a new module", name, f"./dev new-rule {name}_rule --kind python"
        )
    if kind not in IN_CPP:
        return
    for path in sorted((ROOT / "src/rules").glob("*/*.cpp")):
        if f'"{name}"' in path.read_text(encoding="utf-8"):
            known = path.relative_to(ROOT)
            raise Mistake(f"there is a rule {name} already", "a new name", f"{name}, in {known}", f"another name, or edit {known}", 1)


def paths_of(name: str, stage: str, kind: Kind) -> dict[Path, str]:
    paths = {ROOT / path.replace("NAME", name).replace("FOLDER", stage): skeleton for path, skeleton in kind.files.items()}
    for path in paths:
        if path.exists():
            found = f"{path.relative_to(ROOT)}, which is there already"
            raise Mistake("no file is overwritten", "no file of this name", found, f"another name, or edit {path.relative_to(ROOT)}", 1)
    return paths


def check_choice(option: str, what: str, given: str, known: dict, default: str) -> None:
    if given not in known:
        near = difflib.get_close_matches(given, known, 1, 0.4)
        raise Mistake(f"there is no such {what}", ", ".join(known), given, f"{option} {near[0] if near else default}")


def stage_of(given: str | None, kind: str) -> str:
    """The folder of a rule in C++; rules of other kinds have none, and run in stage clean."""
    if given is None:
        return "clean"
    check_choice("--stage", "stage", given, STAGES, "clean")
    if kind not in IN_CPP:
        raise Mistake(
            f"a rule of kind {kind} has no stage", "--stage with rules in C++ alone", f"--stage {given}", f"--kind equation --stage {given}"
        )
    return given


def write(name: str, given_stage: str | None, kind_name: str) -> None:
    check_choice("--kind", "kind of rule", kind_name, KINDS, "equation")
    stage = stage_of(given_stage, kind_name)
    check_name(name, kind_name)
    kind = KINDS[kind_name]
    for path, skeleton in paths_of(name, stage, kind).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (SKELETONS / skeleton).read_text(encoding="utf-8").replace("NAME", name).replace("FOLDER", stage)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(ROOT))
    print(f"write your rule and its cases (docs/add-a-rule.md), then run: {kind.then}")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="./dev new-rule", description=__doc__, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="of the rule and of its files, in snake case")
    parser.add_argument("--kind", default="equation", metavar="KIND", help=f"{', '.join(KINDS)} (default: %(default)s)")
    parser.add_argument("--stage", metavar="STAGE", help=f"when a rule in C++ runs: {', '.join(STAGES)} (default: clean)")
    options = parser.parse_args()
    try:
        if options.name is None:
            raise Mistake("which rule?", "./dev new-rule NAME", "no name", "./dev new-rule fold_sign, or --help for kinds and stages")
        write(options.name, options.stage, options.kind)
    except Mistake as mistake:
        print(mistake, file=sys.stderr)
        return mistake.status
    return 0


if __name__ == "__main__":
    sys.exit(main())
