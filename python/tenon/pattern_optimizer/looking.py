# SPDX-License-Identifier: Apache-2.0
"""What a graph knows of its results: types, shapes, constants, users. Results are named, as in ONNX."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import onnx

from .. import _tenon
from ..rewriting import Graph, Value
from .nodes import NodeView, attribute_value, name_of


class Looking:
    """Questions about a graph. Unknown names raise KeyError."""

    graph: Graph

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._devices: dict[str, int] = {}

    def _find(self, name: str) -> Value | None:
        value = self.graph.find(name)
        if value is None and name in self.graph.output_names:  # an output may go by another name than its value
            value = self.graph.outputs[self.graph.output_names.index(name)]
        return value

    def _value(self, name: str) -> Value:
        value = self._find(name)
        if value is None:
            raise KeyError(f"the graph has no result {name!r}")
        return value

    # --- opsets, names -------------------------------------------------------------------------------------

    @property
    def main_opset(self) -> int:
        """Of the operators as patterns see them: always the newest. Export chooses the lowest opset that says every node."""
        return _tenon.newest_opset

    @property
    def opsets(self) -> dict[str, int]:
        return {**dict(self.graph.opsets), "": self.main_opset}

    @property
    def input_names(self) -> list[str]:
        return [name_of(v) for v in self.graph.inputs]

    @property
    def output_names(self) -> list[str]:
        return list(self.graph.output_names)

    inputs = input_names
    outputs = output_names

    @property
    def nodes(self) -> list[NodeView]:
        return [NodeView(n) for n in self.graph.nodes]

    def iter_nodes(self) -> Iterable[NodeView]:
        return iter(self.nodes)

    def unique_name(self, prefix: str) -> str:
        return self.graph.unique_name(prefix)

    def get_position(self, node: NodeView) -> int:
        return self.graph.nodes.index(node.node)

    # --- types, shapes, devices ----------------------------------------------------------------------------

    def has_type(self, name: str) -> bool:
        return self._value(name).dtype is not None

    def get_type(self, name: str) -> int:
        """ONNX's number of the element type."""
        if not self.has_type(name):
            raise ValueError(f"the type of {name!r} is not known")
        return self._value(name).onnx_dtype

    def has_rank(self, name: str) -> bool:
        return self._value(name).shape is not None

    def get_rank(self, name: str) -> int:
        return len(self.get_shape(name))

    def has_shape(self, name: str, full: bool = False) -> bool:
        """`full`: every dimension is a number."""
        shape = self._value(name).shape
        return shape is not None and None not in shape and (not full or all(isinstance(d, int) for d in shape))

    def get_shape(self, name: str) -> tuple[int | str, ...]:
        """Numbers, and texts of symbolic sizes."""
        shape = self._value(name).shape
        if shape is None:
            raise ValueError(f"the shape of {name!r} is not known")
        return shape

    def try_infer_type(self, name: str, exc: bool = False) -> int:
        """0 where the type is not known."""
        return self.get_type(name) if exc or self.has_type(name) else 0

    def try_infer_shape(self, name: str, exc: bool = False) -> tuple[int | str, ...] | None:
        return self.get_shape(name) if exc or self.has_shape(name) else None

    def same_shape(self, a: str, b: str) -> bool:
        """Known, and equal for every value of the symbols (equal sizes have equal texts)."""
        return self.has_shape(a) and self.has_shape(b) and self.get_shape(a) == self.get_shape(b)

    def has_device(self, name: str) -> bool:
        self._value(name)
        return name in self._devices

    def get_device(self, name: str) -> int:
        """-1: the CPU."""
        if not self.has_device(name):
            raise ValueError(f"the device of {name!r} is not known")
        return self._devices[name]

    def set_device(self, name: str, device: int | str) -> None:
        self._value(name)
        self._devices[name] = -1 if device == "cpu" else int(device)

    # --- constants -----------------------------------------------------------------------------------------

    def is_constant(self, name: str) -> bool:
        """A constant, or a result that follows from constants alone."""
        return self._value(name).is_computable

    def get_computed_constant(self, name: str, statistics: list[str] | None = None) -> np.ndarray | list[Any] | None:
        """The constant, computed where it has to be; None where it is none. `statistics`: "min", "max", ... of it instead."""
        array = self._value(name).compute()
        if array is None or statistics is None:
            return array
        return [getattr(array, s)() for s in statistics]

    def get_constant_shape(self, name: str) -> tuple[int, ...]:
        if not self.is_constant(name):
            raise ValueError(f"{name!r} is no constant")
        shape = self.get_shape(name)
        return tuple(int(d) for d in shape)

    def is_constant_scalar(self, name: str, value: Any = None, broadcast: bool = False) -> bool:
        """One element (with `broadcast`: all elements equal); `value`: and equal to that."""
        if not self.is_constant(name):
            return False
        array = self.get_computed_constant(name)
        if array is None or array.size == 0 or (array.size != 1 and not (broadcast and (array == array.flat[0]).all())):
            return False
        return value is None or bool(array.flat[0] == np.asarray(value).astype(array.dtype))

    def get_constant_scalar(self, name: str, broadcast: bool = False) -> Any:
        if not self.is_constant_scalar(name, broadcast=broadcast):
            raise ValueError(f"{name!r} is no constant scalar")
        return self.get_computed_constant(name).flat[0].item()

    # --- attributes ----------------------------------------------------------------------------------------

    def get_attribute(self, node: Any, att_name: str, exc: bool = True) -> onnx.AttributeProto | None:
        for attribute in node.attribute:
            if attribute.name == att_name:
                return attribute
        if exc:
            raise KeyError(f"{node!r} has no attribute {att_name!r}")
        return None

    def get_attribute_with_default(self, node: Any, name: str, default_value: Any) -> Any:
        attribute = self.get_attribute(node, name, exc=False)
        return default_value if attribute is None else attribute_value(attribute)

    def get_attributes_with_default(self, node: Any, **defaults: Any) -> dict[str, Any]:
        return {k: self.get_attribute_with_default(node, k, v) for k, v in defaults.items()}

    def get_axis(self, node: Any, default_axis: int | None = None) -> int:
        axis = self.get_attribute_with_default(node, "axis", default_axis)
        if axis is None:
            raise KeyError(f"{node!r} has no axis")
        return axis

    def get_constant_or_attribute(self, node: Any, attribute: str, input_index: int, cvt: Any = None) -> Any:
        """The same thing where newer operators have it as an operand and older ones as an attribute."""
        found = self.get_attribute_with_default(node, attribute, None)
        if found is None and input_index < len(node.input) and node.input[input_index]:
            found = self.get_computed_constant(node.input[input_index])
        return found if cvt is None or found is None else cvt(found)

    # --- neighbours ----------------------------------------------------------------------------------------

    def node_before(self, name: str) -> NodeView | None:
        """None for inputs, constants and missing operands."""
        producer = self._value(name).producer if name else None
        return None if producer is None else NodeView(producer)

    def next_nodes(self, name: str) -> list[NodeView]:
        """Nodes with the result among their inputs, each once; bodies that read it do not count (see is_used_by_subgraph)."""
        value = self._value(name)
        return [NodeView(n) for n in value.users if value in n.inputs]

    def next_node(self, name: str) -> NodeView | None:
        """The one node that uses the result; None where there is another number of them."""
        found = self.next_nodes(name)
        return found[0] if len(found) == 1 else None

    def is_output(self, name: str) -> bool:
        return name in self.graph.output_names or self._value(name).is_output

    def is_used(self, name: str) -> bool:
        return self._value(name).use_count > 0

    def is_used_by_subgraph(self, name: str) -> bool:
        """A body of If, Loop or Scan reads it."""
        return self._value(name).is_captured

    def is_used_more_than_once(self, name: str) -> bool:
        """By a body, as an output of the graph, or by more than one node."""
        return self.is_used_by_subgraph(name) or self.is_output(name) or len(self.next_nodes(name)) > 1

    def is_used_only_by(self, name: str, *nodes: NodeView) -> bool:
        return not self.is_used_by_subgraph(name) and not self.is_output(name) and all(n in nodes for n in self.next_nodes(name))
