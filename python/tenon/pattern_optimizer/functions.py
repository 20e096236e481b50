# SPDX-License-Identifier: Apache-2.0
"""Patterns read from ONNX: two models or two functions are the two sides of a rule."""

from __future__ import annotations

from collections.abc import Mapping

import onnx
import onnx.helper as oh

from ..rewriting import Graph, Rule
from .nodes import read_graph

Side = onnx.ModelProto | onnx.FunctionProto


def _model_of(function: onnx.FunctionProto, types: Mapping[str, int]) -> onnx.ModelProto:
    for node in function.node:
        for attribute in node.attribute:
            if attribute.ref_attr_name:
                raise NotImplementedError(f"not supported yet: attribute {attribute.ref_attr_name!r} of function {function.name}")
    inputs = [oh.make_tensor_value_info(i, types.get(i, onnx.TensorProto.FLOAT), None) for i in function.input]
    outputs = [onnx.ValueInfoProto(name=o) for o in function.output]
    graph = oh.make_graph(list(function.node), function.name, inputs, outputs)
    return oh.make_model(graph, opset_imports=list(function.opset_import))


def pattern_graph(side: Side, types: Mapping[str, int] | None = None) -> Graph:
    """A model or a function as one side of a rule. types: element types of a function's inputs where they are not floats."""
    model = _model_of(side, types or {}) if isinstance(side, onnx.FunctionProto) else side
    return read_graph(model.SerializeToString())


def rule_of_models(match: Side, apply: Side, name: str, types: Mapping[str, int] | None = None, numerics: str = "exact") -> Rule:
    """What `match` computes is what `apply` computes: inputs go by name, else by place; outputs by place."""
    return Rule.graphs(pattern_graph(match, types), pattern_graph(apply, types), name=name, numerics=numerics)
