# SPDX-License-Identifier: Apache-2.0
"""Functions of a model: made with a builder, called by nodes of their own domain."""

from __future__ import annotations

from typing import Any

import onnx
import onnx.helper as oh


class FunctionOptions:
    """How a builder becomes a function. Only the name and the domain matter: initializers always become constants of the function."""

    def __init__(self, export_as_function: bool = False, name: str = "", domain: str = "", **_: Any) -> None:
        self.export_as_function = export_as_function or bool(name)
        self.name = name
        self.domain = domain


def function_of(model: onnx.ModelProto, name: str, domain: str) -> onnx.FunctionProto:
    """A model as a function; its initializers become Constant nodes."""
    constants = [oh.make_node("Constant", [], [i.name], value=i) for i in model.graph.initializer]
    inputs, outputs = [i.name for i in model.graph.input], [o.name for o in model.graph.output]
    return oh.make_function(domain, name, inputs, outputs, [*constants, *model.graph.node], list(model.opset_import))


class LocalFunctions:
    """Those of one model, by domain and name."""

    def __init__(self) -> None:
        self.protos: dict[tuple[str, str], onnx.FunctionProto] = {}

    def add(self, builder: Any, options: FunctionOptions) -> tuple[str, str]:
        if not options.name or not options.domain:
            raise ValueError("a local function needs a name and a domain: FunctionOptions(name=..., domain=...)")
        key = options.domain, options.name
        self.protos.setdefault(key, function_of(builder.to_onnx(optimize=False), options.name, options.domain))
        return key

    def write(self, model: onnx.ModelProto) -> None:
        """Adds those that the model calls, and what they call."""
        there = {(f.domain, f.name) for f in model.functions}
        waiting = _called_by(model.graph.node)
        while waiting:
            key = waiting.pop()
            function = self.protos.get(key)
            if function is None or key in there:
                continue
            there.add(key)
            model.functions.append(function)
            waiting |= _called_by(function.node)
            known = {o.domain for o in model.opset_import}
            model.opset_import.extend(o for o in [oh.make_opsetid(function.domain, 1), *function.opset_import] if o.domain not in known)
        if model.functions:
            model.ir_version = max(model.ir_version, 8)


def _called_by(nodes: Any) -> set[tuple[str, str]]:
    out = set()
    for node in nodes:
        out.add((node.domain, node.op_type))
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                out |= _called_by(attribute.g.node)
    return out
