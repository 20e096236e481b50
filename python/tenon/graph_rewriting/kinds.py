# SPDX-License-Identifier: Apache-2.0
"""The layer types and operations of Tenon's ops."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from .._tenon import _plugin_of
from ..rewriting import Node
from .plugins import PluginCreator, namespace_of
from .trt import (
    ActivationType,
    ElementWiseOperation,
    FillOperation,
    LayerType,
    PoolingType,
    ReduceOperation,
    TopKOperation,
    UnaryOperation,
)

_ELEMENTWISE = {
    "Add": "SUM",
    "Mul": "PROD",
    "Max": "MAX",
    "Min": "MIN",
    "Sub": "SUB",
    "Div": "DIV",
    "Pow": "POW",
    "And": "AND",
    "Or": "OR",
    "Xor": "XOR",
    "Equal": "EQUAL",
    "Greater": "GREATER",
    "Less": "LESS",
}
_UNARY = {
    "Exp": "EXP",
    "Log": "LOG",
    "Sqrt": "SQRT",
    "Reciprocal": "RECIP",
    "Abs": "ABS",
    "Neg": "NEG",
    "Sin": "SIN",
    "Cos": "COS",
    "Tan": "TAN",
    "Sinh": "SINH",
    "Cosh": "COSH",
    "Asin": "ASIN",
    "Acos": "ACOS",
    "Atan": "ATAN",
    "Ceil": "CEIL",
    "Floor": "FLOOR",
    "Erf": "ERF",
    "Not": "NOT",
    "Sign": "SIGN",
    "Round": "ROUND",
    "IsInf": "ISINF",
}
_ACTIVATION = {
    "Relu": "RELU",
    "Sigmoid": "SIGMOID",
    "Tanh": "TANH",
    "LeakyRelu": "LEAKY_RELU",
    "Elu": "ELU",
    "Selu": "SELU",
    "Softsign": "SOFTSIGN",
    "Softplus": "SOFTPLUS",
    "Clip": "CLIP",
    "HardSigmoid": "HARD_SIGMOID",
    "ThresholdedRelu": "THRESHOLDED_RELU",
    "Gelu": "GELU_ERF",
}
_REDUCE = {"ReduceSum": "SUM", "ReduceProd": "PROD", "ReduceMax": "MAX", "ReduceMin": "MIN", "ReduceMean": "AVG"}
_PLAIN = {
    LayerType.CONVOLUTION: "Conv",
    LayerType.DECONVOLUTION: "ConvTranspose",
    LayerType.LRN: "LRN",
    LayerType.SOFTMAX: "Softmax",
    LayerType.CONCATENATION: "Concat",
    LayerType.PADDING: "Pad",
    LayerType.SHUFFLE: "Reshape Transpose Squeeze Unsqueeze Flatten",
    LayerType.GATHER: "Gather GatherElements GatherND",
    LayerType.MATRIX_MULTIPLY: "MatMul Gemm",
    LayerType.CONSTANT: "Constant",
    LayerType.IDENTITY: "Identity",
    LayerType.CAST: "Cast",
    LayerType.SLICE: "Slice",
    LayerType.SHAPE: "Shape",
    LayerType.PARAMETRIC_RELU: "PRelu",
    LayerType.RESIZE: "Resize",
    LayerType.LOOP_OUTPUT: "Loop Scan",
    LayerType.SELECT: "Where",
    LayerType.QUANTIZE: "QuantizeLinear",
    LayerType.DEQUANTIZE: "DequantizeLinear",
    LayerType.CONDITION: "If",
    LayerType.SCATTER: "Scatter ScatterElements ScatterND",
    LayerType.EINSUM: "Einsum",
    LayerType.GRID_SAMPLE: "GridSample",
    LayerType.ONE_HOT: "OneHot",
    LayerType.NON_ZERO: "NonZero",
    LayerType.NMS: "NonMaxSuppression",
    LayerType.REVERSE_SEQUENCE: "ReverseSequence",
    LayerType.NORMALIZATION: "LayerNormalization RMSNormalization InstanceNormalization GroupNormalization",
}


def _table() -> dict[str, tuple[LayerType, Enum | None]]:
    out: dict[str, tuple[LayerType, Enum | None]] = {}
    for kind, operations, names in (
        (LayerType.ELEMENTWISE, ElementWiseOperation, _ELEMENTWISE),
        (LayerType.UNARY, UnaryOperation, _UNARY),
        (LayerType.ACTIVATION, ActivationType, _ACTIVATION),
        (LayerType.REDUCE, ReduceOperation, _REDUCE),
        (LayerType.POOLING, PoolingType, {"MaxPool": "MAX", "AveragePool": "AVERAGE"}),
        (LayerType.TOPK, TopKOperation, {"TopK": "MAX"}),
        (LayerType.FILL, FillOperation, {"Range": "LINSPACE"}),
    ):
        out.update({op: (kind, operations[name]) for op, name in names.items()})
    for kind, ops in _PLAIN.items():
        out.update({op: (kind, None) for op in ops.split()})
    return out


_KINDS = _table()


def kind_of(op_type: str, domain: str = "") -> LayerType:
    return _KINDS[op_type][0] if not domain and op_type in _KINDS else LayerType.PLUGIN_V2


def operation_of(node: Node) -> Enum | None:
    """The value of `layer.op`: which operation of its layer type the node is; None where the type has only one."""
    op_type, attributes = node.op_type, node.attributes
    if op_type == "Gelu" and attributes.get("approximate") == "tanh":
        return ActivationType.GELU_TANH
    if op_type == "TopK" and attributes.get("largest") == 0:
        return TopKOperation.MIN
    return _KINDS[op_type][1] if not node.domain and op_type in _KINDS else None


def roots_of(types: Iterable[LayerType] | None) -> list[str]:
    """The ops of these layer types; empty: all ops, as for opaque layers, whose ops cannot be listed."""
    wanted = set(types) if types is not None else {LayerType.PLUGIN_V2}
    if LayerType.PLUGIN_V2 in wanted:
        return []
    return [op for op, (kind, _) in _KINDS.items() if kind in wanted] or ["Constant"]


class Plugin:
    """The plugin of an opaque layer: name, namespace, version, fields. creator: of such layers; None where the op is of no plugin."""

    def __init__(self, node: Node) -> None:
        self.num_outputs = len(node.outputs)
        self.creator = creator_of(node)
        self.plugin_namespace = namespace_of(node.domain)
        self.plugin_type = node.op_type if self.creator is None else self.creator.name
        self.plugin_name = self.plugin_type
        self.plugin_version = "1" if self.creator is None else self.creator.plugin_version


def creator_of(node: Node) -> PluginCreator | None:
    plugin = _plugin_of(node)
    return None if plugin is None else PluginCreator(plugin, len(node.outputs))
