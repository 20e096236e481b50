# SPDX-License-Identifier: Apache-2.0
"""Rewrites ONNX models with patterns: Tenon's own rules by name, and patterns written in Python, on Tenon's engine.

>>> onx = GraphBuilder(onnx.load("model.onnx"), optimization_options=OptimizationOptions(patterns="default")).to_onnx()

Needs the package onnx (`pip install "tenon-compiler[onnx]"`). docs/pattern-optimizer.md lists what differs from the interface it follows.
"""

from __future__ import annotations

try:
    import onnx as _onnx  # noqa: F401
except ImportError as e:
    raise ImportError("tenon.pattern_optimizer needs the package onnx: pip install onnx") from e

from .builder import GraphBuilder
from .easy import EasyPatternOptimization
from .functions import pattern_graph, rule_of_models
from .helpers import demo_mlp_model, pretty_onnx, to_dot
from .local_functions import FunctionOptions
from .onnx_patterns import OnnxEasyPatternOptimization, make_pattern_from_onnx
from .optimizer import GraphBuilderPatternOptimization
from .options import InferShapesOptions, OptimizationOptions
from .pattern import EnginePattern, MatchResult, PatternOptimization
from .selection import get_pattern, get_pattern_list
from .tables import pattern_table_doc, remove_constants_for_initializers
from .torch_export import to_onnx

__all__ = [
    "EasyPatternOptimization",
    "EnginePattern",
    "FunctionOptions",
    "GraphBuilder",
    "GraphBuilderPatternOptimization",
    "InferShapesOptions",
    "MatchResult",
    "OnnxEasyPatternOptimization",
    "OptimizationOptions",
    "PatternOptimization",
    "demo_mlp_model",
    "get_pattern",
    "get_pattern_list",
    "make_pattern_from_onnx",
    "pattern_graph",
    "pattern_table_doc",
    "pretty_onnx",
    "remove_constants_for_initializers",
    "rule_of_models",
    "to_dot",
    "to_onnx",
]
