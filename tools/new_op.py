# SPDX-License-Identifier: Apache-2.0
"""Writes src/ops/FAMILY/NAME.cpp: an element-wise op that passes its tests unchanged, ready to be edited."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from pathlib import Path

from new_rule import Mistake

ROOT = Path(__file__).resolve().parent.parent
SKELETON = """\
// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_{ident} {{

OP({ident}) {{
    .name = "{name}",
    .since_version = {opset},
    .inputs = {{{{"input"}}}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) {{ return max(x, Expr(0)); }}>,
    .reference = unary_reference<[](double x) {{ return std::isnan(x) || x > 0 ? x : 0.0; }}>,
    .first_opset = {opset},
    .samples = {{{{"f32[2,3]", "f16[4]", "f64[0]", "f32[4] = [-1, 0, 2.5, nan]"}}}},
}};

}}  // namespace tenon::ops::op_{ident}
"""


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower().replace("-", "_")


def camel(name: str) -> str:
    return name if name[0].isupper() else "".join(part.capitalize() for part in snake(name).split("_"))


def newest_opset() -> str:
    text = (ROOT / "src/import/onnx_schema.h").read_text(encoding="utf-8")
    return re.search(r"kNewestOpset\s*=\s*(\d+)", text).group(1)


def families() -> dict[str, list[str]]:
    """The folders that hold ops, with the names of these."""
    ops = ROOT / "src/ops"
    found: dict[str, list[str]] = {}
    for path in sorted(ops.rglob("*.cpp")):
        name = re.search(r'^OP\(.*?\.name = "(\w+)"', path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
        if name:
            found.setdefault(str(path.parent.relative_to(ops)), []).append(name[1])
    return found


def listed(known: dict[str, list[str]]) -> str:
    lines = (
        f"  {k:>2}  {family:<26}{', '.join(ops[:3])}{', ...' if len(ops) > 3 else ''}\n" for k, (family, ops) in enumerate(known.items(), 1)
    )
    return "".join(lines)


def family_of(said: str, known: dict[str, list[str]]) -> str | None:
    """By its name, by the last part of it, or by its number in the list."""
    said = said.strip().strip("/")
    if said.isdecimal() and 1 <= int(said) <= len(known):
        return list(known)[int(said) - 1]
    named = [family for family in known if said in (family, family.rpartition("/")[2])]
    return named[0] if len(named) == 1 else None


def nearest(said: str, known: dict[str, list[str]]) -> str | None:
    parts = {family.rpartition("/")[2]: family for family in known} | {family: family for family in known}
    near = difflib.get_close_matches(said, parts, 1, 0.5)
    return parts[near[0]] if near else None


def asked_family(name: str, known: dict[str, list[str]]) -> str:
    print(f"Which family is {name} of? It says what an op does, whatever its domain.\n{listed(known)}", end="")
    while True:
        try:
            said = input("name or number: ")
        except EOFError:
            raise wrong_family(name, "", known) from None
        if family := family_of(said, known):
            return family
        near = nearest(said, known)
        print(f"there is no family '{said.strip()}'" + (f"; {near}?" if near else ""))


def wrong_family(word: str, said: str, known: dict[str, list[str]]) -> Mistake:
    near = nearest(said, known)
    advice = f"./dev new-op {word} {near}" if near else "./dev new-op --help, which shows what is in each"
    return Mistake("there is no such family of ops" if said else "which family of ops?", ", ".join(known), said or "none", advice)


def check_free(ident: str, name: str) -> None:
    for path in sorted((ROOT / "src/ops").rglob("*.cpp")):
        if path.stem == ident or f'.name = "{name}",' in path.read_text(encoding="utf-8"):
            known = path.relative_to(ROOT)
            raise Mistake(f"there is an op {name} already", "a new name", f"{name}, in {known}", f"another name, or edit {known}", 1)


def write(word: str, said: str | None) -> None:
    known = families()
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", word):
        raise Mistake(
            "this is no name for an op", "its ONNX name: letters, digits and _, a letter first", word, "./dev new-op HardSwish FAMILY"
        )
    ident, name = snake(word), camel(word)
    check_free(ident, name)
    asks = said is None and sys.stdin.isatty()
    family = asked_family(name, known) if asks else family_of(said or "", known)
    if family is None:
        raise wrong_family(word, said or "", known)
    path = ROOT / f"src/ops/{family}/{ident}.cpp"
    path.write_text(SKELETON.format(ident=ident, name=name, opset=newest_opset()), encoding="utf-8")
    print(f"{path.relative_to(ROOT)}\nsay what {name} takes and computes (docs/add-an-op.md), then ./dev test ops && ./dev docs")


def main() -> int:
    epilog = f"families:\n{listed(families())}\nfor instance:\n  ./dev new-op HardSwish2 elementwise/activation\n"
    epilog += "\nhow to go on: docs/add-an-op.md\n"
    parser = argparse.ArgumentParser(
        prog="./dev new-op", description=__doc__, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="as ONNX calls the op: HardSwish")
    parser.add_argument("family", metavar="FAMILY", nargs="?", help="the folder of src/ops; asked for where it is left out")
    options = parser.parse_args()
    try:
        if options.name is None:
            raise Mistake(
                "which op?",
                "./dev new-op NAME FAMILY",
                "no name",
                "./dev new-op HardSwish2 elementwise/activation, or --help for the families",
            )
        write(options.name, options.family)
    except Mistake as mistake:
        print(mistake, file=sys.stderr)
        return mistake.status
    except KeyboardInterrupt:
        print()
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
