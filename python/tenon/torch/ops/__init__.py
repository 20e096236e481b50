# SPDX-License-Identifier: Apache-2.0
"""Converters from ATen ops to ops of a graph, one file for each family."""

from . import adaptive, attention, composed, contract, index, normalize, pointwise, pool, put, recurrent, reduce, resize, sample, shape
from .table import TABLE, Unsupported, arguments_of, convert, converts, op_of

__all__ = [
    "TABLE", "Unsupported", "adaptive", "arguments_of", "attention", "composed", "contract", "convert", "converts", "index", "normalize",
    "op_of", "pointwise", "pool", "put", "recurrent", "reduce", "resize", "sample", "shape",
]  # fmt: skip
