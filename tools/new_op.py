# SPDX-License-Identifier: Apache-2.0
"""./dev new-op NAME FAMILY: src/ops/FAMILY/NAME.cpp, an element-wise op that passes its tests as it stands, ready to be changed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SKELETON = """\
// SPDX-License-Identifier: Apache-2.0
#include "ops/form/form.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_{ident} {{

OP({ident}) {{
    .name = "{name}",
    .since = {opset},
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .form = unary_of<[](Expr x) {{ return max(x, Expr(0)); }}>,
    .reference = unary_reference<[](double x) {{ return std::isnan(x) || x > 0 ? x : 0.0; }}>,
    .first = {opset},
    .samples = {{"f32[2,3]", "f16[4]", "f64[0]", "f32[4] = [-1, 0, 2.5, nan]"}},
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


def families() -> list[str]:
    """The folders that hold ops."""
    ops = ROOT / "src/ops"
    holding = {path.parent for path in ops.rglob("*.cpp") if re.search(r"^OP\(", path.read_text(encoding="utf-8"), re.MULTILINE)}
    return sorted(str(folder.relative_to(ops)) for folder in holding)


def asked_family(name: str, known: list[str]) -> str:
    print(f"Which family is {name} of?\n  " + "\n  ".join(known))
    return input("family: ").strip()


def main() -> int:
    words = sys.argv[1:]
    known = families()
    if not words or len(words) > 2 or not re.fullmatch(r"[A-Za-z][\w-]*", words[0]):
        print("usage: ./dev new-op NAME FAMILY      for instance: ./dev new-op HardSwish elementwise/activation", file=sys.stderr)
        return 2
    ident, name = snake(words[0]), camel(words[0])
    family = words[1].rstrip("/") if len(words) == 2 else asked_family(name, known) if sys.stdin.isatty() else ""
    if family not in known:
        print(f"error: no family of ops\n  expected: {', '.join(known)}\n  found:    {family or 'none'}", file=sys.stderr)
        print(f"  try:      ./dev new-op {words[0]} elementwise/activation", file=sys.stderr)
        return 2
    there = next((ROOT / "src/ops").rglob(f"{ident}.cpp"), None)
    if there:
        print(f"{there.relative_to(ROOT)} is there already", file=sys.stderr)
        return 1
    path = ROOT / f"src/ops/{family}/{ident}.cpp"
    path.write_text(SKELETON.format(ident=ident, name=name, opset=newest_opset()), encoding="utf-8")
    print(f"{path.relative_to(ROOT)}: say what {name} takes and computes (docs/add-an-op.md), then ./dev test ops && ./dev docs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
