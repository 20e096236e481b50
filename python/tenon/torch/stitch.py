# SPDX-License-Identifier: Apache-2.0
"""Joins segments and the parts that run in PyTorch to one module."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

import sympy
import torch
from torch.fx import Graph, GraphModule, Node

from .builder import meta
from .cost import size_of
from .cut import Plan
from .cut import Segment as Cut
from .segment import Segment
from .support import is_input_check, is_size
from .warned import without_leaf_spec_warning

Weights = Callable[[Node], torch.Tensor | None]


def attribute(module: torch.nn.Module, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name)
    return module


def storage_order(tensor: torch.Tensor) -> list[int] | None:
    """The order in which its dimensions lie in memory, the outermost first, where that is dense and another than theirs: what PyTorch does
    with a tensor may depend on it."""
    sizes, strides = list(map(size_of, tensor.shape)), list(map(size_of, tensor.stride()))
    order = sorted(range(len(sizes)), key=lambda d: (-strides[d], d))
    dense = 1
    for d in reversed(order):
        if sizes[d] != 1 and strides[d] != dense:
            return None
        dense *= sizes[d]
    return None if [d for d in order if sizes[d] != 1] == [d for d in range(len(sizes)) if sizes[d] != 1] else order


def _solved(size: Any, symbol: sympy.Symbol) -> tuple[int, int] | None:
    """Divisor and rest, where the size is that many times the symbol and a rest."""
    if not isinstance(size, torch.SymInt) or size.node.expr.free_symbols != {symbol}:
        return None
    line = sympy.Poly(size.node.expr, symbol) if size.node.expr.is_polynomial(symbol) else None
    if line is None or line.degree() != 1 or not all(c.is_Integer for c in line.all_coeffs()):
        return None
    times, rest = map(int, line.all_coeffs())
    return (times, rest) if times > 0 else None


class _Stitch:
    def __init__(self, module: GraphModule, plan: Plan, weight_of: Weights, engine: dict[str, Any]) -> None:
        self._module, self._plan, self._weight_of, self._engine_options = module, plan, weight_of, engine
        self._graph = Graph()
        with without_leaf_spec_warning():
            self._graph._codegen = copy.deepcopy(module.graph._codegen)
        self._new: dict[Node, Node] = {}
        self._sizes: dict[sympy.Symbol, Node] = {}
        self.segments: dict[str, Segment] = {}
        self._ours = {n for s in plan.segments if s.ours for n in s.nodes}

    def run(self) -> GraphModule:
        for node in self._module.graph.nodes:
            if node.op in ("placeholder", "get_attr") or is_input_check(node):
                self._copy(node)
        for segment in self._plan.segments:
            if segment.ours:
                self._engine(segment)
            else:
                for node in segment.nodes:
                    self._copy(node)
        self._copy(next(n for n in self._module.graph.nodes if n.op == "output"))
        out = GraphModule({**dict(self._parts()), **self.segments}, self._graph, "Compiled")
        out.meta.update(self._module.meta)
        out.train(self._module.training)
        return out

    def _parts(self) -> Any:
        """What nodes of the new graph name."""
        for node in self._graph.nodes:
            if node.op in ("get_attr", "call_module") and node.target not in self.segments:
                yield node.target, attribute(self._module, node.target)

    def _at(self, node: Node) -> Node:
        if node not in self._new and is_size(node):
            self._copy(node)
        return self._new[node]

    def _copy(self, node: Node) -> None:
        for given in node.all_input_nodes:
            self._at(given)
        self._note(node, self._graph.node_copy(node, self._at))

    def _note(self, node: Node, new: Node) -> None:
        """Where symbols of sizes may be had from later."""
        self._new[node] = new
        made = meta(node)
        if isinstance(made, torch.SymInt) and made.node.expr.is_Symbol:
            self._sizes.setdefault(made.node.expr, new)

    def _size(self, symbol: sympy.Symbol) -> Node:
        if symbol in self._sizes:
            return self._sizes[symbol]
        for node, new in self._new.items():
            made = meta(node)
            for axis, size in enumerate(made.shape if isinstance(made, torch.Tensor) else ()):
                if isinstance(size, torch.SymInt) and size.node.expr == symbol:
                    self._sizes[symbol] = self._graph.call_function(torch.ops.aten.sym_size.int, (new, axis))
                    return self._sizes[symbol]
        for node, new in self._new.items():
            made = meta(node)
            for axis, size in enumerate(made.shape if isinstance(made, torch.Tensor) else ()):
                if (of := _solved(size, symbol)) is not None:
                    divisor, rest = of
                    whole = self._graph.call_function(torch.ops.aten.sym_size.int, (new, axis))
                    less = self._graph.call_function(operator.sub, (whole, rest))
                    self._sizes[symbol] = self._graph.call_function(operator.floordiv, (less, divisor))
                    return self._sizes[symbol]
        for node in self._module.graph.nodes:  # a number that depends on data
            if is_size(node) and isinstance(meta(node), torch.SymInt) and meta(node).node.expr == symbol:
                return self._at(node)
        raise AssertionError(f"nobody has the size {symbol}")

    def _engine(self, cut: Cut) -> None:
        inside = set(cut.nodes)
        inputs = list(
            dict.fromkeys(g for n in cut.nodes for g in n.all_input_nodes if g not in inside and isinstance(meta(g), torch.Tensor))
        )
        outputs = [n for n in cut.nodes if isinstance(meta(n), torch.Tensor) and any(u not in inside for u in n.users)]
        weights = {k: w for k, n in enumerate(inputs) if (w := self._weight_of(n)) is not None}
        name = f"segment_{len(self.segments)}"
        orders = [storage_order(meta(n)) if any(u not in self._ours for u in n.users) else None for n in outputs]
        segment = Segment(name, cut.nodes, inputs, list(zip(outputs, orders, strict=True)), weights, self._engine_options, cut.pins)
        self.segments[name] = segment
        sizes = [self._size(s) for s in segment.sizes]
        made = self._graph.call_module(name, ([self._at(n) for n in inputs], sizes))
        for k, (node, order) in enumerate(zip(outputs, orders, strict=True)):
            part = self._graph.call_function(operator.getitem, (made, k))
            if order is not None:
                back = [order.index(d) for d in range(len(order))]
                part = self._graph.call_function(torch.ops.aten.permute.default, (part, back))
            part.meta = dict(node.meta)
            self._note(node, part)


def stitch(module: GraphModule, plan: Plan, weight_of: Weights, engine: dict[str, Any]) -> tuple[GraphModule, dict[str, Segment]]:
    """engine: options of compile(). weight_of: the tensor that an input of a segment always is, if it is one.
    Raises what compiling raises."""
    made = _Stitch(module, plan, weight_of, engine)
    return made.run(), made.segments
