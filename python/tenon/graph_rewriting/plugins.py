# SPDX-License-Identifier: Apache-2.0
"""Plugins as code written for TensorRT's Python package makes them: a creator of the registry, a collection of fields, a layer."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from typing import Any

import numpy as np

from .._error import TenonError
from ..rewriting import Graph, Value
from .context import default_net

MOST_OUTPUTS = 64
NAMES_THE_PLUGIN = ("plugin_namespace", "plugin_version")  # attributes that select the plugin and are not passed to it


class PluginFieldType(Enum):
    """Numbered as TensorRT's."""

    FLOAT16 = 0
    FLOAT32 = 1
    FLOAT64 = 2
    INT8 = 3
    INT16 = 4
    INT32 = 5
    CHAR = 6
    DIMS = 7
    UNKNOWN = 8
    BF16 = 9
    INT64 = 10
    FP8 = 11
    INT4 = 12
    FP4 = 13


FLOATS = {PluginFieldType.FLOAT16, PluginFieldType.FLOAT32, PluginFieldType.FLOAT64, PluginFieldType.BF16}
INTS = {PluginFieldType.INT8, PluginFieldType.INT16, PluginFieldType.INT32, PluginFieldType.INT64}


class TensorRTPhase(Enum):
    BUILD = auto()
    RUNTIME = auto()


class PluginField:
    """A named array. data: an array, a number, a text or bytes."""

    def __init__(self, name: str = "", data: Any = b"", type: PluginFieldType = PluginFieldType.UNKNOWN) -> None:
        self.name, self.data, self.type = name, data, type

    @property
    def size(self) -> int:
        return len(self.data) if isinstance(self.data, str | bytes) else int(np.size(self.data))

    def __repr__(self) -> str:
        return f"<PluginField {self.name}: {self.type.name} x{self.size}>"


class PluginFieldCollection(list[PluginField]):
    """Fields in their order."""

    def __init__(self, fields: Iterable[PluginField] = ()) -> None:
        super().__init__(fields)


class Plugin:
    """What a creator made: add_plugin_v2 and add_plugin_v3 make a layer of it, and raise an error with all wrong fields."""

    def __init__(self, creator: PluginCreator, name: str, attributes: dict[str, Any]) -> None:
        self.creator, self.name, self.attributes = creator, name, attributes

    @property
    def plugin_type(self) -> str:
        return self.creator.name

    @property
    def plugin_version(self) -> str:
        return self.creator.plugin_version

    @property
    def plugin_namespace(self) -> str:
        return self.creator.plugin_namespace


# What TensorRT-LLM calls the namespace of "tenon", and TensorRT that of plugins which have none.
_NAMESPACES = {"tenon": "tensorrt_llm", "trt.plugins": ""}


def namespace_of(domain: str) -> str:
    return _NAMESPACES.get(domain, domain)


class PluginCreator:
    """An op of a library, or a function of @tenon.plugin. operands: (name, may be missing, takes any number of tensors) of each;
    defaults: of the fields, by name, None for a field without one."""

    def __init__(self, op: dict[str, Any], outputs: int | None = None) -> None:
        """outputs: their number, for an op that may have any number; None: unknown until the layer is made."""
        self.name: str = op["name"]
        self.plugin_version: str = op["version"]
        self.domain: str = op["name_space"]
        self.plugin_namespace = namespace_of(self.domain)
        self.library: str = op["library"]
        self.node_op: str = op["node_op"]
        self.operands: list[tuple[str, bool, bool]] = op["operands"]
        self.defaults: dict[str, Any] = {name: default for name, _, _, default in op["fields"]}
        self._rules = {name: (PluginFieldType(kind), length) for name, kind, length, _ in op["fields"]}
        results = op["results"]
        self.num_outputs: int | None = outputs if results[-1][2] else len(results)

    def __call__(self, *operands: Any, **arguments: Any) -> Any:
        """A layer, and its outputs as a functional gives them. Operands are in their order or by name (a list for any number), fields by
        name; None leaves one out. Raises TypeError for operands, TenonError with all that is wrong with fields."""
        tensors, fields = self._bound(operands, arguments)
        network = next((tensor.network for tensor in tensors if tensor is not None), None) or default_net()
        made = network.insert_plugin([None if tensor is None else tensor.value for tensor in tensors], self, fields)
        return made[0] if len(made) == 1 else tuple(made)

    def _bound(self, given: tuple[Any, ...], arguments: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Operands in their order, and fields."""
        plain = [name for name, _, any_number in self.operands if not any_number]
        tail = [name for name, _, any_number in self.operands if any_number]
        if len(given) > len(plain) and not tail:
            raise TypeError(f"plugin {self.name} takes {len(plain)} operand{'s' * (len(plain) != 1)}, and {len(given)} are given")
        bound: dict[str, Any] = dict(zip(plain, given, strict=False))
        bound |= {name: list(given[len(plain) :]) for name in tail if len(given) > len(plain)}
        for name in bound:
            if name in arguments:
                raise TypeError(f"plugin {self.name}: operand {name!r} is given twice")
        bound |= arguments
        operands = [bound.pop(name, None) for name in plain]
        for (name, optional, _), operand in zip(self.operands, operands, strict=False):
            if operand is None and not optional:
                raise TypeError(f"plugin {self.name}: operand {name!r} is missing")
        for name in tail:
            operands += bound.pop(name, None) or []
        while operands and operands[-1] is None:
            operands.pop()
        return operands, {name: value for name, value in bound.items() if value is not None}

    def arguments(self, operands: list[Any], attributes: dict[str, Any]) -> dict[str, Any]:
        """The keyword arguments, defaults included, with which creator(**arguments) makes a layer of these operands and attributes."""
        out: dict[str, Any] = {}
        for k, (name, _, any_number) in enumerate(self.operands):
            out[name] = operands[k:] if any_number else operands[k] if k < len(operands) else None
        return out | self.defaults | {name: value for name, value in attributes.items() if name not in NAMES_THE_PLUGIN}

    def node_of(self, operands: list[Value | None], fields: dict[str, Any]) -> tuple[dict[str, Any], int]:
        """The attributes of a layer of these operands and fields, and the number of its outputs."""
        return fields, self.num_outputs or count_outputs(self, operands, fields)

    @property
    def field_names(self) -> PluginFieldCollection:
        return PluginFieldCollection(PluginField(name, b"", kind) for name, (kind, _) in self._rules.items())

    def create_plugin(self, name: str, field_collection: Iterable[PluginField], phase: TensorRTPhase = TensorRTPhase.BUILD) -> Plugin:
        """Raises ValueError for a phase that only an engine has, TypeError for data that are not of the field's type."""
        if phase is not TensorRTPhase.BUILD:
            raise ValueError(f"plugin {self.name}: a network is built in the phase BUILD; in RUNTIME engines make their plugins themselves")
        return Plugin(self, name, {field.name: self._attribute(field) for field in field_collection})

    def _attribute(self, field: PluginField) -> Any:
        if field.type is PluginFieldType.CHAR:
            return _text(field)
        if field.type is PluginFieldType.UNKNOWN:
            return np.frombuffer(field.data if isinstance(field.data, bytes) else np.asarray(field.data).tobytes(), np.uint8).copy()
        if field.type not in FLOATS | INTS:
            raise NotImplementedError(f"not supported yet: field {field.name!r} of type {field.type.name}")
        array = np.atleast_1d(np.asarray(field.data))
        if array.dtype.kind not in ("iufb" if field.type in FLOATS else "iub"):
            raise TypeError(f"field {field.name!r} is {field.type.name}, and its data are {array.dtype}")
        values = [float(v) if field.type in FLOATS else int(v) for v in array.ravel().tolist()]
        _, length = self._rules.get(field.name, (None, 1))
        return values[0] if len(values) == 1 and length == 1 else values

    def __repr__(self) -> str:
        return f"<PluginCreator {self.plugin_namespace}::{self.name}, version {self.plugin_version}, of {self.library}>"


def _text(field: PluginField) -> str:
    if isinstance(field.data, str):
        return field.data
    data = field.data if isinstance(field.data, bytes) else np.asarray(field.data).astype(np.uint8).tobytes()
    return data.removesuffix(b"\0").decode()


def count_outputs(creator: PluginCreator, operands: list[Value | None], attributes: dict[str, Any]) -> int:
    """The number of outputs of a plugin whose op may have any number: the largest that the plugin accepts, tried in a scratch graph."""

    def takes(count: int) -> bool:
        graph = Graph()
        try:
            graph.insert(creator.node_op, [_twin(graph, v) for v in operands], attributes, outputs=count, domain=creator.domain)
        except TenonError:
            return False
        return True

    return next((count - 1 for count in range(2, MOST_OUTPUTS + 1) if not takes(count)), MOST_OUTPUTS)


def _twin(graph: Graph, value: Value | None) -> Value | None:
    """A value of `graph` with the type of `value`; a constant where `value` is one."""
    if value is None:
        return None
    if value.is_constant:
        return graph.add_constant(value.array())
    sizes = None if value.shape is None else [size if isinstance(size, int) else None for size in value.shape]
    return graph.add_input(value.name, value.dtype, sizes)
