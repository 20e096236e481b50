# SPDX-License-Identifier: Apache-2.0
"""Makes a small fixture of an exported model: the graph as the exporter wrote it, without its weights.

python tools/strip_weights.py IN.onnx OUT.onnx

Every floating-point initializer of more than 64 elements becomes external data at its place in "weights.bin", a file that is not
written: whoever loads the model makes it first, with numbers of their own. Small and integer initializers stay, since shapes and
indices depend on them. Of the nodes' documentation and metadata nothing is left. Needs the package onnx.
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
    tensor.ClearField("raw_data")
    tensor.ClearField("float_data")
    tensor.ClearField("double_data")
    tensor.ClearField("int32_data")
    tensor.ClearField("external_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", LOCATION), ("offset", offset), ("length", length)):
        tensor.external_data.add(key=key, value=str(value))
    return -(-(offset + length) // ALIGNMENT) * ALIGNMENT


def strip_words(graph: onnx.GraphProto) -> None:
    """Drops what describes the graph but does not change it, in the bodies of its nodes too."""
    graph.doc_string = ""
    del graph.value_info[:]
    del graph.metadata_props[:]
    for value in (*graph.input, *graph.output):
        value.doc_string = ""
        del value.metadata_props[:]
    for tensor in graph.initializer:
        tensor.doc_string = ""
        del tensor.metadata_props[:]
    for node in graph.node:
        node.doc_string = ""
        del node.metadata_props[:]
        for attribute in node.attribute:
            attribute.doc_string = ""
            for body in (attribute.g, *attribute.graphs):
                strip_words(body)


def strip(model: onnx.ModelProto) -> None:
    model.doc_string = ""
    del model.metadata_props[:]
    strip_words(model.graph)
    for function in model.functions:
        function.doc_string = ""
        del function.metadata_props[:]
        del function.value_info[:]
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
