# SPDX-License-Identifier: Apache-2.0
"""Prints src/codegen/llvm/math_tables.cpp: erf(a) / a and tanh(a) / a on 32 equal parts, a polynomial each.

    .venv/bin/python tools/fit_math_tables.py > src/codegen/llvm/math_tables.cpp && ./dev format

A polynomial goes through the function at Chebyshev's points of its part, which comes near the best that one of its degree can do."""

import math

import numpy as np

PARTS = 32
# Steps are exact in f32; the last part ends where the function rounds to 1.
TABLES = [("kErf", math.erf, 1 / 8, 4), ("kTanh", math.tanh, 147 / 512, 5)]
HEAD = """// SPDX-License-Identifier: Apache-2.0
// Written by tools/fit_math_tables.py.
#include "codegen/llvm/math_tables.h"

namespace tenon::codegen::machine::f32 {
"""


def over_argument(function, a: float) -> float:
    """function(a) / a, of an odd function with a slope at 0 that a small difference tells to double precision."""
    a = abs(a) or 1e-9
    return function(a) / a


def coefficients(function, centre: float, half: float, degree: int) -> np.ndarray:
    points = half * np.cos((np.arange(degree + 1) + 0.5) * np.pi / (degree + 1))
    values = [over_argument(function, centre + t) for t in points]
    return np.linalg.solve(np.vander(points / half, increasing=True), values) / half ** np.arange(degree + 1)


def main() -> None:
    print(HEAD)
    for name, function, step, degree in TABLES:
        rows = np.array([coefficients(function, part * step, step / 2, degree) for part in range(PARTS)], np.float32).T
        body = ",\n".join("{" + ", ".join(f"{each:.9g}" for each in row) + "}" for row in rows)
        print(f"constexpr double {name}[][kTableParts] = {{{body}}};")
        print(f"const Table {name.removeprefix('k').lower()}_table{{{step}, {name}}};\n")
    print("}  // namespace tenon::codegen::machine::f32")


main()
