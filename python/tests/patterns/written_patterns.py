# SPDX-License-Identifier: Apache-2.0
"""What the tests of hand-written patterns share."""

import inspect

from onnx_models import same
from tenon.pattern_optimizer import GraphBuilder, MatchResult, OptimizationOptions, PatternOptimization


class NotNot(PatternOptimization):
    def match(self, g, node, matched):
        if node.op_type != "Not":
            return self.none()
        before = g.node_before(node.input[0])
        if before is None or before.op_type != "Not":
            return self.none(node, inspect.currentframe().f_lineno, lambda: "no Not before")
        return MatchResult(self, [before, node], self.apply)

    def apply(self, g, before, node):
        kept = [before] if g.is_used_more_than_once(before.output[0]) else []
        return [*kept, g.make_node("Identity", [before.input[0]], [node.output[0]], name=f"NotNot--{node.name}")]


def optimised(onx, patterns, expect_same=True, **options):
    options.setdefault("remove_identity", False)
    builder = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns=patterns, **options))
    rows = builder.optimize()
    out = builder.to_onnx(optimize=False)
    if expect_same:
        same(onx, out)
    return out, rows


def applied(rows):
    return [r["pattern"].removeprefix("apply_") for r in rows if r["pattern"].startswith("apply_")]
