# SPDX-License-Identifier: Apache-2.0
"""Products, norms and activations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..context import net_guard
from ..tensor import Tensor
from .layout import transpose
from .operands import as_dims, constant


def matmul(input: Tensor, mat2: Tensor, transa: bool = False, transb: bool = False) -> Tensor:
    """The product over the last two axes; the axes before them broadcast."""
    left = transpose(input, -2, -1) if transa else input
    right = transpose(mat2, -2, -1) if transb else mat2
    return input.network.insert("MatMul", [left.value, right.value])[0]


def softmax(input: Tensor, dim: int = -1) -> Tensor:
    return input.network.insert("Softmax", [input.value], {"axis": dim})[0]


def relu(input: Tensor) -> Tensor:
    return input.network.insert("Relu", [input.value])[0]


def sigmoid(input: Tensor) -> Tensor:
    return input.network.insert("Sigmoid", [input.value])[0]


def tanh(input: Tensor) -> Tensor:
    return input.network.insert("Tanh", [input.value])[0]


def softplus(input: Tensor) -> Tensor:
    return input.network.insert("Softplus", [input.value])[0]


def silu(input: Tensor) -> Tensor:
    """x * sigmoid(x)"""
    return input * sigmoid(input)


def gelu(input: Tensor, approximate: str = "tanh") -> Tensor:
    """approximate: "tanh", or "none" for the one with erf."""
    return input.network.insert("Gelu", [input.value], {"approximate": approximate})[0]


def layer_norm(
    input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Over the last axes, whose sizes are `normalized_shape`."""
    operands = [input.value, _weight(input, normalized_shape, weight).value] + ([] if bias is None else [bias.value])
    return input.network.insert("LayerNormalization", operands, {"axis": -len(as_dims(normalized_shape)), "epsilon": eps})[0]


def rms_norm(input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None = None, eps: float = 1e-6) -> Tensor:
    """Over the last axes, whose sizes are `normalized_shape`."""
    operands = [input.value, _weight(input, normalized_shape, weight).value]
    return input.network.insert("RMSNormalization", operands, {"axis": -len(as_dims(normalized_shape)), "epsilon": eps})[0]


def _weight(input: Tensor, normalized_shape: int | Sequence[int], weight: Tensor | None) -> Tensor:
    if weight is not None:
        return weight
    with net_guard(input.network):
        return constant(np.ones(as_dims(normalized_shape)), input.dtype)
