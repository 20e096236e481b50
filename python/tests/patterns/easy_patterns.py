# SPDX-License-Identifier: Apache-2.0
"""Patterns and a helper that the tests of EasyPatternOptimization share."""

from onnx_models import same
from tenon.pattern_optimizer import EasyPatternOptimization, GraphBuilder, OptimizationOptions


class NotNot(EasyPatternOptimization):
    def match_pattern(self, g, x):
        return g.op.Not(g.op.Not(x))

    def apply_pattern(self, g, x):
        return g.op.Identity(x)


class ReluOfSoftmax(EasyPatternOptimization):
    def match_pattern(self, g, x):
        return g.op.Relu(g.op.Softmax(x, axis=1))

    def apply_pattern(self, g, x):
        return g.op.Softmax(x, axis=1)


def optimised(onx, pattern, **options):
    """The model after optimization, whose results must stay the same, and how often the pattern was applied."""
    options.setdefault("remove_identity", False)
    builder = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns=[pattern], **options))
    statistics = builder.optimize()
    out = builder.to_onnx(optimize=False)
    same(onx, out)
    return out, sum(r["pattern"].startswith("apply_") for r in statistics)
