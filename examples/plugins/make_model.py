# SPDX-License-Identifier: Apache-2.0
"""Writes model.onnx, y = relu(acme::Swish(x, beta=1.5)): python make_model.py (needs the package onnx)."""

from pathlib import Path

import onnx
from onnx import TensorProto, helper


def main() -> None:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 8]) for name in ("x", "y")]
    nodes = [
        helper.make_node("Swish", ["x"], ["s"], "swish", domain="acme", beta=1.5),
        helper.make_node("Relu", ["s"], ["y"], "relu"),
    ]
    graph = helper.make_graph(nodes, "example", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("acme", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=9), Path(__file__).with_name("model.onnx"))


if __name__ == "__main__":
    main()
