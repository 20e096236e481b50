# SPDX-License-Identifier: Apache-2.0
"""Inserts the nodes that a pattern's `apply` returned; each replaces the result of the same name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from .._tenon import opset_of_form
from ..rewriting import Rewriter, Value
from .bodies import names_read_by, read_alone
from .nodes import attribute_value, make_proto
from .pattern import MatchResult
from .view import PatternView


def _constant(node: onnx.NodeProto) -> np.ndarray:
    """The array of a Constant node."""
    (attribute,) = node.attribute
    value = attribute_value(attribute)
    if attribute.type == onnx.AttributeProto.TENSOR:
        return value
    dtype = np.float32 if attribute.name.startswith("value_float") else np.int64 if attribute.name.startswith("value_int") else object
    return np.array(value, dtype=dtype)


def in_order(nodes: Sequence[onnx.NodeProto]) -> list[onnx.NodeProto]:
    """Producers before users; patterns may give their nodes in any order."""
    made = {o: k for k, n in enumerate(nodes) for o in n.output if o}
    done: dict[int, None] = {}

    def visit(k: int, above: tuple[int, ...]) -> None:
        if k in above:
            raise ValueError(f"apply returned nodes that use each other: {nodes[k].op_type} -> {list(nodes[k].output)}")
        if k in done:
            return
        for i in names_read_by(nodes[k]):
            if i in made and made[i] != k:
                visit(made[i], (*above, k))
        done[k] = None

    for k in range(len(nodes)):
        visit(k, ())
    return [nodes[k] for k in done]


class Insertion:
    """Inserts the new nodes of one rewrite. kept: ids of the returned nodes that stay as they are in the graph."""

    def __init__(self, view: PatternView, rewriter: Rewriter, result: MatchResult, kept: set[int]) -> None:
        self.view = view
        self.rewriter = rewriter
        self.made: dict[str, Value] = {}
        removed = [n for n in result.nodes if n is not None and id(n) not in kept]
        self.replaceable = {name: view._find(name) for n in removed for name in n.output if name}

    def operand(self, name: str, node: onnx.NodeProto) -> Value | None:
        if not name:
            return None
        value = self.made.get(name) or self.view._find(name)
        if value is None:
            raise ValueError(f"apply returned {node.op_type}({', '.join(node.input)}), but nobody makes {name!r}")
        return value

    def build(self, node: onnx.NodeProto) -> list[Value]:
        if node.op_type == "Constant" and node.domain in ("", "ai.onnx"):
            return [self.rewriter.constant(_constant(node))]
        opset = self.view.main_opset
        has_bodies = any(a.type == onnx.AttributeProto.GRAPH for a in node.attribute)
        if has_bodies or (opset < opset_of_form(node.op_type, node.domain) and self.knows_types(node)):
            values = self.build_as_read(node, opset)
        else:
            attributes = {a.name: attribute_value(a) for a in node.attribute}
            operands = [self.operand(name, node) for name in node.input]
            values = self.rewriter.op(node.op_type, operands, attributes, outputs=len(node.output), domain=node.domain)
        producer = next(v for v in values if v is not None).producer
        if node.name:
            producer.name = node.name
        return values

    def knows_types(self, node: onnx.NodeProto) -> bool:
        return all(not name or self.operand(name, node).dtype for name in node.input)

    def build_as_read(self, node: onnx.NodeProto, opset: int) -> list[Value]:
        """Builds a node with bodies, or of an older opset, by reading it as a model, which may make several nodes of it."""
        graph = read_alone(node, {name: self.operand(name, node) for name in names_read_by(node)}, opset)
        here: dict[Value, Value] = {v: self.operand(v.name, node) for v in graph.inputs}
        for inner in graph.nodes:
            for v in (v for v in [*inner.inputs, *inner.captures] if v is not None and v not in here):
                here[v] = self.rewriter.constant(v.array())
            made = self.rewriter.clone_node(inner, [v and here[v] for v in [*inner.inputs, *inner.captures]])
            here.update((old, new) for old, new in zip(inner.outputs, made, strict=True) if old is not None)
        results = dict(zip(graph.output_names, graph.outputs, strict=True))
        return [here[results[name]] if name else None for name in node.output]

    def add(self, node: onnx.NodeProto) -> None:
        values = self.build(node)
        known_types = getattr(self.view.builder, "known_types", {})
        for name, value in zip(node.output, values, strict=True):
            if not name:
                continue
            if name in known_types and value.dtype is None:  # of an unknown operator
                dtype, shape = known_types[name]
                value.set_type(dtype or None, shape)
            if name in self.replaceable:
                self.rewriter.replace(self.replaceable.pop(name), value)
            elif self.view._find(name) is not None or name in self.made:
                raise ValueError(f"apply makes {name!r} again, which a node that stays makes already")
            elif not value.is_constant or not value.name:
                value.name = name
            self.made[name] = value


def is_as_it_was(view: PatternView, node: onnx.NodeProto) -> bool:
    """Whether the node is one of the graph that `apply` has not changed."""
    found = view.scene.node_of(node)
    return found is not None and make_proto(found) == node


def insert(view: PatternView, rewriter: Rewriter, result: MatchResult) -> None:
    """Calls the match's `apply` and inserts the nodes that it returns."""
    returned = [n for n in result.apply(view, *result.nodes) if n is not None]
    for node in returned:
        if not isinstance(node, onnx.NodeProto):
            raise TypeError(f"apply returned {node!r}: expected nodes that it was given, or onnx.NodeProto")
    kept = {id(n) for n in returned if is_as_it_was(view, n)}
    insertion = Insertion(view, rewriter, result, kept)
    for node in in_order([n for n in returned if id(n) not in kept]):
        insertion.add(node)
