# SPDX-License-Identifier: Apache-2.0
"""ONNX's types as its schemas write them ("seq(tensor(float16))"), and values of them.

A value of a type that NumPy lacks is an array of a wider type that holds all its values (`carrier`); models cast it.
"""

from __future__ import annotations

import re
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnx.helper as oh

WHOLE = {"int2": (-2, 1), "int4": (-8, 7), "uint2": (0, 3), "uint4": (0, 15)}
NARROW = {
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float6e2m3": ml_dtypes.float6_e2m3fn,
    "float6e3m2": ml_dtypes.float6_e3m2fn,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
}
NUMPY = {"float": "float32", "double": "float64"}
# How far results may be apart, of the largest element.
TOLERANCE = {
    **dict.fromkeys(NARROW, 0.15),
    "float16": 6e-3,
    "bfloat16": 3e-2,
    "float4e2m1": 0.35,
    "float8e5m2": 0.3,
    "float8e5m2fnuz": 0.3,
    "float8e8m0": 1.01,
}


def element_of(type_text: str) -> str:
    """The element type inside: "float16"."""
    return re.search(r"tensor\((\w+)\)", type_text)[1]


def with_element(type_text: str, element: str) -> str:
    return re.sub(r"tensor\(\w+\)", f"tensor({element})", type_text)


def is_tensor(type_text: str) -> bool:
    return type_text.startswith("tensor(")


def proto_of(type_text: str, shape: list[Any] | None = None) -> onnx.TypeProto:
    if is_tensor(type_text):
        return oh.make_tensor_type_proto(number_of(element_of(type_text)), shape)
    kind, inner = re.fullmatch(r"(seq|optional)\((.*)\)", type_text).groups()
    make = oh.make_sequence_type_proto if kind == "seq" else oh.make_optional_type_proto
    return make(proto_of(inner))


def text_of(proto: onnx.TypeProto) -> str:
    kind = proto.WhichOneof("value")
    if kind == "tensor_type":
        return f"tensor({onnx.TensorProto.DataType.Name(proto.tensor_type.elem_type).lower()})"
    if kind == "map_type":
        raise NotImplementedError("maps")
    return f"{'seq' if kind == 'sequence_type' else 'optional'}({text_of(getattr(proto, kind).elem_type)})"


def number_of(element: str) -> int:
    return onnx.TensorProto.DataType.Value(element.upper())


def carrier(element: str) -> str:
    """The type whose arrays stand for those of `element` at the borders of a model; itself where NumPy has it."""
    return "float" if element in NARROW else "int32" if element in WHOLE else element


def numpy_type(element: str) -> np.dtype:
    return np.dtype(object if element == "string" else NUMPY.get(element, element))


def as_numbers(array: np.ndarray) -> np.ndarray:
    """Of anything that ONNX's tests give; strings are numbered."""
    if array.dtype.kind in "OSU":
        return np.arange(array.size, dtype=np.float64).reshape(array.shape)
    if array.dtype.kind == "c":
        return array.real.astype(np.float64)
    return array.astype(np.float64)


def words_of(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind in "OSU":
        return array.astype(object)
    texts = [f"{x:g}" if x else "" if k % 2 else "0" for k, x in enumerate(as_numbers(array).reshape(-1))]
    return np.array(texts, object).reshape(array.shape)


def whole_numbers(x: np.ndarray, element: str) -> np.ndarray:
    info = None if element in WHOLE else np.iinfo(element)
    low, high = WHOLE[element] if info is None else (info.min, info.max)
    x = np.rint(np.nan_to_num(np.abs(x) if low == 0 else x, posinf=3, neginf=-3))
    return np.clip(x, max(low, -(2**52)), min(high, 2**52)).astype(numpy_type(carrier(element)))


def converted(value: Any, element: str) -> Any:
    """The value with the nearest elements that the type has, in its carrier."""
    if value is None:
        return None
    if isinstance(value, list | tuple):
        return [converted(v, element) for v in value]
    array = np.asarray(value)
    if element == "string":
        return words_of(array)
    if carrier(element) == element and array.dtype == numpy_type(element):
        return array
    x = as_numbers(array)
    if element == "bool":
        return x > 0
    if element.startswith("complex"):
        return (x * (1 + 0.5j)).astype(element)
    if element == "float8e8m0":
        return np.exp2(np.rint(np.log2(np.clip(np.abs(x), 2.0**-9, 2.0**9)))).astype(np.float32)
    if element in NARROW:
        return (
            np.clip(x, *((-6, 6) if element in ("float4e2m1", "float6e2m3") else (-28, 28) if element == "float6e3m2" else (-240, 240)))
            .astype(NARROW[element])
            .astype(np.float32)
        )
    if element in WHOLE or element.startswith(("int", "uint")):
        return whole_numbers(x, element)
    return x.astype(numpy_type(element))


def difference(want: Any, got: Any, tolerance: float, *, values: bool = True) -> str:
    """Empty where they agree. values: False where only types and shapes count."""
    if want is None or isinstance(want, list | tuple):
        if want is None or got is None or not isinstance(got, list | tuple) or len(want) != len(got):
            return "" if want is got else f"{got!r:.60} instead of {want!r:.60}"
        return next((d for w, g in zip(want, got, strict=True) if (d := difference(w, g, tolerance, values=values))), "")
    want, got = np.asarray(want), np.asarray(got)
    if want.shape != got.shape or (want.dtype.kind in "OSU") != (got.dtype.kind in "OSU"):
        return f"{got.dtype}{list(got.shape)} instead of {want.dtype}{list(want.shape)}"
    if not values or want.size == 0:
        return ""
    if want.dtype.kind in "OSU":
        equal = want.astype(str) == got.astype(str)
    else:
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        w, g = want.astype(wide), got.astype(wide)
        if want.dtype.kind in "biu":
            tolerance = 0
        with np.errstate(all="ignore"):
            room = tolerance * max(1.0, np.max(np.abs(w[np.isfinite(w)]), initial=0))
            equal = (w == g) | (np.isnan(w) & np.isnan(g)) | (np.abs(w - g) <= room)
    if equal.all():
        return ""
    at = tuple(np.argwhere(~equal)[0])
    return f"{got[at]!r} instead of {want[at]!r} at {[int(k) for k in at]}"
