# SPDX-License-Identifier: Apache-2.0
"""Adds nodes to a graph, by the names of their operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper as onh

from ..rewriting import Graph, Value
from .graph_queries import GraphQueries
from .nodes import attribute_value, name_of

Names = str | tuple[str, ...]


class Operators:
    """`g.op.MatMul(x, w, ...)`: adds a node; gives the name of its result, or a tuple of names.

    Arrays and numbers among the operands become initializers; None or "" is a missing operand.
    """

    def __init__(self, builder: Building) -> None:
        self._builder = builder

    def __getattr__(self, op_type: str) -> Callable[..., Names]:
        if op_type.startswith("_"):
            raise AttributeError(op_type)

        def add(
            *inputs: Any, outputs: int | Sequence[str] | None = None, domain: str = "", name: str | None = None, **attributes: Any
        ) -> Names:
            return self._builder.make_node(op_type.removesuffix("AnyOpset"), list(inputs), outputs, domain=domain, name=name, **attributes)

        return add


class Building(GraphQueries):
    """Adds nodes to a graph by the names of their operands."""

    infer = True

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.op = self.anyop = Operators(self)
        self.known_types: dict[str, tuple[int, Any]] = {}  # type and shape of results whose nodes are not inserted yet

    def _insert(self, op_type: str, operands: list[Value | None], attributes: dict[str, Any], outputs: int, domain: str) -> list[Value]:
        return self.graph.insert(op_type, operands, attributes, outputs=outputs, domain=domain, infer=self.infer).outputs

    def _constant(self, array: np.ndarray, name: str = "") -> Value:
        return self.graph.add_constant(array, name)

    def _operand(self, given: Any) -> Value | None:
        if given is None or (isinstance(given, str) and given == ""):
            return None
        if isinstance(given, Value):
            return given
        return self._value(given) if isinstance(given, str) else self._constant(_array(given))

    def make_initializer(self, name: str, value: Any, source: str = "") -> str:
        """Returns the name that it got."""
        return name_of(self._constant(_array(value), name))

    def set_type(self, name: str, elem_type: int) -> None:
        """Of a result, or of one that the nodes of an `apply` are going to make. 0 and less: the type is not known."""
        if elem_type > 0:
            self._set_known(name, elem_type, None)

    def set_shape(self, name: str, shape: Sequence[int | str | None]) -> None:
        self._set_known(name, 0, tuple(shape))

    def _set_known(self, name: str, elem_type: int, shape: tuple[int | str | None, ...] | None) -> None:
        value = self._find(name)
        known = self.known_types.get(name, (0, None)) if value is None else (value.onnx_dtype, value.shape)
        wanted = (elem_type or known[0], shape if shape is not None else known[1])
        if value is None:
            self.known_types[name] = wanted
        elif wanted != known:
            value.set_type(wanted[0] or None, wanted[1])

    def set_rank(self, name: str, rank: int) -> None:
        if not self.has_rank(name):
            self.set_shape(name, [None] * rank)

    def make_node(
        self,
        op_type: str,
        inputs: str | Sequence[Any],
        outputs: int | str | Sequence[str] | None = None,
        domain: str = "",
        attributes: Sequence[onnx.AttributeProto] = (),
        name: str | None = None,
        check: bool | None = None,
        **kwargs: Any,
    ) -> Names:
        """Adds a node of the newest operator. outputs: names, or how many; as many as the operator must have where nothing is said.

        Returns the name of its result, or a tuple of names. Raises TenonError where the operator does not take such operands.
        """
        names = [outputs] if isinstance(outputs, str) else list(outputs) if isinstance(outputs, Sequence) else []
        count = len(names) if names else -1 if outputs is None else outputs
        given = {**{a.name: attribute_value(a) for a in attributes}, **{k: _plain(v) for k, v in kwargs.items()}}
        if op_type == "Constant" and not domain:
            return name_of(self._constant(_array(next(iter(given.values()))), names[0] if names else ""))
        operands = [self._operand(i) for i in ([inputs] if isinstance(inputs, str) else inputs)]
        values = self._insert(op_type, operands, given, count, domain)
        for value, wanted in zip(values, names, strict=False):
            if wanted:
                value.name = wanted
        if name:
            values[0].producer.name = name
        found = tuple(name_of(v) for v in values)
        return found[0] if len(found) == 1 else found


def _array(value: Any) -> np.ndarray:
    if isinstance(value, onnx.TensorProto):
        return onh.to_array(value)
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    array = np.array(value)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _plain(value: Any) -> Any:
    return onh.to_array(value) if isinstance(value, onnx.TensorProto) else value
