# SPDX-License-Identifier: Apache-2.0
"""Reports which nodes run in Tenon and which in PyTorch, and why, in the format of tenon.partition."""

from __future__ import annotations

from typing import Any

from .cut import Plan, guessed_us
from .measure import Times
from .names import modules_of
from .ops import op_of
from .units import works


def report(plan: Plan, times: Times | None = None) -> dict[str, Any]:
    """times: measured, of the whole compiled program, if any; those of single segments are estimates."""
    places = {id(u): k for k, s in enumerate(plan.segments) for u in s.units}
    rows = []
    for unit in plan.units:
        segment = plan.segments[places[id(unit)]]
        reasons = unit.reasons or [("chosen", "Tenon runs it")]
        rows.append(
            {
                "name": unit.op.name,
                "op": op_of(unit.op),
                "module": (modules_of(unit.op) or [("", "")])[-1][0],
                "backend": "tenon" if segment.ours else "torch",
                "segment": places[id(unit)],
                "works": works(unit),
                "reasons": [{"code": code, "text": text} for code, text in reasons],
            }
        )
    work = [r for r in rows if r["works"]]
    return {
        "segments": [
            {
                "id": k,
                "backend": "tenon" if s.ours else "torch",
                "nodes": [u.op.name for u in s.units],
                "guessed_us": guessed_us(s),
            }
            for k, s in enumerate(plan.segments)
        ],
        "measured_us": None if times is None else times.microseconds,
        "nodes": rows,
        "lower_bound": plan.lower_bound,
        "proved": plan.lower_bound >= len(plan.segments),
        "accelerated_share": sum(r["backend"] == "tenon" for r in work) / len(work) if work else 1.0,
    }
