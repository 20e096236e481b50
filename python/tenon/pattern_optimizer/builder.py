# SPDX-License-Identifier: Apache-2.0
"""A graph: read from a model, or built node by node; optimised, and written as a model again."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper as onh

from ..rewriting import Graph, Value
from .looking import Looking
from .nodes import name_of
from .options import OptimizationOptions

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

        def add(*inputs: Any, outputs: int | Sequence[str] | None = None, domain: str = "", name: str | None = None, **attributes: Any) -> Names:
            return self._builder.make_node(op_type.removesuffix("AnyOpset"), list(inputs), outputs, domain=domain, name=name, **attributes)

        return add


class Building(Looking):
    """Adds nodes to a graph by the names of their operands."""

    infer = True

    def __init__(self, graph: Graph) -> None:
        super().__init__(graph)
        self.op = Operators(self)

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
        from .nodes import attribute_value

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


def _graph_of(model: onnx.ModelProto | bytes | str | os.PathLike[str]) -> tuple[Graph, onnx.ModelProto | None]:
    if isinstance(model, onnx.ModelProto):
        return Graph.from_onnx(model.SerializeToString()), model
    if isinstance(model, bytes):
        return Graph.from_onnx(model), None
    return Graph.from_onnx(os.fspath(model)), None


class GraphBuilder(Building):
    """Holds a model's graph: `GraphBuilder(model)`, from a ModelProto, its bytes or a path; `GraphBuilder(18)` starts an empty one.

    Operators have their newest meaning inside, and all types and shapes that can be known are known: infer_shapes_options needs not be
    asked for. An empty graph is written for the opset given, or the lowest newer one that says every node.
    """

    def __init__(
        self,
        target_opset_or_existing_proto: onnx.ModelProto | bytes | str | os.PathLike[str] | int | dict[str, int] | None = None,
        *,
        infer_shapes_options: Any = None,
        optimization_options: OptimizationOptions | None = None,
        verbose: int = 0,
        ir_version: int | None = None,
    ) -> None:
        given = target_opset_or_existing_proto
        self._source: onnx.ModelProto | None = None
        if given is None or isinstance(given, int | dict):
            graph = Graph()
            opsets = given if isinstance(given, dict) else {} if given is None else {"": given}
            graph.opsets = list(opsets.items())
        else:
            graph, self._source = _graph_of(given)
        super().__init__(graph)
        self.optimization_options = optimization_options or OptimizationOptions(verbose=verbose)
        self.verbose = verbose
        self.ir_version = ir_version

    # --- building ------------------------------------------------------------------------------------------

    def make_tensor_input(self, name: str, elem_type: Any = None, shape: Sequence[int | str | None] | None = None, **_: Any) -> str:
        """shape: numbers, names of sizes, None for a size that is not known; None for an unknown rank."""
        return name_of(self.graph.add_input(name, elem_type, shape))

    def make_tensor_output(self, name: str | Sequence[str], elem_type: Any = None, shape: Any = None, **_: Any) -> Any:
        """Type and shape follow from the nodes; what is given is not needed."""
        if not isinstance(name, str):
            return [self.make_tensor_output(n) for n in name]
        self.graph.add_output(self._value(name), name)
        return name

    @property
    def initializers_dict(self) -> dict[str, np.ndarray]:
        return {name_of(v): v.array() for v in self.graph.values if v.is_constant}

    # --- optimising, writing -------------------------------------------------------------------------------

    def optimize(self) -> list[dict[str, Any]]:
        """In place. Returns rows of statistics, which pandas.DataFrame takes as they are."""
        from .run import optimize
        from .view import GraphBuilderPatternOptimization

        return optimize(self.graph, self.optimization_options, GraphBuilderPatternOptimization(self, verbose=self.verbose))

    def to_onnx(self, optimize: bool = True, return_optimize_report: bool = False) -> Any:
        """The model, optimised first unless told otherwise; with the rows of statistics where asked for."""
        report = self.optimize() if optimize else []
        model = onnx.load_from_string(self.graph.to_onnx())
        if self.ir_version is not None:
            model.ir_version = max(self.ir_version, model.ir_version) if model.functions else self.ir_version
        if self._source is not None:
            self._keep_words(model, self._source)
        return (model, report) if return_optimize_report else model

    @staticmethod
    def _keep_words(model: onnx.ModelProto, source: onnx.ModelProto) -> None:
        """What the source says about itself and no graph knows."""
        model.doc_string = source.doc_string
        model.domain = source.domain
        model.model_version = source.model_version
        model.metadata_props.extend(source.metadata_props)
        model.graph.doc_string = source.graph.doc_string
        model.graph.name = source.graph.name
