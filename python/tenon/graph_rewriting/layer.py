# SPDX-License-Identifier: Apache-2.0
"""One layer of a network."""

from __future__ import annotations

from enum import Enum
from typing import Any

from ..rewriting import Node, Value
from .interfaces import DeclaredNetwork
from .kinds import Plugin, kind_of, operation_of
from .tensor import Tensor
from .trt import LayerType


class NativeLayer:
    """The result of Layer.as_layer(), as TensorRT's layers: type, operation and attributes, each attribute as a member."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer

    @property
    def type(self) -> LayerType:
        return self._layer.type

    @property
    def name(self) -> str:
        return self._layer.name

    @property
    def num_inputs(self) -> int:
        return self._layer.num_inputs

    @property
    def num_outputs(self) -> int:
        return self._layer.num_outputs

    @property
    def op(self) -> Enum | None:
        """The operation, ElementWiseOperation.SUM and the like; None where the layer's type has only one."""
        return operation_of(self._layer.node) if isinstance(self._layer.node, Node) else None

    @property
    def plugin(self) -> Plugin:
        if self.type != LayerType.PLUGIN_V2:
            raise AttributeError("plugin")
        return Plugin(self._layer.node)

    def get_input(self, index: int) -> Tensor | None:
        return self._layer.get_inputs(index)[0]

    def get_output(self, index: int) -> Tensor:
        return self._layer.get_outputs(index)[0]

    def __getattr__(self, name: str) -> Any:
        attributes = self._layer.attributes
        if name in attributes:
            return attributes[name]
        known = ", ".join(attributes) or "none"
        raise AttributeError(f"layer {self.name} ({self._layer.op_type}) has no attribute {name!r}; it has {known}")


class Layer:
    """A thin handle: any number of them may refer to one layer, and they are equal. `node`: the engine's node, or the value of a weight
    that no node makes (a CONSTANT layer without inputs)."""

    __slots__ = ("network", "node")

    def __init__(self, network: DeclaredNetwork, node: Node | Value) -> None:
        self.network = network
        self.node = node

    @property
    def name(self) -> str:
        if not self.node.alive:
            return self.network.removed_name(self.node)
        return self.network.name_of(self.node) if isinstance(self.node, Node) else self.node.ensure_name()

    @property
    def op_type(self) -> str:
        return self.node.op_type if isinstance(self.node, Node) else "Constant"

    @property
    def type(self) -> LayerType:
        return kind_of(self.node.op_type, self.node.domain) if isinstance(self.node, Node) else LayerType.CONSTANT

    @property
    def attributes(self) -> dict[str, Any]:
        return self.node.attributes if isinstance(self.node, Node) else {}

    def as_layer(self) -> NativeLayer:
        return NativeLayer(self)

    def _operands(self) -> list[Value | None]:
        return self.node.inputs if isinstance(self.node, Node) else []

    def _results(self) -> list[Value | None]:
        if not self.node.alive:
            return []
        return self.node.outputs if isinstance(self.node, Node) else [self.node]

    @property
    def num_inputs(self) -> int:
        return len(self._operands())

    @property
    def num_outputs(self) -> int:
        return len(self._results())

    def get_inputs(self, *indices: int) -> list[Tensor | None]:
        """The operands at these indices, None where one is missing; without indices all that are there. Raises IndexError."""
        return self._pick(self._operands(), indices, "input")

    def get_outputs(self, *indices: int) -> list[Tensor]:
        """The results at these indices; without indices all. An erased layer has none. Raises IndexError."""
        return self._pick(self._results(), indices, "output")

    def _pick(self, values: list[Value | None], indices: tuple[int, ...], what: str) -> list[Any]:
        def tensor(value: Value | None) -> Tensor | None:
            return None if value is None else Tensor(value=value, network=self.network)

        if not indices:
            return [tensor(value) for value in values if value is not None]
        for k in indices:
            if not 0 <= k < len(values):
                raise IndexError(f"layer {self.name} has {len(values)} {what}s: there is no {what} {k}")
        return [tensor(values[k]) for k in indices]

    def is_removed(self) -> bool:
        return self.network.is_removed_layer(self)

    def mark_as_removed(self) -> None:
        """Patterns are not called for the layer any more. It is erased as soon as its outputs have no users."""
        self.network.mark_removed_layer(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layer) and self.node == other.node

    def __hash__(self) -> int:
        return hash(self.node)

    def __repr__(self) -> str:
        return f"<Layer {self.name}: {self.op_type if self.node.alive else 'gone'}>"
