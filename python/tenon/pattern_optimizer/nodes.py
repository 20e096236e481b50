# SPDX-License-Identifier: Apache-2.0
"""Nodes of the graph, as patterns see them: the fields of onnx.NodeProto, read from the engine's node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh

from ..rewriting import Graph, Node, Value


def name_of(value: Value | None) -> str:
    """The value's name (it is given one where it has none); "" for a missing operand."""
    return "" if value is None else value.ensure_name()


def attribute_value(attribute: onnx.AttributeProto) -> Any:
    """An attribute as a Python value; tensors as arrays."""
    if attribute.type == onnx.AttributeProto.TENSOR:
        return onh.to_array(attribute.t)
    if attribute.type == onnx.AttributeProto.GRAPH:
        return attribute.g
    value = oh.get_attribute_value(attribute)
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else value


def _attribute(name: str, value: Any) -> onnx.AttributeProto:
    if isinstance(value, np.ndarray):
        return oh.make_attribute(name, onh.from_array(value))
    if isinstance(value, list) and not value:
        return oh.make_attribute(name, value, attr_type=onnx.AttributeProto.INTS)
    return oh.make_attribute(name, value)


def _body(name: str, graph: Graph, captures: dict[str, str]) -> onnx.AttributeProto:
    """A body as ONNX writes it: what it uses from outside is not among its inputs."""
    proto = onnx.load_from_string(graph.to_onnx()).graph
    inputs = [i for i in proto.input if i.name not in captures]
    del proto.input[:]
    proto.input.extend(inputs)
    for node in proto.node:
        node.input[:] = [captures.get(i, i) for i in node.input]
    return oh.make_attribute(name, proto)


class NodeView:
    """One node. Two views of a node are equal."""

    __slots__ = ("node",)
    doc_string = ""
    overload = ""

    def __init__(self, node: Node) -> None:
        self.node = node

    @property
    def op_type(self) -> str:
        return self.node.op_type

    @property
    def domain(self) -> str:
        return self.node.domain

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def input(self) -> list[str]:
        return [name_of(v) for v in self.node.inputs]

    @property
    def output(self) -> list[str]:
        return [name_of(v) for v in self.node.outputs]

    @property
    def attribute(self) -> list[onnx.AttributeProto]:
        found = [_attribute(name, value) for name, value in self.node.attributes.items()]
        outer = [name_of(v) for v in self.node.captures]
        for name, graph, count in self.node.bodies:
            inner = [name_of(v) for v in graph.inputs[len(graph.inputs) - count :]]
            found.append(_body(name, graph, dict(zip(inner, outer[:count], strict=True))))
            outer = outer[count:]
        return found

    @property
    def metadata_props(self) -> list[onnx.StringStringEntryProto]:
        return [onnx.StringStringEntryProto(key=k, value=v) for k, v in self.node.metadata.items()]

    def to_proto(self) -> onnx.NodeProto:
        proto = oh.make_node(self.op_type, self.input, self.output, name=self.name, domain=self.domain)
        proto.attribute.extend(self.attribute)
        proto.metadata_props.extend(self.metadata_props)
        return proto

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NodeView) and self.node == other.node

    def __hash__(self) -> int:
        return hash(self.node)

    def __repr__(self) -> str:
        if not self.node.alive:
            return "<node: gone>"
        return f"{self.domain}{'.' if self.domain else ''}{self.op_type}({', '.join(self.input)}) -> {', '.join(self.output)}"
