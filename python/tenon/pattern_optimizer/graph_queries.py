# SPDX-License-Identifier: Apache-2.0
"""Queries of a graph's results: types, shapes, constants, users. Results are named, as in ONNX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import onnx

from .. import _tenon
from ..rewriting import Graph, Node, Value
from .nodes import attribute_value, fill_proto, make_proto, name_of, node_text

Shape = tuple[int | str, ...]


class GraphQueries:
    """Queries of a graph. A node is the same onnx.NodeProto object for as long as it is in the graph.

    Names that the graph does not have are no error where the question is whether something is known; they raise where it must be.
    """

    graph: Graph
    MINUS_ONE = np.array([-1], dtype=np.int64)
    ONE = np.array([1], dtype=np.int64)
    ZERO = np.array([0], dtype=np.int64)
    ONE_NO_DIM = np.array(1, dtype=np.int64)
    ZERO_NO_DIM = np.array(0, dtype=np.int64)

    def __init__(self, graph: Graph) -> None:
        self._look_at(graph)
        self._devices: dict[str, int] = {}

    def _look_at(self, graph: Graph) -> None:
        self.graph = graph
        self.scene = scene = _tenon.Scene(graph, make_proto, fill_proto)
        # The most frequent queries go straight to the engine.
        self.node_before = scene.node_before  # None for inputs, constants and missing operands
        self.next_nodes = scene.next_nodes  # each once, in the graph's order; bodies that read the result do not count
        self.is_output = scene.is_output
        self.is_used = scene.is_used
        self.is_used_by_subgraph = scene.is_used_by_subgraph  # a body of If, Loop or Scan reads it
        self.is_used_more_than_once = scene.is_used_more_than_once  # by a body, as an output of the graph, or by several nodes
        self.has_type = scene.has_type
        self.has_rank = scene.has_rank
        self.is_constant = scene.is_constant  # or follows from constants alone
        self.has_name = lambda name: scene.find(name) is not None

    def _find(self, name: str) -> Value | None:
        return self.scene.find(name)

    def _value(self, name: str) -> Value:
        value = self.scene.find(name)
        if value is None:
            raise KeyError(f"the graph has no result {name!r}")
        return value

    # --- opsets, names -------------------------------------------------------------------------------------

    @property
    def main_opset(self) -> int:
        return self.opsets[""]

    @property
    def opsets(self) -> dict[str, int]:
        """The model's."""
        return {"": _tenon.newest_opset, **dict(self.graph.opsets)}

    @property
    def input_names(self) -> list[str]:
        return [name_of(v) for v in self.graph.inputs]

    @property
    def output_names(self) -> list[str]:
        return list(self.graph.output_names)

    def _infos(self, values: list[Value], names: list[str]) -> list[onnx.ValueInfoProto]:
        return [onnx.helper.make_tensor_value_info(n, v.onnx_dtype, v.shape) for v, n in zip(values, names, strict=True)]

    @property
    def inputs(self) -> list[onnx.ValueInfoProto]:
        return self._infos(self.graph.inputs, self.input_names)

    @property
    def outputs(self) -> list[onnx.ValueInfoProto]:
        return self._infos(self.graph.outputs, self.output_names)

    @property
    def nodes(self) -> list[onnx.NodeProto]:
        return self.scene.objects()

    def iter_nodes(self) -> Iterator[onnx.NodeProto]:
        return iter(self.nodes)

    def unique_name(self, prefix: str) -> str:
        return self.graph.unique_name(prefix)

    def unique_node_name(self, name: str) -> str:
        """The name itself: names of nodes are made unique when the model is written."""
        return name

    def get_position(self, node: onnx.NodeProto) -> int:
        self.scene.looks_everywhere()
        return self.graph.nodes.index(self._node(node))

    def _node(self, node: onnx.NodeProto) -> Node:
        found = self.scene.node_of(node)
        if found is None:
            raise ValueError(f"{node_text(node)} is no node of this graph")
        return found

    # --- types, shapes, devices ----------------------------------------------------------------------------

    def get_type(self, name: str) -> int:
        """ONNX's number of the element type."""
        found = self.scene.type_of(name)
        if not found:
            raise ValueError(f"the type of {name!r} is not known")
        return found

    def has_shape(self, name: str, full: bool = False) -> bool:
        """`full`: every dimension is a number."""
        if not full:
            return self.scene.has_shape(name)
        shape = self.scene.shape_of(name)
        return shape is not None and all(isinstance(d, int) for d in shape)

    def get_rank(self, name: str) -> int:
        shape = self.scene.shape_of(name)
        if shape is None:
            raise ValueError(f"the rank of {name!r} is not known")
        return len(shape)

    def get_shape(self, name: str) -> Shape:
        """Numbers, and texts of symbolic sizes."""
        shape = self.scene.shape_of(name)
        if shape is None:
            raise ValueError(f"the shape of {name!r} is not known")
        return shape

    def get_shape_renamed(self, name: str) -> Shape:
        """The shape in the names that the model's author gave: those are the only ones here."""
        return self.get_shape(name)

    def try_infer_type(self, name: str, exc: bool = False) -> int:
        """0 where the type is not known; with `exc` a RuntimeError."""
        found = self.scene.type_of(name)
        if exc and not found:
            raise RuntimeError(f"the type of {name!r} is not known")
        return found

    def try_infer_shape(self, name: str, exc: bool = False) -> Shape | None:
        """None where the shape is not known; with `exc` a RuntimeError."""
        if self.scene.has_shape(name):
            return self.scene.shape_of(name)
        if exc:
            raise RuntimeError(f"the shape of {name!r} is not known")
        return None

    def same_shape(self, a: str, b: str) -> bool:
        """Known, and equal for every value of the symbols (equal sizes have equal texts)."""
        return self.scene.has_shape(a) and self.scene.has_shape(b) and self.scene.shape_of(a) == self.scene.shape_of(b)

    def pretty_node(self, node: onnx.NodeProto | None, short: bool = False) -> str:
        return "" if node is None else node_text(node)

    def pretty_text(self, *_: Any, **__: Any) -> str:
        """The graph, a line a node."""
        return "\n".join(node_text(node) for node in self.nodes)

    def has_exact_same_constant_in_context(self, name: str) -> bool | None:
        """Bodies have no constants of the same name as an outer one: names are looked up outward, and made unique."""
        return None

    def do_not_turn_constant_initializers_maybe_because_of_showing(self, name: str) -> bool:
        return False

    def value_as_shape(self, name: str) -> tuple[int | str | None, ...] | None:
        """What is known of the elements of a result that holds sizes; None where it is nothing."""
        value = self._find(name)
        return None if value is None else value.elements

    def make_tensor_value_info_from_name(self, name: str) -> onnx.ValueInfoProto:
        value = self._find(name)
        return onnx.ValueInfoProto(name=name) if value is None else self._infos([value], [name])[0]

    def _names_with(self, has: Callable[[str], bool]) -> Iterator[str]:
        self.scene.looks_everywhere()
        return (name for name in map(name_of, self.graph.values) if has(name))

    @property
    def _known_types(self) -> dict[str, int]:
        return {name: self.get_type(name) for name in self._names_with(self.has_type)}

    @property
    def _known_shapes(self) -> dict[str, Shape]:
        return {name: self.get_shape(name) for name in self._names_with(self.has_shape)}

    @property
    def _known_value_shape(self) -> dict[str, tuple[int | str | None, ...]]:
        return {name: self.value_as_shape(name) for name in self._names_with(lambda name: self.value_as_shape(name) is not None)}

    def get_registered_constraints(self) -> dict[str, set[str | int]]:
        """Sizes that are equal under different names: none, as equal sizes have one name here."""
        return {}

    def evaluate_dimension_equality_with_constraints(self, dimension: int | str, *terms: int | str) -> bool:
        """Whether a size is another, or the sum of two: (size, a) or (size, a, "+", b)."""
        if len(terms) == 3 and terms[1] == "+":
            a, b = terms[0], terms[2]
            return dimension == a + b if isinstance(a, int) and isinstance(b, int) else dimension in (f"{a}+{b}", f"{a} + {b}")
        return dimension == terms[0]

    def has_device(self, name: str) -> bool:
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

    def get_computed_constant(self, name: str, statistics: list[str] | None = None) -> np.ndarray | list[Any] | None:
        """The constant, computed where it has to be; None where it is none. `statistics`: "min", "max", ... of it instead."""
        value = self._find(name)
        array = None if value is None else value.compute()
        if statistics is None:
            return array
        return [None if array is None else getattr(array, s)() for s in statistics]

    def get_constant(self, name: str, exc: bool = True, as_shape: bool = False, **_: Any) -> np.ndarray | tuple[int, ...] | None:
        """The constant; None, or with `exc` a ValueError, where it is none. as_shape: as a tuple of numbers."""
        array = self.get_computed_constant(name)
        if array is None and exc:
            raise ValueError(f"{name!r} is no constant")
        return tuple(int(i) for i in array) if as_shape and array is not None else array

    def get_constant_shape(self, name: str, exc: bool = True) -> tuple[int, ...] | None:
        if not self.is_constant(name):
            if exc:
                raise ValueError(f"{name!r} is no constant")
            return None
        shape = self.get_shape(name)
        return tuple(int(d) for d in shape)

    def is_constant_scalar(self, name: str, value: Any = None, broadcast: bool = False) -> bool:
        """A constant of rank 0 or of shape [1] (with `broadcast`: one element, whatever the rank); `value`: and equal to that."""
        if not self.is_constant(name):
            return False
        array = self.get_computed_constant(name)
        if array is None or array.size != 1 or (array.ndim > 1 and not broadcast):
            return False
        return value is None or bool(array.flat[0] == value)

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
            raise KeyError(f"{node_text(node)} has no attribute {att_name!r}")
        return None

    def get_attribute_with_default(self, node: Any, name: str, default_value: Any) -> Any:
        attribute = self.get_attribute(node, name, exc=False)
        return default_value if attribute is None else attribute_value(attribute)

    def get_attributes_with_default(self, node: Any, **defaults: Any) -> dict[str, Any]:
        """Those that the node has, and those with a default that is not None."""
        found = {k: self.get_attribute_with_default(node, k, v) for k, v in defaults.items()}
        return {k: v for k, v in found.items() if v is not None}

    def get_axis(self, node: Any, default_axis: int | None = None) -> int:
        axis = self.get_attribute_with_default(node, "axis", default_axis)
        if axis is None:
            raise KeyError(f"{node_text(node)} has no axis")
        return axis

    def get_constant_or_attribute(self, node: Any, attribute: str, input_index: int, cvt: Any = None) -> Any:
        """The same thing where newer operators have it as an operand and older ones as an attribute."""
        found = self.get_attribute_with_default(node, attribute, None)
        if found is None and input_index < len(node.input) and node.input[input_index]:
            found = self.get_computed_constant(node.input[input_index])
        return found if cvt is None or found is None else cvt(found)

    # --- neighbours ----------------------------------------------------------------------------------------

    def next_node(self, name: str) -> onnx.NodeProto:
        """The one node that uses the result."""
        found = self.next_nodes(name)
        if len(found) != 1:
            raise ValueError(f"{name!r} is used by {len(found)} nodes: expected one")
        return found[0]

    def is_used_only_by(self, name: str, *nodes: onnx.NodeProto) -> bool:
        if self.is_used_by_subgraph(name) or self.is_output(name):
            return False
        return all(any(found is node for node in nodes) for found in self.next_nodes(name))
