# SPDX-License-Identifier: Apache-2.0
"""Makes a small fixture of an exported model: the graph as the exporter wrote it, without its weights.

python tools/models/strip_weights.py IN.onnx OUT.onnx

Every floating-point initializer of more than 64 elements becomes external data at its place in "weights.bin", a file that is not
written: whoever loads the model makes it first, with numbers of their own. Small and integer initializers stay, since shapes and
indices depend on them. Documentation, metadata and types of inner values go. Needs the package onnx.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import onnx

KEPT_ELEMENTS = 64
LOCATION = "weights.bin"
ALIGNMENT = 64
FLOATS = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE, onnx.TensorProto.BFLOAT16}


def strip_tensor(tensor: onnx.TensorProto, offset: int) -> int:
    """Points the tensor at `offset` of the weights file; returns where the next one may start."""
    count = math.prod(tensor.dims)
    if tensor.data_type not in FLOATS or count <= KEPT_ELEMENTS:
        return offset
    length = count * onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).itemsize
    for field in ("raw_data", "float_data", "double_data", "int32_data", "external_data"):
        tensor.ClearField(field)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", LOCATION), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return -(-(offset + length) // ALIGNMENT) * ALIGNMENT


def strip_words(part: object) -> None:
    """Drops what describes a message but does not change it."""
    for field in ("doc_string", "metadata_props", "value_info"):
        if field in part.DESCRIPTOR.fields_by_name:
            part.ClearField(field)


def strip_graph(graph: onnx.GraphProto) -> None:
    for part in (graph, *graph.input, *graph.output, *graph.initializer):
        strip_words(part)
    strip_nodes(graph.node)


def strip_nodes(nodes: list[onnx.NodeProto]) -> None:
    for node in nodes:
        strip_words(node)
        for attribute in node.attribute:
            strip_words(attribute)
            if attribute.type == onnx.AttributeProto.GRAPH:
                strip_graph(attribute.g)


def strip(model: onnx.ModelProto) -> None:
    strip_words(model)
    strip_graph(model.graph)
    for function in model.functions:
        strip_words(function)
        strip_nodes(function.node)
    offset = 0
    for tensor in model.graph.initializer:
        offset = strip_tensor(tensor, offset)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("source", type=Path, metavar="IN.onnx")
    parser.add_argument("target", type=Path, metavar="OUT.onnx")
    arguments = parser.parse_args()
    model = onnx.load(str(arguments.source), load_external_data=False)
    strip(model)
    arguments.target.write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
