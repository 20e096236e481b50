# SPDX-License-Identifier: Apache-2.0
"""Writes examples/mlp.onnx: two dense layers and a softmax, any batch; what README and docs show their commands on."""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def weights(name: str, *shape: int) -> TensorProto:
    random = np.random.default_rng(len(name) + sum(shape))
    return numpy_helper.from_array(random.normal(0, 0.3, shape).astype(np.float32), name)


def model() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Gemm", ["x", "w1", "b1"], ["h"], "dense_1"),
        helper.make_node("Relu", ["h"], ["r"], "relu"),
        helper.make_node("Gemm", ["r", "w2", "b2"], ["s"], "dense_2"),
        helper.make_node("Softmax", ["s"], ["y"], "softmax", axis=-1),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 16])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["batch", 10])
    stored = [weights("w1", 16, 32), weights("b1", 32), weights("w2", 32, 10), weights("b2", 10)]
    graph = helper.make_graph(nodes, "mlp", [x], [y], stored)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="tenon examples")


if __name__ == "__main__":
    made = model()
    onnx.checker.check_model(made, full_check=True)
    onnx.save(made, Path(__file__).with_name("mlp.onnx"))
