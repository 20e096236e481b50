# SPDX-License-Identifier: Apache-2.0
"""A segment as a PyTorch module: one engine, which computes the nodes of the segment."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import sympy
import torch
from torch.fx import Node
from torch.utils._python_dispatch import _get_current_dispatch_mode

from .._tenon import Engine, Value, compile
from . import operator
from .builder import Builder, expression, meta
from .ops import Unsupported


class Weight:
    """A weight that is packed into an engine, and whether the tensor has changed since."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor  # held, so that nobody else gets its memory
        self._version = None if tensor.is_inference() else tensor._version
        self._place = tensor.data_ptr()
        self._like = tensor.shape, tensor.stride()

    def is_still(self, tensor: torch.Tensor) -> bool:
        same = tensor.data_ptr() == self._place and (self._version is None or tensor._version == self._version)
        return same and (tensor is self.tensor or (tensor.shape, tensor.stride()) == self._like)


class Built:
    """An engine, the inputs that it is given, the weights that it has instead; its file where requested. Does not change."""

    def __init__(self, engine: Engine, passed: list[int], weights: dict[int, Weight], sizes: list[sympy.Symbol]) -> None:
        self.engine, self.passed, self.weights, self.sizes = engine, passed, weights, sizes
        self._file: torch.Tensor | None = None

    def changed(self, tensors: list[torch.Tensor]) -> list[int]:
        return [k for k, weight in self.weights.items() if not weight.is_still(tensors[k])]

    def file(self) -> torch.Tensor:
        if self._file is None:
            self._file = operator.bytes_of(self.engine)
            operator.remember(self._file, self.engine)
        return self._file


def is_traced() -> bool:
    """Whether the call is traced, so that nothing is computed."""
    return torch.compiler.is_compiling() or _get_current_dispatch_mode() is not None


class Segment(torch.nn.Module):
    """Takes its tensors, weights among them, and the sizes that no tensor has. Elements of weights are packed into the engine; a weight
    that is written to becomes an input, read where it lies from then on."""

    def __init__(
        self,
        name: str,
        nodes: Sequence[Node],
        inputs: Sequence[Node],
        outputs: Sequence[tuple[Node, list[int] | None]],
        weights: dict[int, torch.Tensor],
        engine: dict[str, Any],
        pins: Mapping[Node, str],
    ) -> None:
        """outputs: with the order of dimensions in which each is given, where that is another than its own.
        engine: options of compile()."""
        super().__init__()
        self.name = name
        self.builds = 0
        self._nodes, self._inputs, self._outputs = list(nodes), list(inputs), list(outputs)
        self._engine_options, self._pins = engine, dict(pins)
        self._lock = threading.Lock()
        self.built = self._build({k: Weight(t) for k, t in weights.items()})

    def _build(self, weights: dict[int, Weight]) -> Built:
        passed = [k for k in range(len(self._inputs)) if k not in weights]
        builder = Builder(self.name, [self._inputs[k] for k in passed])
        self.builds += 1
        for place, k in enumerate(passed):
            builder.add_input(self._inputs[k], f"x{place}")
        for k, weight in weights.items():
            builder.add_weight(self._inputs[k], weight.tensor)
        for node in self._nodes:
            try:
                builder.add(node)
            except Unsupported as e:  # each node has been tried alone
                raise AssertionError(f"{node}: {e}") from e
        for k, (node, order) in enumerate(self._outputs):
            value = builder.value_of(node)
            value = _own(builder, value) if order is None else builder.op("Transpose", [value], {"perm": order})
            builder.graph.add_output(value, f"y{k}")
            builder.declare_sizes(node)
        pins = {node.name: backend for node, backend in self._pins.items() if node in builder.named}
        return Built(compile(builder.graph, **self._engine_options, pins=pins), passed, weights, builder.sizes_given)

    def __deepcopy__(self, _: object) -> Segment:
        """Of the same engine, which is immutable, until its weights turn out to be others."""
        out = Segment.__new__(Segment)
        out.__dict__.update(self.__dict__)
        out._lock = threading.Lock()
        return out

    @property
    def engine(self) -> Engine:
        return self.built.engine

    @property
    def sizes(self) -> list[sympy.Symbol]:
        return self.built.sizes

    @property
    def signature(self) -> str:
        def texts(node: Node, order: list[int] | None = None) -> list[str]:
            shape = meta(node).shape
            return [str(expression(shape[d])) for d in order or range(len(shape))]

        built = self.built
        return json.dumps(
            {
                "inputs": [texts(self._inputs[k]) for k in built.passed],
                "sizes": [str(s) for s in built.sizes],
                "outputs": [{"dtype": str(meta(n).dtype).removeprefix("torch."), "shape": texts(n, order)} for n, order in self._outputs],
            }
        )

    def forward(self, tensors: list[torch.Tensor], sizes: list[int]) -> list[torch.Tensor]:
        built = self.built
        if is_traced():
            return torch.ops.tenon.segment(self.file(), self.signature, [tensors[k] for k in built.passed], sizes)
        return self.run(tensors, sizes)

    def run(self, tensors: list[torch.Tensor], sizes: list[int]) -> list[torch.Tensor]:
        built = self.built
        if built.changed(tensors):
            built = self._rebuilt(tensors)
        return operator.run(built.engine, [tensors[k] for k in built.passed], sizes)

    def _rebuilt(self, tensors: list[torch.Tensor]) -> Built:
        with self._lock:
            changed = set(self.built.changed(tensors))  # another thread may have been here
            if changed:
                self.built = self._build({k: w for k, w in self.built.weights.items() if k not in changed})
            return self.built

    def file(self) -> torch.Tensor:
        """The bytes of the engine file, made on first use."""
        return self.built.file()


def _own(builder: Builder, value: Value) -> Value:
    """A result of the graph that is no input or constant."""
    return value if value.kind == "result" else builder.op("Identity", [value])
