# SPDX-License-Identifier: Apache-2.0
"""Matrix products and convolutions."""

from __future__ import annotations

from typing import Any

from .table import Unsupported, converts


def _product(b: Any, x: Any, y: Any) -> Any:
    return b.op("MatMul", [b.tensor(x), b.tensor(y)])


converts("mm.default", "bmm.default", "matmul.default", "mv.default", "dot.default")(_product)


def _sum(b: Any, added: Any, product: Any, beta: Any, alpha: Any) -> Any:
    if alpha != 1:
        product = b.op("Mul", [product, b.tensor(alpha, b.dtype)])
    if beta == 0:
        return product
    term = b.tensor(added)
    return b.op("Add", [product, term if beta == 1 else b.op("Mul", [term, b.tensor(beta, b.dtype)])])


@converts("addmm.default", "baddbmm.default", "addmv.default")
def product_and_sum(b: Any, added: Any, x: Any, y: Any, beta: Any, alpha: Any) -> Any:
    return _sum(b, added, _product(b, x, y), beta, alpha)


@converts("outer.default")
def outer(b: Any, x: Any, y: Any) -> Any:
    return b.op("Mul", [b.op("Unsqueeze", [b.tensor(x, b.dtype), b.ints([1])]), b.tensor(y, b.dtype)])


@converts("linear.default")
def linear(b: Any, x: Any, weight: Any, bias: Any) -> Any:
    if len(b.shape_of(weight)) != 2:
        raise Unsupported("not supported yet: a linear map to a number")
    product = b.op("MatMul", [b.tensor(x), b.op("Transpose", [b.tensor(weight)], {"perm": [1, 0]})])
    return product if bias is None else b.op("Add", [product, b.tensor(bias)])


@converts("einsum.default")
def einsum(b: Any, equation: str, operands: Any, path: Any) -> Any:
    return b.op("Einsum", [b.tensor(x) for x in operands], {"equation": equation.replace(" ", "")})


def _each(value: Any, count: int) -> list[int]:
    values = [value] if isinstance(value, int) else list(value)
    return values * count if len(values) == 1 else values


def convolution(b: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int) -> Any:
    count = len(b.shape_of(weight)) - 2
    if len(b.shape_of(x)) != count + 2:
        raise Unsupported("not supported yet: a convolution without a batch")
    attributes: dict[str, Any] = {"strides": _each(stride, count), "dilations": _each(dilation, count), "group": groups}
    if isinstance(padding, str):
        if padding == "same":
            raise Unsupported("not supported yet: the padding 'same'")
        padding = 0
    attributes["pads"] = _each(padding, count) * 2
    return b.op("Conv", [b.tensor(x), b.tensor(weight), *([] if bias is None else [b.tensor(bias)])], attributes)


converts("conv1d.default", "conv2d.default", "conv3d.default", "conv1d.padding", "conv2d.padding")(convolution)


def transposed(b: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any, groups: int, dilation: Any) -> Any:
    count = len(b.shape_of(weight)) - 2
    if len(b.shape_of(x)) != count + 2:
        raise Unsupported("not supported yet: a convolution without a batch")
    attributes = {
        "strides": _each(stride, count),
        "dilations": _each(dilation, count),
        "group": groups,
        "pads": _each(padding, count) * 2,
        "output_padding": _each(output_padding, count),
    }
    return b.op("ConvTranspose", [b.tensor(x), b.tensor(weight), *([] if bias is None else [b.tensor(bias)])], attributes)


converts("conv_transpose1d.default", "conv_transpose2d.input")(transposed)


@converts("convolution.default")
def any_convolution(
    b: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, backwards: bool, output_padding: Any, groups: int
) -> Any:
    if backwards:
        return transposed(b, x, weight, bias, stride, padding, output_padding, groups, dilation)
    return convolution(b, x, weight, bias, stride, padding, dilation, groups)
