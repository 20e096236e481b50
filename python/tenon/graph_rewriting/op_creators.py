# SPDX-License-Identifier: Apache-2.0
"""Creators of TensorRT-LLM's plugins of which Tenon has an op: no library brings them, and a layer of one is a node of that op."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._error import TenonError
from .._tenon import _created_node, _op_creators
from ..rewriting import Value
from .plugins import FLOATS, INTS, Plugin, PluginCreator, PluginField, PluginFieldType, TensorRTPhase

_NUMPY_NAMES = {
    PluginFieldType.FLOAT16: "float16",
    PluginFieldType.FLOAT32: "float32",
    PluginFieldType.FLOAT64: "float64",
    PluginFieldType.INT8: "int8",
    PluginFieldType.INT16: "int16",
    PluginFieldType.INT32: "int32",
    PluginFieldType.INT64: "int64",
}

GivenField = tuple[str, int, int, bytes]  # name, number of the type, number of elements, bytes


def _given(field: PluginField) -> GivenField:
    """Raises TypeError for data that are not of the field's type."""
    name = _NUMPY_NAMES.get(field.type)
    if name is None:
        data = field.data.encode() if isinstance(field.data, str) else field.data
        raw = data if isinstance(data, bytes) else np.asarray(data).tobytes()
        return field.name, field.type.value, field.size, raw
    array = np.asarray(field.data)
    if array.dtype.kind not in ("iufb" if field.type in FLOATS else "iub"):
        raise TypeError(f"field {field.name!r} is {field.type.name}, and its data are {array.dtype}")
    converted = array.astype(name)
    if field.type in INTS and not np.array_equal(converted, array):
        raise TypeError(f"field {field.name!r} is {field.type.name}, and {array.tolist()} does not fit it")
    return field.name, field.type.value, array.size, converted.tobytes()


class OpCreator(PluginCreator):
    """A creator of the process that makes nodes of `node_op`, an op of domain "tenon". All that is wrong with its fields is one TenonError
    of create_plugin."""

    def __init__(self, op: dict[str, Any]) -> None:
        super().__init__(op)
        self._key = (self.domain, self.name, self.plugin_version)
        self.domain = "tenon"  # of the node
        self.num_outputs = None

    def create_plugin(self, name: str, field_collection: Iterable[PluginField], phase: TensorRTPhase = TensorRTPhase.BUILD) -> Plugin:
        """Raises TenonError with all that is wrong with the fields, TypeError for data that are not of their field's type, ValueError for
        a phase that only an engine has."""
        fields = list(field_collection)
        _created_node(*self._key, [_given(field) for field in fields])
        return super().create_plugin(name, fields, phase)

    def node_of(self, operands: list[Value | None], fields: dict[str, Any]) -> tuple[dict[str, Any], int]:
        given = [_given(PluginField(name, value, self._rules.get(name, (PluginFieldType.INT32, 1))[0])) for name, value in fields.items()]
        attributes, outputs, dtype, rules = _created_node(*self._key, given)
        faults = [
            f"operand {operand!r} is {'missing' if must else 'given'}"
            for k, ((operand, _, _), must) in enumerate(zip(self.operands, rules, strict=True))
            if must is not None and must != (k < len(operands) and operands[k] is not None)
        ]
        first = operands[0] if operands else None
        if dtype is not None and first is not None and first.dtype not in (None, dtype):
            faults.append(f"operand {self.operands[0][0]!r} is {first.dtype}, and type_id is that of {dtype}")
        if faults:
            raise TenonError(
                "bad_graph",
                f"creator {self.plugin_namespace}::{self.name}, version {self.plugin_version}",
                "its operands are not those that the fields describe",
                ", ".join(f"{operand}{'?' * optional}" for operand, optional, _ in self.operands),
                "; ".join(faults),
                "correct the operands, or the fields qkv_bias_enabled and type_id",
            )
        return attributes, outputs


def op_creators() -> list[OpCreator]:
    """All of them."""
    return [OpCreator(op) for op in _op_creators()]
