# SPDX-License-Identifier: Apache-2.0
"""./dev new-rule NAME: src/rules/NAME.cpp and tests/rules/NAME.tn, a rule that passes its tests as it stands, ready to be changed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RULE = """\
// SPDX-License-Identifier: Apache-2.0
// Why both sides are equal: |-x| = |x| for every x, NaN and infinity included.
#include "rewrite/rule.h"

namespace tenon::rules {{
using namespace rewrite;

RULES({name}) {{
    .stage = Stage::clean,
    .rules = {{
        {{.name = "{name}", .docs = "|-x| is |x|", .equation = "Abs(Neg(?x)) => Abs(?x) where float(?x)"}},
    }},
}};

}}  // namespace tenon::rules
"""
TEST = """\
case: a minus sign within
rules: {name}
in:
graph main(x: f32[b]) {{
  a = Neg(x)
  y = Abs(a)
  return y
}}
out:
graph main(x: f32[b]) {{
  y = Abs(x)
  return y
}}

case: something else within
rules: {name}
in:
graph main(x: f32[b]) {{
  a = Exp(x)
  y = Abs(a)
  return y
}}
same:
"""


def main() -> int:
    if len(sys.argv) != 2 or not re.fullmatch(r"[a-z][a-z0-9_]*", sys.argv[1]):
        print("usage: ./dev new-rule NAME      in snake case, for instance: ./dev new-rule fold_pad", file=sys.stderr)
        return 2
    name = sys.argv[1]
    wanted = {ROOT / f"src/rules/{name}.cpp": RULE, ROOT / f"tests/rules/{name}.tn": TEST}
    for path in wanted:
        if path.exists():
            print(f"{path.relative_to(ROOT)} is there already", file=sys.stderr)
            return 1
    for path, text in wanted.items():
        path.write_text(text.format(name=name), encoding="utf-8")
        print(path.relative_to(ROOT))
    print("write your equation and its cases (docs/add-a-rule.md), then ./dev test rules && ./dev docs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
