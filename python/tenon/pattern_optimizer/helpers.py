# SPDX-License-Identifier: Apache-2.0
"""Models as text and as pictures, and a small model to try things on."""

from __future__ import annotations

import os

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh

from ..rewriting import Graph
from .nodes import attribute_value

LONGEST = 8  # elements of a constant that are written out


def _type_text(info: onnx.ValueInfoProto) -> str:
    tensor = info.type.tensor_type
    name = onnx.TensorProto.DataType.Name(tensor.elem_type).lower() if tensor.elem_type else "?"
    if not tensor.HasField("shape"):
        return f"{name}[*]"
    dims = [d.dim_param or str(d.dim_value) if d.WhichOneof("value") else "?" for d in tensor.shape.dim]
    return f"{name}[{', '.join(dims)}]"


def _array_text(array: np.ndarray) -> str:
    return f" = {array.tolist()}" if array.size <= LONGEST else ""


def _node_text(node: onnx.NodeProto, indent: str) -> list[str]:
    attributes, bodies = [], []
    for a in node.attribute:
        value = attribute_value(a)
        if isinstance(value, onnx.GraphProto):
            bodies += [f"{indent}  {a.name}:", *_graph_text(value, indent + "    ")]
        else:
            attributes.append(f"{a.name}={value.decode() if isinstance(value, bytes) else value}")
    domain = f"{node.domain}." if node.domain else ""
    return [f"{indent}{domain}{node.op_type}({', '.join([*node.input, *attributes])}) -> {', '.join(node.output)}", *bodies]


def _graph_text(graph: onnx.GraphProto, indent: str = "") -> list[str]:
    lines = [f"{indent}input: {i.name}: {_type_text(i)}" for i in graph.input]
    for tensor in graph.initializer:
        array = onh.to_array(tensor)
        lines.append(f"{indent}init: {tensor.name}: {array.dtype}{list(array.shape)}{_array_text(array)}")
    for node in graph.node:
        lines += _node_text(node, indent)
    return lines + [f"{indent}output: {o.name}: {_type_text(o)}" for o in graph.output]


def pretty_onnx(model: onnx.ModelProto | onnx.GraphProto | onnx.NodeProto | str) -> str:
    """A model, a graph or a node as text, one line a node."""
    if isinstance(model, str):
        model = onnx.load(model)
    if isinstance(model, onnx.NodeProto):
        return "\n".join(_node_text(model, ""))
    if isinstance(model, onnx.GraphProto):
        return "\n".join(_graph_text(model))
    opsets = [f"opset: {o.domain or 'ai.onnx'} {o.version}" for o in model.opset_import]
    functions = [
        line for f in model.functions for line in [f"function: {f.domain}.{f.name}", *[t for n in f.node for t in _node_text(n, "  ")]]
    ]
    return "\n".join([*opsets, *_graph_text(model.graph), *functions])


def to_dot(model: onnx.ModelProto | str) -> str:
    """The model as a picture, in Graphviz's language."""
    graph = Graph.from_onnx(os.fspath(model)) if isinstance(model, str) else Graph.from_onnx(model.SerializeToString())
    return graph.dot(collapse=False)


def demo_mlp_model(filename: str | None = None, seed: int = 0) -> onnx.ModelProto:
    """Linear(10, 32), Relu, Linear(32, 1) as exporters write them, for inputs f32[3, 10]; saved where a file name is given."""
    rng = np.random.default_rng(seed)
    nodes, weights, x = [], [], "x"
    for k, (rows, columns) in enumerate([(10, 32), (32, 1)]):
        bound = 1 / np.sqrt(rows)
        for name, shape in (("weight", (columns, rows)), ("bias", (columns,))):
            weights.append(onh.from_array(rng.uniform(-bound, bound, shape).astype(np.float32), f"p_layers_{2 * k}_{name}"))
        nodes += [
            oh.make_node("Transpose", [f"p_layers_{2 * k}_weight"], [f"transpose_{k}"], perm=[1, 0], name=f"transpose_{k}"),
            oh.make_node("MatMul", [x, f"transpose_{k}"], [f"matmul_{k}"], name=f"matmul_{k}"),
            oh.make_node("Add", [f"matmul_{k}", f"p_layers_{2 * k}_bias"], [f"linear_{k}"], name=f"add_{k}"),
        ]
        x = f"linear_{k}"
        if k == 0:
            nodes.append(oh.make_node("Relu", [x], ["relu"], name="relu"))
            x = "relu"
    nodes.append(oh.make_node("Identity", [x], ["output_0"], name="identity"))
    ports = [oh.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in (("x", [3, 10]), ("output_0", [3, 1]))]
    graph = oh.make_graph(nodes, "mlp", ports[:1], ports[1:], weights)
    model = oh.make_model(graph, opset_imports=[oh.make_opsetid("", 18)], ir_version=9)
    if filename:
        onnx.save(model, filename)
    return model
