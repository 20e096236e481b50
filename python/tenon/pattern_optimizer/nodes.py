# SPDX-License-Identifier: Apache-2.0
"""Nodes of the graph, as patterns see them: an onnx.NodeProto each, written from the engine's node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh

from ..rewriting import Graph, Node, Value


def read_graph(model: bytes | str) -> Graph:
    """A model's graph, from its bytes or a path: unknown operators are kept, and weights that are elsewhere stay there."""
    return Graph.from_onnx(model, keep_unknown=True, weights_by_reference=True)


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
    """A body as a graph attribute: outer values that it uses are read by name, and are no inputs of it."""
    proto = onnx.load_from_string(graph.to_onnx()).graph
    inputs = [i for i in proto.input if i.name not in captures]
    del proto.input[:]
    proto.input.extend(inputs)
    for node in proto.node:
        node.input[:] = [captures.get(i, i) for i in node.input]
    return oh.make_attribute(name, proto)


def fill_proto(proto: onnx.NodeProto, node: Node) -> None:
    """Sets all fields of the proto from the node."""
    del proto.input[:]
    del proto.output[:]
    del proto.attribute[:]
    del proto.metadata_props[:]
    proto.op_type = node.op_type
    proto.domain = node.domain
    proto.name = node.name
    proto.input.extend(name_of(v) for v in node.inputs)
    proto.output.extend(name_of(v) for v in node.outputs)
    proto.attribute.extend(_attribute(name, value) for name, value in node.attributes.items())
    if node.bodies:
        proto.attribute.extend(_bodies(node))
    proto.metadata_props.extend(onnx.StringStringEntryProto(key=k, value=v) for k, v in node.metadata.items())


def make_proto(node: Node) -> onnx.NodeProto:
    proto = onnx.NodeProto()
    fill_proto(proto, node)
    return proto


def _bodies(node: Node) -> Iterator[onnx.AttributeProto]:
    outer = [name_of(v) for v in node.captures]
    for name, graph, count in node.bodies:
        inner = [name_of(v) for v in graph.inputs[len(graph.inputs) - count :]]
        yield _body(name, graph, dict(zip(inner, outer[:count], strict=True)))
        outer = outer[count:]


def node_text(node: onnx.NodeProto) -> str:
    """Add(a, b) -> c"""
    return f"{node.domain}{'.' if node.domain else ''}{node.op_type}({', '.join(node.input)}) -> {', '.join(node.output)}"
