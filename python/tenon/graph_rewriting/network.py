# SPDX-License-Identifier: Apache-2.0
"""A declared network: one of Tenon's graphs, and what graph rewriting stores about its layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..rewriting import Graph, Node, Value
from .context import net_guard
from .flayer import FLayerInfoMemo
from .kinds import kind_of, operation_of
from .layer import Layer, NativeLayer
from .plugins import Plugin, PluginCreator
from .tensor import Tensor
from .trt import DataType, LayerType
from .undo_log import UndoLog

SHAPE_INPUTS = "tensorrt_plugin_shape_input_indices"


class Network:
    """Layers, and the tensors between them. `graph` is a graph of tenon.rewriting: all of its functions work on it."""

    strongly_typed = True  # an element type is never converted silently

    def __init__(self, graph: Graph | None = None) -> None:
        self.graph = Graph() if graph is None else graph
        self.flayer_memo = FLayerInfoMemo(self)
        self.undo_log = UndoLog()
        self.is_graph_altered = False
        self._layers: dict[str, Node] = {}
        self._counts: Counter[str] = Counter()
        self._removed: dict[Node, str] = {}
        self._insertion_point: Node | None = None
        if graph is not None:
            for node in self.graph.nodes:
                self.name_of(node)

    # --- queries ---------------------------------------------------------------------------------------------------
    def get_layers(self) -> list[Layer]:
        """All layers in a topological order, including those marked as removed that are still in the graph."""
        return [Layer(self, node) for node in self.graph.nodes]

    def get_layer_by_name(self, name: str) -> Layer | None:
        node = self._layers.get(name)
        return Layer(self, node) if node is not None and node.alive else None

    def get_inputs(self) -> list[Tensor]:
        return [Tensor(value=value, network=self) for value in self.graph.inputs]

    def get_outputs(self) -> list[Tensor]:
        return [Tensor(value=value, network=self) for value in self.graph.outputs]

    def is_input(self, tensor: Tensor) -> bool:
        return tensor.value.alive and tensor.value.kind == "input"

    def is_output(self, tensor: Tensor) -> bool:
        return tensor.value.alive and tensor.value.is_output

    def get_tensor_users(self, tensor: Tensor) -> list[Layer]:
        """The layers that use the tensor, each once. A tensor that is gone has none."""
        return [Layer(self, node) for node in tensor.value.users] if tensor.value.alive else []

    def get_tensor_parent(self, tensor: Tensor) -> Layer | None:
        """The layer whose output the tensor is; None for an input of the network. The parent of a weight is a CONSTANT layer."""
        if not tensor.value.alive or tensor.value.kind == "input":
            return None
        return Layer(self, tensor.value if tensor.value.is_constant else tensor.value.producer)

    @property
    def num_layers(self) -> int:
        return len(self.graph)

    def to_dot(self, path: str | Path | None = None) -> str:
        """The picture as Graphviz text; also written to `path`."""
        text = self.graph.dot()
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text

    def evaluate(self, inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray]) -> dict[str, np.ndarray]:
        """The outputs by name, computed by the ops' references."""
        return self.graph.evaluate(inputs)

    # --- removed layers --------------------------------------------------------------------------------------------
    @property
    def removed_layers(self) -> set[str]:
        return set(self._removed.values())

    def is_removed_layer(self, layer: Layer) -> bool:
        return not layer.node.alive or layer.node in self._removed

    def mark_removed_layer(self, layer: Layer) -> None:
        if layer.node in self._removed or not layer.node.alive:
            return
        self._removed[layer.node] = layer.name
        self.undo_log.record(lambda: self._removed.pop(layer.node, None))
        self.flayer_memo.remove(layer.name)

    def removed_name(self, node: Node) -> str:
        return self._removed.get(node, "")

    def prune(self) -> int:
        """Erases the layers whose outputs have no users, as building an engine does. Returns how many."""
        return self.graph.remove_dead()

    # --- building --------------------------------------------------------------------------------------------------
    def mark_output(self, tensor: Tensor, name: str | None = None, dtype: DataType | None = None) -> None:
        """One more output. With another `dtype` a cast comes before it."""
        if dtype is not None and dtype != tensor.dtype:
            tensor = tensor.cast(dtype)
        self.graph.add_output(tensor.value, name or tensor.name)

    def insert(
        self,
        op_type: str,
        inputs: Iterable[Value | None],
        attributes: Mapping[str, Any] | None = None,
        *,
        outputs: int = 1,
        domain: str = "",
        kind: str = "",
    ) -> list[Tensor]:
        """Adds a layer and returns its outputs. It is at the end, or, while a layer is rewritten, before that layer."""
        operands = list(inputs)
        node = self.graph.insert(op_type, operands, dict(attributes or {}), outputs=outputs, domain=domain, **self._place_for(operands))
        name = self._give_name(node, kind)
        for k, value in enumerate(node.outputs):
            value.name = f"{name}_output_{k}"
        self.flayer_memo.layer_made(name)
        return [Tensor(value=value, network=self) for value in node.outputs]

    def add_plugin_v2(self, inputs: Iterable[Tensor | None], plugin: Plugin) -> NativeLayer:
        """A layer of a plugin; None: an input that is missing. Raises TenonError, with all that is wrong with fields and inputs."""
        return self._add_plugin([None if tensor is None else tensor.value for tensor in inputs], plugin, plugin.attributes)

    def add_plugin_v3(self, inputs: Iterable[Tensor | None], shape_inputs: Iterable[Tensor], plugin: Plugin) -> NativeLayer:
        """The same; shape_inputs: integers whose values the plugin reads when it infers sizes."""
        operands = [None if tensor is None else tensor.value for tensor in inputs]
        shapes = [tensor.value for tensor in shape_inputs]
        which = list(range(len(operands), len(operands) + len(shapes)))
        return self._add_plugin([*operands, *shapes], plugin, plugin.attributes | ({SHAPE_INPUTS: which} if which else {}))

    def _add_plugin(self, operands: list[Value | None], plugin: Plugin, attributes: dict[str, Any]) -> NativeLayer:
        made = self.insert_plugin(operands, plugin.creator, attributes)
        return Layer(self, made[0].value.producer).as_layer()

    def insert_plugin(self, operands: list[Value | None], creator: PluginCreator, fields: dict[str, Any]) -> list[Tensor]:
        attributes, outputs = creator.node_of(operands, fields)
        kind = f"{LayerType.PLUGIN_V2.name}_{creator.name}"
        return self.insert(creator.node_op, operands, attributes, outputs=outputs, domain=creator.domain, kind=kind)

    def parameter(self, array: np.ndarray | Sequence[int]) -> Value:
        """A constant operand that is no layer of its own: axes, sizes, an epsilon."""
        return self.graph.add_constant(array if isinstance(array, np.ndarray) else np.asarray(array, np.int64))

    def _place_for(self, operands: list[Value | None]) -> dict[str, Node]:
        place = self._insertion_point
        if place is None or not place.alive:
            return {}
        last: Node | None = None
        for operand in operands:
            maker = operand.producer if operand is not None else None
            if maker is not None and not maker.is_before(place) and (last is None or last.is_before(maker)):
                last = maker
        return {"before": place} if last is None else {"after": last}

    def _give_name(self, node: Node, kind: str = "") -> str:
        operation = operation_of(node)
        stem = kind or "_".join([kind_of(node.op_type, node.domain).name, *([operation.name] if operation else [])])
        while True:
            name = f"{stem}_{self._counts[stem]}"
            self._counts[stem] += 1
            if name not in self._layers:
                break
        node.name = name
        self._layers[name] = node
        return name

    def name_of(self, node: Node) -> str:
        """The unique name of a layer; a layer without one gets it now."""
        name = node.name
        known = self._layers.get(name)
        if name and known == node:
            return name
        if name and (known is None or not known.alive):
            self._layers[name] = node
            return name
        return self._give_name(node)

    @contextmanager
    def rewriting_at(self, node: Node) -> Iterator[None]:
        """In this context functionals insert layers into this network, before `node`."""
        before, self._insertion_point = self._insertion_point, node
        try:
            with net_guard(self):
                yield
        finally:
            self._insertion_point = before
