# SPDX-License-Identifier: Apache-2.0
"""The graph as patterns see it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any, Self

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh

from ..rewriting import Graph, Rewriter
from .bodies import names_read_by, read_alone
from .graph_queries import GraphQueries

AXES_OPERAND = {"Squeeze", "Unsqueeze"}
OF_THE_NODE_ALONE = {f"{side}{what}" for side in ("in", "out") for what in ("types", "shapes", "valueshapes")}


class PatternView(GraphQueries):
    """The interface of a graph for patterns: queries, and nodes for `apply` to return.

    `match` gets one that only looks; `apply` one that can make initializers as well.
    """

    def __init__(self, builder: GraphQueries | Graph, processor: str = "CPU", verbose: int = 0) -> None:
        super().__init__(builder if isinstance(builder, Graph) else builder.graph)
        self.builder = builder
        self.processor = processor
        self.verbose = verbose
        self._rewriter: Rewriter | None = None
        self._given: set[str] = set()

    def of(self, graph: Graph) -> Self:
        """The same view of another graph, a body."""
        view = copy(self)
        view._look_at(graph)
        view._given = set()
        return view

    @contextmanager
    def changing(self, rewriter: Rewriter) -> Iterator[None]:
        """The context of an `apply`, in which nodes may be made."""
        self._rewriter = rewriter
        self._given.clear()
        try:
            yield
        finally:
            self._rewriter = None

    @property
    def opsets(self) -> dict[str, int]:
        return self.builder.opsets if isinstance(self.builder, GraphQueries) else super().opsets

    # --- local functions -----------------------------------------------------------------------------------

    def has_local_function(self, name: str, domain: str = "", builder: bool = False) -> bool:
        return self.builder.has_local_function(name, domain=domain, builder=builder)

    def make_local_function(self, builder: Any, function_options: Any, **rest: Any) -> Any:
        return self.builder.make_local_function(builder, function_options, **rest)

    def has_processor(self, name: str) -> bool:
        return name.upper() in self.processor.upper().split(",")

    @staticmethod
    def _propagate_metadata(old_nodes: list[onnx.NodeProto | None], new_nodes: list[onnx.NodeProto | None]) -> None:
        """Copies metadata on which the old nodes agree, but for types and shapes, to the new ones. (The engine does so itself.)"""
        merged: dict[str, set[str]] = {}
        for entry in (e for node in old_nodes if node is not None for e in node.metadata_props if e.key not in OF_THE_NODE_ALONE):
            merged.setdefault(entry.key, set()).add(entry.value)
        for node in (n for n in new_nodes if n is not None):
            for key, values in merged.items():
                if len(values) == 1:
                    node.metadata_props.add(key=key, value=next(iter(values)))

    def _chech_graph_verifies(self, node: onnx.NodeProto) -> None:
        """Checks the node against its operator's schema. Raises AssertionError."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            read_alone(node, {name: self._value(name) for name in names_read_by(node)})
        assert not caught, str(caught[0].message)

    # --- making nodes --------------------------------------------------------------------------------------

    def unique_name(self, prefix: str) -> str:
        """A name that neither the graph nor a node of this rewrite has."""
        name, k = prefix, 0
        while self._find(name) is not None or name in self._given:
            k += 1
            name = f"{prefix}_{k}"
        self._given.add(name)
        return name

    def make_node(
        self,
        op_type: str,
        inputs: str | list[str],
        outputs: int | str | list[str] = 1,
        name: str | None = None,
        domain: str = "",
        attributes: list[onnx.AttributeProto] | None = None,
        doc_string: str = "",
        **kwargs: Any,
    ) -> onnx.NodeProto:
        """A node, not yet in the graph. outputs: their names, or how many."""
        inputs = [inputs] if isinstance(inputs, str) else inputs
        if isinstance(outputs, int):
            outputs = [self.unique_name(f"{op_type.lower()}_{k}") for k in range(outputs)]
        outputs = [self.unique_name(outputs)] if isinstance(outputs, str) else outputs
        given = {k: onh.from_array(v) if isinstance(v, np.ndarray) else v for k, v in kwargs.items() if v is not None}
        node = oh.make_node(op_type, list(inputs), list(outputs), name=name or "", domain=domain, doc_string=doc_string, **given)
        node.attribute.extend(attributes or [])
        return node

    def make_node_check_opset(
        self,
        op_type: str,
        inputs: str | list[str],
        outputs: int | str | list[str] = 1,
        domain: str = "",
        name: str | None = None,
        **kwargs: Any,
    ) -> onnx.NodeProto:
        """Squeeze and Unsqueeze, whose `axes` are an attribute up to opset 12 and an operand from 13 on. Others raise RuntimeError."""
        assert not domain, f"{domain}.{op_type}: expected an operator of the default domain"
        if op_type not in AXES_OPERAND:
            raise RuntimeError(f"{op_type}: expected one of {', '.join(sorted(AXES_OPERAND))}")
        inputs = [inputs] if isinstance(inputs, str) else list(inputs)
        axes = kwargs.pop("axes", None)
        if axes is not None:
            axes = [axes] if isinstance(axes, int) else list(axes)
            if self.main_opset < 13:
                kwargs["axes"] = axes
            else:
                inputs = [*inputs[:1], self.make_initializer("", np.array(axes, dtype=np.int64))]
        return self.make_node(op_type, inputs, outputs, name=name, **kwargs)

    _make_node = make_node

    def make_initializer(self, name: str, value: Any, source: str = "", give_unique_name: bool = True, **_: Any) -> str:
        """Returns the name that it got. Not while `match` runs, which must not change the graph."""
        array = onh.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
        name = self.unique_name(name or "init") if give_unique_name else name
        if self._rewriter is not None:
            return self._rewriter.constant(array, name=name).name
        return self.graph.add_constant(array, name).name
