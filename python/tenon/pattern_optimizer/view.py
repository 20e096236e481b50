# SPDX-License-Identifier: Apache-2.0
"""The graph as patterns see it."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh

from ..rewriting import Graph, Rewriter
from .looking import Looking

# Operators that once had their axes as an attribute and have them as an operand now.
AXES_OPERAND = {"Squeeze", "Unsqueeze"} | {
    f"Reduce{kind}" for kind in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare")
}


class PatternView(Looking):
    """Looks at a graph for patterns, and makes the nodes with which they answer.

    `match` gets one that only looks; `apply` one that can make initializers as well.
    """

    def __init__(self, builder: Looking | Graph, processor: str = "CPU", verbose: int = 0) -> None:
        super().__init__(builder if isinstance(builder, Graph) else builder.graph)
        self.builder = builder
        self.processor = processor
        self.verbose = verbose
        self._rewriter: Rewriter | None = None
        self._given: set[str] = set()

    def of(self, graph: Graph, verbose: int, rewriter: Rewriter | None = None) -> Self:
        """The same view of another graph, a body; with `rewriter` for an `apply`."""
        view = copy(self)
        view.graph = graph
        view.verbose = verbose
        view._rewriter = rewriter
        view._given = set()
        return view

    def has_processor(self, name: str) -> bool:
        return name.upper() in self.processor.upper().split(",")

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
        outputs = [outputs] if isinstance(outputs, str) else outputs
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
        """The same for operators that changed: `axes` becomes an operand where the newest operator wants one."""
        inputs = [inputs] if isinstance(inputs, str) else list(inputs)
        axes = kwargs.pop("axes", None) if op_type in AXES_OPERAND and not domain else None
        if axes is not None:
            axes = [axes] if isinstance(axes, int) else list(axes)
            inputs = [*inputs[:1], self.make_initializer("", np.array(axes, dtype=np.int64))]
        return self.make_node(op_type, inputs, outputs, name=name, domain=domain, **kwargs)

    def make_initializer(self, name: str, value: Any, source: str = "") -> str:
        """Only while `apply` runs. Returns the name that it got."""
        if self._rewriter is None:
            raise RuntimeError("match must not change the graph: initializers are made in apply")
        array = onh.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
        return self._rewriter.constant(array, name=self.unique_name(name or "init")).name
