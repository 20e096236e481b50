# SPDX-License-Identifier: Apache-2.0
"""Reductions over one or several axes."""

from __future__ import annotations

from collections.abc import Sequence

from ..tensor import Tensor
from .operands import as_dims


def _reduced(op_type: str, input: Tensor, dim: int | Sequence[int], keepdim: bool) -> Tensor:
    network = input.network
    return network.insert(op_type, [input.value, network.parameter(as_dims(dim))], {"keepdims": int(keepdim)})[0]


def sum(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    return _reduced("ReduceSum", input, dim, keepdim)


def prod(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    return _reduced("ReduceProd", input, dim, keepdim)


def max(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    return _reduced("ReduceMax", input, dim, keepdim)


def min(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    return _reduced("ReduceMin", input, dim, keepdim)


def mean(input: Tensor, dim: int | Sequence[int], keepdim: bool = False) -> Tensor:
    return _reduced("ReduceMean", input, dim, keepdim)
