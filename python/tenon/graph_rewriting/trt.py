# SPDX-License-Identifier: Apache-2.0
"""The names that code written for TensorRT's Python package queries layers with: `trt.LayerType.ELEMENTWISE`, `trt.float16`.

Only names are here; kinds.py maps each to Tenon's op.
"""

from __future__ import annotations

from enum import Enum, auto

from .plugin_registry import PluginRegistry, get_plugin_registry
from .plugins import (
    PluginCreator,
    PluginField,
    PluginFieldCollection,
    PluginFieldType,
    TensorRTPhase,
)

__all__ = [
    "ActivationType",
    "DataType",
    "ElementWiseOperation",
    "FillOperation",
    "LayerType",
    "MatrixOperation",
    "PluginCreator",
    "PluginField",
    "PluginFieldCollection",
    "PluginFieldType",
    "PluginRegistry",
    "PoolingType",
    "ReduceOperation",
    "TensorRTPhase",
    "TopKOperation",
    "UnaryOperation",
    "bfloat16",
    "bool",
    "float16",
    "float32",
    "float64",
    "fp8",
    "get_plugin_registry",
    "int16",
    "int32",
    "int64",
    "int8",
    "uint8",
]


class DataType(Enum):
    """An element type; the value is Tenon's name of it."""

    FLOAT = "f32"
    HALF = "f16"
    BF16 = "bf16"
    DOUBLE = "f64"
    INT8 = "i8"
    INT16 = "i16"
    INT32 = "i32"
    INT64 = "i64"
    UINT8 = "u8"
    BOOL = "bool"
    FP8 = "f8e4m3fn"


float32 = DataType.FLOAT
float16 = DataType.HALF
bfloat16 = DataType.BF16
float64 = DataType.DOUBLE
int8 = DataType.INT8
int16 = DataType.INT16
int32 = DataType.INT32
int64 = DataType.INT64
uint8 = DataType.UINT8
bool = DataType.BOOL
fp8 = DataType.FP8


class LayerType(Enum):
    """What a layer does, roughly. An op that has no name here is PLUGIN_V2, which is PLUGIN_V3 too: opaque, known by its plugin_type."""

    CONVOLUTION = auto()
    DECONVOLUTION = auto()
    ACTIVATION = auto()
    POOLING = auto()
    LRN = auto()
    SOFTMAX = auto()
    CONCATENATION = auto()
    ELEMENTWISE = auto()
    PLUGIN_V2 = auto()
    PLUGIN_V3 = PLUGIN_V2
    UNARY = auto()
    PADDING = auto()
    SHUFFLE = auto()
    REDUCE = auto()
    TOPK = auto()
    GATHER = auto()
    MATRIX_MULTIPLY = auto()
    CONSTANT = auto()
    IDENTITY = auto()
    CAST = auto()
    SLICE = auto()
    SHAPE = auto()
    PARAMETRIC_RELU = auto()
    RESIZE = auto()
    LOOP_OUTPUT = auto()
    SELECT = auto()
    FILL = auto()
    QUANTIZE = auto()
    DEQUANTIZE = auto()
    CONDITION = auto()
    SCATTER = auto()
    EINSUM = auto()
    GRID_SAMPLE = auto()
    ONE_HOT = auto()
    NON_ZERO = auto()
    NMS = auto()
    REVERSE_SEQUENCE = auto()
    NORMALIZATION = auto()


class ElementWiseOperation(Enum):
    SUM = auto()
    PROD = auto()
    MAX = auto()
    MIN = auto()
    SUB = auto()
    DIV = auto()
    POW = auto()
    AND = auto()
    OR = auto()
    XOR = auto()
    EQUAL = auto()
    GREATER = auto()
    LESS = auto()


class UnaryOperation(Enum):
    EXP = auto()
    LOG = auto()
    SQRT = auto()
    RECIP = auto()
    ABS = auto()
    NEG = auto()
    SIN = auto()
    COS = auto()
    TAN = auto()
    SINH = auto()
    COSH = auto()
    ASIN = auto()
    ACOS = auto()
    ATAN = auto()
    CEIL = auto()
    FLOOR = auto()
    ERF = auto()
    NOT = auto()
    SIGN = auto()
    ROUND = auto()
    ISINF = auto()


class ActivationType(Enum):
    RELU = auto()
    SIGMOID = auto()
    TANH = auto()
    LEAKY_RELU = auto()
    ELU = auto()
    SELU = auto()
    SOFTSIGN = auto()
    SOFTPLUS = auto()
    CLIP = auto()
    HARD_SIGMOID = auto()
    THRESHOLDED_RELU = auto()
    GELU_ERF = auto()
    GELU_TANH = auto()


class ReduceOperation(Enum):
    SUM = auto()
    PROD = auto()
    MAX = auto()
    MIN = auto()
    AVG = auto()


class PoolingType(Enum):
    MAX = auto()
    AVERAGE = auto()


class TopKOperation(Enum):
    MAX = auto()
    MIN = auto()


class FillOperation(Enum):
    LINSPACE = auto()


class MatrixOperation(Enum):
    NONE = auto()
    TRANSPOSE = auto()
