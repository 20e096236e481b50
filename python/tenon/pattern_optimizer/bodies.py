# SPDX-License-Identifier: Apache-2.0
"""Nodes with bodies (If, Loop, Scan) as onnx.NodeProto."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx
import onnx.helper as oh

from .._tenon import newest_opset
from ..rewriting import Graph, Value
from .nodes import read_graph


def _bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    return (a.g for a in node.attribute if a.type == onnx.AttributeProto.GRAPH)


def names_read_by(node: onnx.NodeProto) -> list[str]:
    """The names of the node's inputs and of the outer values that its bodies read; each once."""
    read = dict.fromkeys(name for name in node.input if name)
    for body in _bodies(node):
        own = {v.name for v in [*body.input, *body.initializer]} | {s.values.name for s in body.sparse_initializer}
        for inner in body.node:
            read.update(dict.fromkeys(name for name in names_read_by(inner) if name not in own))
            own.update(inner.output)
        read.update(dict.fromkeys(v.name for v in body.output if v.name not in own))
    return list(read)


def _domains(node: onnx.NodeProto) -> set[str]:
    return {node.domain}.union(*(_domains(inner) for body in _bodies(node) for inner in body.node))


def read_alone(node: onnx.NodeProto, reads: Mapping[str, Value], opset: int = newest_opset) -> Graph:
    """The node in a graph of its own, whose inputs are the values that it reads. opset: of which it has the form."""
    for name, value in reads.items():
        if not value.is_tensor:
            raise NotImplementedError(f"not supported yet: a new node with a body ({node.op_type}) that reads {name!r}, which is no tensor")
    inputs = [oh.make_tensor_value_info(name, v.onnx_dtype, v.shape) for name, v in reads.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
    opsets = [oh.make_opsetid(domain, 1 if domain else opset) for domain in sorted({""} | _domains(node))]
    model = oh.make_model(oh.make_graph([node], "alone", inputs, outputs), opset_imports=opsets)
    return read_graph(model.SerializeToString())
