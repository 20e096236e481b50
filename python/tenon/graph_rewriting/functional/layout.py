# SPDX-License-Identifier: Apache-2.0
"""What moves elements, picks them, or gives them another type."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

import numpy as np

from ...rewriting import Value
from ..network import Network
from ..tensor import Tensor
from ..trt import DataType
from .operands import as_dims, normal_dim


def _sizes(network: Network, sizes: Tensor | Sequence[int]) -> Value:
    if not isinstance(sizes, Tensor):
        return network.parameter(list(sizes))
    return (sizes if sizes.dtype == DataType.INT64 else cast(sizes, DataType.INT64)).value


def identity(input: Tensor) -> Tensor:
    return input.network.insert("Identity", [input.value])[0]


def cast(input: Tensor, dtype: DataType | str) -> Tensor:
    """The tensor itself where it has that element type already."""
    wanted = DataType(dtype)
    if input.dtype == wanted:
        return input
    return input.network.insert("Cast", [input.value], {"to": _ONNX[wanted]})[0]


# ONNX's numbers of the element types.
_ONNX = {
    DataType.FLOAT: 1,
    DataType.UINT8: 2,
    DataType.INT8: 3,
    DataType.INT16: 5,
    DataType.INT32: 6,
    DataType.INT64: 7,
    DataType.BOOL: 9,
    DataType.HALF: 10,
    DataType.DOUBLE: 11,
    DataType.BF16: 16,
    DataType.FP8: 17,
}


def view(input: Tensor, shape: Tensor | Sequence[int]) -> Tensor:
    """The same elements in another shape: -1 is what is left, 0 the size that the axis has."""
    return input.network.insert("Reshape", [input.value, _sizes(input.network, shape)])[0]


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    rank = input.rank()
    first, last = normal_dim(start_dim, rank), normal_dim(end_dim, rank)
    return view(input, [*([0] * first), -1, *input.shape[last + 1 :]])


def permute(input: Tensor, dims: Sequence[int]) -> Tensor:
    return input.network.insert("Transpose", [input.value], {"perm": [normal_dim(dim, input.rank()) for dim in dims]})[0]


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two axes change places."""
    order = list(range(input.rank()))
    a, b = normal_dim(dim0, len(order)), normal_dim(dim1, len(order))
    order[a], order[b] = order[b], order[a]
    return permute(input, order)


def unsqueeze(input: Tensor, axis: int | Sequence[int]) -> Tensor:
    return input.network.insert("Unsqueeze", [input.value, input.network.parameter(as_dims(axis))])[0]


def squeeze(input: Tensor, dim: int | Sequence[int]) -> Tensor:
    return input.network.insert("Squeeze", [input.value, input.network.parameter(as_dims(dim))])[0]


def expand(input: Tensor, expand_shape: Tensor | Sequence[int]) -> Tensor:
    """Axes of size 1 are repeated."""
    return input.network.insert("Expand", [input.value, _sizes(input.network, expand_shape)])[0]


def shape(input: Tensor, dim: int | None = None) -> Tensor:
    """The sizes as int64: all of them, or that of one axis as a scalar."""
    if dim is None:
        return input.network.insert("Shape", [input.value])[0]
    at = normal_dim(dim, input.rank())
    return squeeze(input.network.insert("Shape", [input.value], {"start": at, "end": at + 1})[0], 0)


def concat(inputs: Sequence[Tensor], dim: int = 0) -> Tensor:
    return inputs[0].network.insert("Concat", [tensor.value for tensor in inputs], {"axis": dim})[0]


def slice(input: Tensor, starts: Sequence[int], sizes: Sequence[int], strides: Sequence[int] | None = None) -> Tensor:
    """sizes[k] elements from starts[k] on, strides[k] apart: one number an axis."""
    network, steps = input.network, list(strides) if strides is not None else [1] * len(starts)
    ends = [_end(*numbers) for numbers in zip(starts, sizes, steps, strict=True)]
    parameters = [network.parameter(list(numbers)) for numbers in (starts, ends, builtins.range(len(starts)), steps)]
    return network.insert("Slice", [input.value, *parameters])[0]


def _end(start: int, size: int, step: int) -> int:
    """The first index that a slice does not reach; far outside where counting would come past either end."""
    end = start + (size - 1) * step + (1 if step > 0 else -1)
    if step > 0:
        return 2**62 if start < 0 <= end and size > 0 else end
    return -(2**62) if start >= 0 > end else end


def split(tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0) -> list[Tensor]:
    """Parts of one size along an axis, or of the sizes given. Raises ValueError where they do not add up."""
    network, at = tensor.network, normal_dim(dim, tensor.rank())
    whole = tensor.shape[at]
    if isinstance(split_size_or_sections, int):
        if whole < 0 or whole % split_size_or_sections:
            raise ValueError(f"axis {dim} of {tensor.name} has size {whole}: not a multiple of {split_size_or_sections}")
        sections = [split_size_or_sections] * (whole // split_size_or_sections)
    else:
        sections = list(split_size_or_sections)
        if whole >= 0 and builtins.sum(sections) != whole:
            raise ValueError(f"axis {dim} of {tensor.name} has size {whole}, and the parts have {builtins.sum(sections)}")
    out, begin = [], 0
    for size in sections:
        parameters = [network.parameter([number]) for number in (begin, begin + size, at)]
        out += network.insert("Slice", [tensor.value, *parameters])
        begin += size
    return out


def gather(input: Tensor, dim: int, indices: Tensor) -> Tensor:
    return input.network.insert("Gather", [input.value, indices.value], {"axis": dim})[0]


def embedding(input: Tensor, weight: Tensor) -> Tensor:
    """Rows of `weight`; input: their numbers."""
    return gather(weight, 0, input)


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """One place of an axis, which goes away."""
    network = input.network
    return network.insert("Gather", [input.value, network.parameter(np.asarray(index, np.int64))], {"axis": dim})[0]
