# SPDX-License-Identifier: Apache-2.0
"""A model's graph: read, or built node by node; optimised, and written as a model again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import onnx

from ..rewriting import Graph
from .building import Building
from .local_functions import FunctionOptions, LocalFunctions
from .nodes import name_of, read_graph
from .optimizer import GraphBuilderPatternOptimization
from .options import OptimizationOptions
from .run import optimize


def _graph_of(model: onnx.ModelProto | bytes | str | os.PathLike[str]) -> tuple[Graph, onnx.ModelProto | None]:
    model = getattr(model, "proto", model)  # an artifact of another builder
    if isinstance(model, onnx.ModelProto):
        return read_graph(model.SerializeToString()), model
    if isinstance(model, bytes):
        return read_graph(model), None
    return read_graph(os.fspath(model)), None


class GraphBuilder(Building):
    """Holds a model's graph: `GraphBuilder(model)`, from a ModelProto, its bytes or a path; `GraphBuilder(18)` starts an empty one.

    Operators have their newest meaning inside, and all types and shapes that can be known are known: infer_shapes_options needs not be
    asked for. An empty graph is written for the opset given, or the lowest newer one that has every node.
    """

    def __init__(
        self,
        target_opset_or_existing_proto: onnx.ModelProto | bytes | str | os.PathLike[str] | int | dict[str, int] | None = None,
        *,
        infer_shapes_options: Any = None,
        optimization_options: OptimizationOptions | None = None,
        verbose: int = 0,
        ir_version: int | None = None,
        as_function: bool = False,
        **_: Any,
    ) -> None:
        given = target_opset_or_existing_proto
        self._source: onnx.ModelProto | None = None
        if given is None or isinstance(given, int | dict):
            graph = Graph(keep_unknown=True)
            opsets = given if isinstance(given, dict) else {} if given is None else {"": given}
            graph.opsets = list(opsets.items())
        else:
            graph, self._source = _graph_of(given)
        super().__init__(graph)
        self.local_functions = LocalFunctions()
        self.as_function = as_function
        self.infer = not as_function  # nothing is known of a function's inputs
        self.optimization_options = optimization_options or OptimizationOptions(verbose=verbose)
        self.verbose = verbose
        self.ir_version = ir_version

    # --- building ------------------------------------------------------------------------------------------

    def make_tensor_input(self, name: Any, elem_type: Any = None, shape: Sequence[int | str | None] | None = None, **_: Any) -> Any:
        """One or, with a list of names, several. shape: numbers, names of sizes, None for a size that is not known; None for an unknown
        rank."""
        if not isinstance(name, str):
            return [self.make_tensor_input(n, elem_type, shape) for n in name]
        return name_of(self.graph.add_input(name, elem_type, shape))

    def make_tensor_output(self, name: str | Sequence[str], elem_type: Any = None, shape: Any = None, **_: Any) -> Any:
        """Type and shape follow from the nodes; of what is given only names of sizes are taken that depend on data."""
        if not isinstance(name, str):
            return [self.make_tensor_output(n) for n in name]
        self.graph.add_output(self._value(name), name)
        if shape:
            self.graph.name_sizes(self._value(name), [d if isinstance(d, str) and d.isidentifier() else None for d in shape])
        return name

    @property
    def initializers_dict(self) -> dict[str, np.ndarray]:
        return {name_of(v): v.array() for v in self.graph.values if v.is_constant}

    def infer_shapes(self) -> None:
        """Nothing is left to do: what can be known is known."""

    def _check(self, *_: Any, **__: Any) -> None:
        """Every invariant of the graph. Raises TenonError."""
        self.graph.verify()

    def maybe_disable_fake_tensor_mode(self) -> AbstractContextManager[None]:
        """There are no fake tensors here."""
        return nullcontext()

    # --- local functions -----------------------------------------------------------------------------------

    def has_local_function(self, name: str, domain: str = "", builder: bool = False) -> bool:
        return (domain, name) in self.local_functions.protos

    def get_local_function(self, name: str, domain: str = "", builder: bool = False) -> onnx.FunctionProto:
        return self.local_functions.protos[domain, name]

    def make_local_function(self, builder: GraphBuilder, function_options: FunctionOptions, **_: Any) -> tuple[list[str], tuple[str, str]]:
        """What `builder` holds becomes a function that nodes of its domain and name call. Returns (no initializers, (domain, name))."""
        return [], self.local_functions.add(builder, function_options)

    # --- optimising, writing -------------------------------------------------------------------------------

    def optimize(self) -> list[dict[str, Any]]:
        """In place. Returns rows of statistics, which pandas.DataFrame takes as they are."""
        return optimize(
            self.graph,
            self.optimization_options,
            GraphBuilderPatternOptimization(self, processor=self.optimization_options.processor, verbose=self.verbose),
        )

    def to_onnx(self, optimize: bool = True, return_optimize_report: bool = False, **_: Any) -> Any:
        """The model, optimised first by default; with the rows of statistics where requested."""
        report = self.optimize() if optimize else []
        model = onnx.load_from_string(self.graph.to_onnx())
        if self.ir_version is not None:
            model.ir_version = max(self.ir_version, model.ir_version) if model.functions else self.ir_version
        self.local_functions.write(model)
        if self._source is not None:
            self._keep_words(model, self._source)
        return (model, report) if return_optimize_report else model

    @staticmethod
    def _keep_words(model: onnx.ModelProto, source: onnx.ModelProto) -> None:
        """Metadata of the source that no graph has."""
        model.doc_string = source.doc_string
        model.domain = source.domain
        model.model_version = source.model_version
        model.metadata_props.extend(source.metadata_props)
        model.graph.doc_string = source.graph.doc_string
        model.graph.name = source.graph.name
