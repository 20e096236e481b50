# SPDX-License-Identifier: Apache-2.0
"""Every op with every type that its schema allows: right, or refused when it is compiled; never a crash, never an engine that cannot run.

The usual run takes each op's types in turn, at one level or the other, and on one of the roads into bodies and sequences.
TENON_OP_TYPES=all takes all of them, at both levels, on all roads: some 10 minutes. TENON_OP_TYPES=Cast,Pad: all of those ops.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter

from op_types.models import Case, of_all_types, on_roads
from op_types.seeds import Seed, chosen
from op_types.sweep import REFUSED, RIGHT, findings, is_listed, listed

LEVELS = (0, 3)
# Types that no kernel has, or that are not numbers.
ODD = ("string", "complex64", "int4", "uint2", "float4e2m1", "float8e5m2", "bool", "bfloat16")


def turn_of(case: Case, count: int) -> int:
    return zlib.crc32(case.label.encode()) % count


def some(seed: Seed) -> list[tuple[Case, int]]:
    """Every type at one level, odd ones in turn at the other too; and in turn on one of the roads."""
    out = []
    for case in of_all_types(seed):
        plain, *others = on_roads(case)
        level = turn_of(case, 2)
        out.append((plain, LEVELS[level]))
        if case.label.endswith(ODD) and turn_of(case, 3) == 0:
            out.append((plain, LEVELS[1 - level]))
        if turn_of(case, 4) == 0 and others:
            road = others[turn_of(case, 64) // 16 % len(others)]
            out.append((road, LEVELS[turn_of(road, 2)]))
    return out


def every(seed: Seed) -> list[tuple[Case, int]]:
    return [(case, level) for plain in of_all_types(seed) for case in on_roads(plain) for level in LEVELS]


def cases() -> list[tuple[Case, int]]:
    wanted = os.environ.get("TENON_OP_TYPES", "")
    if not wanted:
        return [c for seed in chosen(1) for c in some(seed)]
    seeds = chosen(3)
    return [c for seed in seeds if wanted == "all" or seed.node.op_type in wanted.split(",") for c in every(seed)]


def test_every_op_with_every_type_of_its_schema():
    refused, wrong, count = listed("refused.txt"), [], Counter()
    for case, level, outcome, why in findings(cases()):
        count[outcome] += 1
        if outcome != RIGHT and not (outcome == REFUSED and is_listed(case, refused)):
            wrong.append(f"{case.label} at opt {level}: {outcome}: {why}")
    assert not wrong, "\n".join([f"{len(wrong)} of {count.total()}", *wrong])
    assert count[RIGHT] > 1000 or os.environ.get("TENON_OP_TYPES")
