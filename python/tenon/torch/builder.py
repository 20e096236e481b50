# SPDX-License-Identifier: Apache-2.0
"""Converts nodes of an exported program to a graph of Tenon."""

from __future__ import annotations

import zlib
from collections.abc import Container, Iterable, Sequence
from typing import Any

import numpy as np
import sympy
import torch
from torch.fx import Node

from .._tenon import Graph, Value
from .ops import Unsupported, convert

ONNX_TYPES = {
    torch.float32: 1, torch.uint8: 2, torch.int8: 3, torch.int16: 5, torch.int32: 6, torch.int64: 7, torch.bool: 9, torch.float16: 10,
    torch.float64: 11, torch.bfloat16: 16,
}  # fmt: skip

_FLOATS = {ONNX_TYPES[t] for t in ONNX_TYPES if t.is_floating_point}
_INTEGERS = {ONNX_TYPES[t] for t in ONNX_TYPES if not t.is_floating_point and t != torch.bool}


def meta(node: Node) -> Any:
    """A fake tensor, a symbolic number, or a tuple of such."""
    return node.meta.get("val")


def tensors_of(made: Any) -> list[torch.Tensor]:
    """Of what meta() gives."""
    if isinstance(made, torch.Tensor):
        return [made]
    return [t for part in made for t in tensors_of(part)] if isinstance(made, (tuple, list)) else []


def expression(size: Any) -> sympy.Expr:
    return size.node.expr if isinstance(size, torch.SymInt) else sympy.Integer(size)


def plain(size: Any) -> Any:
    """A number where it is one."""
    if isinstance(size, Node):
        size = meta(size)
    if isinstance(size, torch.SymInt):
        known = size.node.expr
        return int(known) if known.is_Integer else size
    return size


def size_text(size: Any, given: Container[sympy.Symbol]) -> int | str:
    """As Graph.add_input takes it: sums and products of symbols that are sizes of inputs too as they are, other expressions by a name of
    their own."""
    known = sympy.expand(expression(size))
    if known.is_Integer:
        return int(known)
    plain_ones = known.is_Symbol or all(s in given for s in known.free_symbols)
    if plain_ones and all(isinstance(e, (sympy.Add, sympy.Mul, sympy.Symbol, sympy.Integer)) for e in sympy.preorder_traversal(known)):
        return str(known)
    return f"size_{zlib.crc32(str(known).encode())}"


class Builder:
    """Builds the graph of a segment. Symbolic sizes are read from the shapes of inputs, or are inputs themselves."""

    def __init__(self, name: str, inputs: Iterable[Node]) -> None:
        """inputs: all that add_input() will be called for."""
        self.graph = Graph()
        self.graph.name = name
        self.node: Node
        self.named: set[Node] = set()
        """Nodes whose ops are in the graph; the ops have their names."""
        self.sizes_given: list[sympy.Symbol] = []
        """Symbols that are the size of no input: they are scalar inputs, after the tensors."""
        self._values: dict[Node, Any] = {}
        self._given = {e for n in inputs for t in tensors_of(meta(n)) for s in t.shape if (e := expression(s)).is_Symbol}
        self._symbols: dict[sympy.Symbol, Value] = {}
        self._where: dict[sympy.Expr, tuple[Value, int]] = {}
        """Sizes of inputs, symbols and other expressions."""

    def add_input(self, node: Node, name: str) -> None:
        tensor = meta(node)
        value = self.graph.add_input(name, ONNX_TYPES[tensor.dtype], [size_text(s, self._given) for s in tensor.shape])
        self._values[node] = value
        for axis, size in enumerate(tensor.shape):
            known = expression(size)
            if not known.is_Integer:
                self._where.setdefault(known, (value, axis))

    def declare_sizes(self, node: Node) -> None:
        """Declares the sizes of this result, which follow from the inputs."""
        for size in meta(node).shape:
            for symbol in expression(size).free_symbols:
                if symbol not in self._where:
                    self._symbol(symbol)

    def add_weight(self, node: Node, tensor: torch.Tensor) -> None:
        self._values[node] = self.graph.add_constant(tensor.detach().cpu().contiguous().numpy(), node.name)

    def add(self, node: Node) -> None:
        """Raises Unsupported, TenonError."""
        self.node = node
        if node.op == "call_function" and getattr(node.target, "__name__", "") == "getitem":
            self._values[node] = self._values[node.args[0]][node.args[1]]
            return
        made = convert(self, node)
        for user in node.users:
            if isinstance(made, tuple) and user.op == "call_function" and user.users and made[user.args[1]] is None:
                raise Unsupported("not supported yet: its results after the first")
        self._check(made, meta(node))
        self._values[node] = made

    def _check(self, made: Any, expected: Any) -> None:
        if isinstance(expected, (tuple, list)):
            for one, other in zip(made, expected, strict=True):
                if one is not None:
                    self._check(one, other)
            return
        if made.onnx_dtype != ONNX_TYPES.get(expected.dtype) or made.shape is None or len(made.shape) != expected.dim():
            raise Unsupported(f"its form would give {made.dtype}{list(made.shape or [])}, not {expected.dtype}{list(expected.shape)}")

    def results_of(self, node: Node) -> list[Value]:
        made = self._values[node]
        return [v for v in made if v is not None] if isinstance(made, (tuple, list)) else [made]

    def value_of(self, node: Node) -> Value:
        return self._values[node]

    # What the tables use.

    @property
    def dtype(self) -> torch.dtype:
        """Of the result, or of the first one."""
        made = meta(self.node)
        return (made[0] if isinstance(made, (tuple, list)) else made).dtype

    def is_value(self, x: Any) -> bool:
        return isinstance(x, Value)

    def dtype_of(self, x: Any) -> torch.dtype:
        return meta(x).dtype

    def shape_of(self, x: Any) -> tuple[Any, ...]:
        made = meta(x)
        return tuple(plain(s) for s in (made[0] if isinstance(made, (tuple, list)) else made).shape)

    def sizes_of_parts(self) -> list[tuple[Any, ...]]:
        return [tuple(plain(s) for s in part.shape) for part in meta(self.node)]

    def onnx_type(self, dtype: torch.dtype) -> int:
        if dtype not in ONNX_TYPES:
            raise Unsupported(f"not supported yet: elements of type {dtype}")
        return ONNX_TYPES[dtype]

    def op(self, name: str, inputs: Iterable[Value | None], attributes: dict[str, Any] | None = None) -> Value:
        return self.ops(name, inputs, attributes)[0]

    def ops(
        self, name: str, inputs: Iterable[Value | None], attributes: dict[str, Any] | None = None, outputs: int = -1
    ) -> Sequence[Value]:
        """All results of a node. outputs: how many, where ONNX leaves that open."""
        self.named.add(self.node)
        label = f"/{self.node.name}/{name}_{len(self.graph)}"
        return self.graph.insert(name, list(inputs), attributes or {}, outputs=outputs, name=label).outputs

    def cast(self, value: Value, dtype: torch.dtype) -> Value:
        """Of floats outside of an integer type: what PyTorch gives on x86, see _to_integer()."""
        wanted = self.onnx_type(dtype)
        if value.onnx_dtype == wanted:
            return value
        if value.onnx_dtype in _FLOATS and wanted in _INTEGERS:
            return self._to_integer(value, dtype)
        return self.op("Cast", [value], {"to": wanted})

    def _to_integer(self, value: Value, dtype: torch.dtype) -> Value:
        """ONNX leaves open what a float becomes that does not fit. PyTorch converts to i32 or i64 by the CPU's instruction, which gives
        the lowest number for all of them, and narrower types take the low bits of the i32."""
        wide = torch.int64 if dtype == torch.int64 else torch.int32
        limits = torch.iinfo(wide)
        of_value = {number: name for name, number in ONNX_TYPES.items()}[value.onnx_dtype]
        least = self._number(float(limits.min), of_value)  # a power of two: exact in every type but f16, where it is -inf
        fits = self.op("Less", [self.op("Abs", [value]), self.op("Neg", [least])])
        whole = self.op("Cast", [self.op("Where", [fits, value, self._number(0.0, of_value)])], {"to": ONNX_TYPES[wide]})
        whole = self.op("Where", [fits, whole, self._number(limits.min, wide)])
        return whole if dtype == wide else self.op("Cast", [whole], {"to": self.onnx_type(dtype)})

    def tensor(self, x: Any, dtype: torch.dtype | None = None) -> Value:
        """A tensor of the program, or a number as one, cast where it has another type."""
        if isinstance(x, Node) and isinstance(meta(x), torch.Tensor):
            value = self._values[x]
            return value if dtype is None else self.cast(value, dtype)
        x = plain(x)
        if isinstance(x, (torch.SymInt, Node)):
            if not isinstance(x, torch.SymInt):
                raise Unsupported("not supported yet: a number that is no size and depends on data")
            return self.cast(self.reshaped(self.size(x), []), dtype or torch.int64)
        return self._number(x, dtype)

    def _number(self, x: Any, dtype: torch.dtype | None) -> Value:
        if dtype is None:
            dtype = torch.bool if isinstance(x, bool) else torch.int64 if isinstance(x, int) else torch.float32
        if dtype == torch.bfloat16:
            return self.cast(self.graph.add_constant(np.array(x, np.float32)), dtype)
        self.onnx_type(dtype)
        return self.graph.add_constant(torch.tensor(x, dtype=dtype).numpy())

    def promoted(self, x: Any, y: Any) -> list[Value]:
        """Both in the type in which PyTorch compares them."""
        dtype = torch.result_type(*(meta(v) if isinstance(v, Node) else v for v in (x, y)))
        return [self.tensor(x, dtype), self.tensor(y, dtype)]

    def ints(self, numbers: Sequence[int]) -> Value:
        return self.graph.add_constant(np.array(numbers, np.int64))

    def floats(self, numbers: Sequence[float]) -> Value:
        return self.graph.add_constant(np.array(numbers, np.float32))

    def reshaped(self, value: Value, sizes: Sequence[Any]) -> Value:
        sizes = [plain(s) for s in sizes]
        open_ones = [k for k, s in enumerate(sizes) if not isinstance(s, int)]
        if len(open_ones) == 1 and 0 not in sizes:
            sizes[open_ones[0]] = -1
        return self.op("Reshape", [value, self.sizes(sizes)], {"allowzero": 1} if 0 in sizes else {})

    def sliced(self, value: Value, dim: int, start: Any, end: Any, step: Any) -> Value:
        bounds = [self.sizes([n]) for n in (start, end)]
        return self.op("Slice", [value, *bounds, self.ints([dim]), self.ints([plain(step)])])

    def sizes(self, sizes: Sequence[Any]) -> Value:
        """A constant i64[n]."""
        plain_ones = [plain(s) for s in sizes]
        if all(isinstance(s, int) for s in plain_ones):
            return self.ints(plain_ones)
        parts = [self.ints([s]) if isinstance(s, int) else self.size(s) for s in plain_ones]
        return parts[0] if len(parts) == 1 else self.op("Concat", parts, {"axis": 0})

    def scalar_of(self, size: Any) -> Value:
        size = plain(size)
        return self._number(size, torch.int64) if isinstance(size, int) else self.reshaped(self.size(size), [])

    def size(self, size: Any) -> Value:
        """i64[1]."""
        if not isinstance(size, torch.SymInt):
            raise Unsupported("not supported yet: a number that is no size and depends on data")
        return self._evaluated(size.node.expr)

    def _evaluated(self, known: sympy.Expr) -> Value:
        if known.is_Integer:
            return self.ints([int(known)])
        if known.is_Symbol or known in self._where:
            return self._symbol(known)
        parts = known.args
        kind = type(known).__name__
        if kind == "Pow" and parts[1].is_Integer and parts[1] > 0:
            kind, parts = "Mul", [parts[0]] * int(parts[1])
        op = {"Add": "Add", "Mul": "Mul", "FloorDiv": "Div", "CleanDiv": "Div", "Max": "Max", "Min": "Min"}.get(kind)
        if op is None or any(p.is_Rational and not p.is_Integer for p in parts):
            raise Unsupported(f"not supported yet: sizes like {known}")
        out = self._evaluated(parts[0])
        for part in parts[1:]:
            out = self.op(op, [out, self._evaluated(part)])
        return out

    def _symbol(self, symbol: sympy.Expr) -> Value:
        if symbol not in self._symbols:
            self._symbols[symbol] = self._size_at(*self._where[symbol]) if symbol in self._where else self._size_given(symbol)
        return self._symbols[symbol]

    def _size_at(self, value: Value, axis: int) -> Value:
        return self.op("Shape", [value], {"start": axis, "end": axis + 1})

    def _size_given(self, symbol: sympy.Symbol) -> Value:
        """By an input of its own. A size of the program's inputs is one's length, whose elements nobody reads: no backend has to wait for
        data to compute it. Other numbers may be negative, or larger than any memory."""
        self.sizes_given.append(symbol)
        if symbol not in _sizes_of_inputs(self.node.graph):
            return self.graph.add_input(f"size_{symbol}", "i64", [1])
        self._where[symbol] = self.graph.add_input(f"size_{symbol}", ONNX_TYPES[torch.bool], [str(symbol)]), 0
        return self._size_at(*self._where[symbol])


def _sizes_of_inputs(graph: torch.fx.Graph) -> set[sympy.Symbol]:
    given = (n for n in graph.nodes if n.op == "placeholder")
    return {symbol for n in given for t in tensors_of(meta(n)) for size in t.shape for symbol in expression(size).free_symbols}
