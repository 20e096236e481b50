# SPDX-License-Identifier: Apache-2.0
"""What functionals take besides tensors of their network: numbers, arrays."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..context import default_net, net_guard
from ..network import Network
from ..tensor import Tensor
from ..trt import DataType

_NUMPY = {
    DataType.FLOAT: "float32",
    DataType.HALF: "float16",
    DataType.DOUBLE: "float64",
    DataType.INT8: "int8",
    DataType.INT16: "int16",
    DataType.INT32: "int32",
    DataType.INT64: "int64",
    DataType.UINT8: "uint8",
    DataType.BOOL: "bool",
}


def network_of(*operands: Any) -> Network:
    """That of the first tensor; else the default network."""
    for operand in operands:
        if isinstance(operand, Tensor):
            return operand.network
    return default_net()


def constant(array: Any, dtype: DataType | str | None = None) -> Tensor:
    """A CONSTANT layer. bfloat16 and float8 are made from float32 by a cast, which folds away."""
    wanted = None if dtype is None else DataType(dtype)
    kind = None if wanted is None else _NUMPY.get(wanted, "float32")
    made = default_net().insert("Constant", [], {"value": np.array(array, kind, order="C")})[0]
    return made if wanted is None else made.cast(wanted)


def arange(start: int | float, end: int | float, dtype: DataType | str) -> Tensor:
    """start, start + 1, ... before end."""
    network, kind = default_net(), _NUMPY[DataType(dtype)]
    return network.insert("Range", [network.parameter(np.asarray(number, kind)) for number in (start, end, 1)])[0]


def promoted(*operands: Any) -> list[Tensor]:
    """Numbers and arrays as constants of the element type that the first tensor has."""
    like = next((operand for operand in operands if isinstance(operand, Tensor)), None)
    out = []
    for operand in operands:
        if isinstance(operand, Tensor):
            out.append(operand)
        elif isinstance(operand, (numbers.Number, np.ndarray, list, tuple)):
            with net_guard(network_of(like)):
                out.append(constant(operand, like.dtype if like is not None else None))
        else:
            raise TypeError(f"a tensor or a number is expected, and {type(operand).__name__} was given")
    return out


def normal_dim(dim: int, rank: int) -> int:
    """-rank .. rank-1 to 0 .. rank-1. Raises IndexError."""
    if not -rank <= dim < rank:
        raise IndexError(f"there is no axis {dim}: the rank is {rank}")
    return dim % rank


def as_dims(dims: int | Sequence[int]) -> list[int]:
    return [dims] if isinstance(dims, int) else list(dims)
