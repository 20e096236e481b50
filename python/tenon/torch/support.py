# SPDX-License-Identifier: Apache-2.0
"""Which nodes of an exported program Tenon supports, and why not the others."""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Node
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from .. import TenonError
from .._tenon import Graph, partition
from .builder import ONNX_TYPES, Builder, meta, tensors_of
from .ops import Unsupported, arguments_of, op_of


def is_getitem(node: Node) -> bool:
    return node.op == "call_function" and getattr(node.target, "__name__", "") == "getitem"


def is_size(node: Node) -> bool:
    """Whether the result is a number, not a tensor: such nodes run in Python, where their results are used."""
    return node.op == "call_function" and isinstance(meta(node), (int, float, bool, torch.SymInt, torch.SymFloat, torch.SymBool))


def is_input_check(node: Node) -> bool:
    """Whether it is a check of inputs, which runs before all other nodes."""
    return node.op == "call_module" and not node.users and all(n.op == "placeholder" for n in node.all_input_nodes)


def effect_of(node: Node) -> str | None:
    """The side effect of a node, if it has one: such nodes keep their order."""
    schema = getattr(node.target, "_schema", None)
    if node.op != "call_function" or schema is None:
        return "it is no op that PyTorch has registered: its meaning is unknown"
    if schema.is_mutable:
        return "it writes to memory that others see"
    if not schema.returns:
        return "it checks something"
    return "it is random, or may be" if _is_random(node) else None


def _is_random(node: Node) -> bool:
    """Many of PyTorch's ops that are marked as random draw nothing for most values of their arguments."""
    if torch.Tag.nondeterministic_seeded not in node.target.tags:
        return False
    given = arguments_of(node)
    switches = [given[name] for name in ("dropout_p", "dropout", "train", "training") if name in given]
    return not any(s is not None and not s for s in switches)


def writes(node: Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def _type_refusal(node: Node) -> str | None:
    for tensor in tensors_of(meta(node)) + [t for n in node.all_input_nodes for t in tensors_of(meta(n))]:
        if tensor.device.type != "cpu":
            return f"a tensor is on {tensor.device}"
        if tensor.layout != torch.strided or tensor.dtype not in ONNX_TYPES:
            return f"not supported yet: {tensor.layout if tensor.layout != torch.strided else tensor.dtype}"
    return None


class Support:
    """Checks for each node alone whether it has a form, and whether a backend has it. engine: options of compile().
    Raises TenonError for backends that are not there."""

    def __init__(self, engine: dict[str, Any]) -> None:
        self._engine_options, self._backends = engine, engine["backends"]
        partition(Graph.parse("graph g(x: f32[1]) {\n  y = Relu(x)\n  return y\n}"), **engine, dry_run=True)
        self._known: dict[Any, str | None] = {}

    def why_not(self, node: Node) -> str | None:
        """Why Tenon does not support the node; None: it supports it."""
        effect = effect_of(node)
        if effect is not None:
            return effect
        refusal = _type_refusal(node)
        if refusal is not None:
            return refusal
        key = self._key(node)
        if key not in self._known:
            self._known[key] = self._refusal_of(node)
        return self._known[key]

    def _key(self, node: Node) -> Any:
        def of(x: Any) -> Any:
            if isinstance(x, Node):
                made = meta(x)
                return tuple((t.dtype, str(tuple(t.shape))) for t in tensors_of(made)) or str(made)
            return tuple(of(v) for v in x) if isinstance(x, (tuple, list)) else (type(x), str(x))

        return op_of(node), of(node.args), tuple((k, of(v)) for k, v in node.kwargs.items())

    def _refusal_of(self, node: Node) -> str | None:
        builder = Builder("node", node.all_input_nodes)
        try:
            for k, given in enumerate(node.all_input_nodes):
                if isinstance(meta(given), torch.Tensor):
                    builder.add_input(given, f"x{k}")
            builder.add(node)
            for k, made in enumerate(builder.results_of(node)):
                builder.graph.add_output(made, f"y{k}")
            return self._refusal_of_other_backends(builder)
        except Unsupported as e:
            return str(e)
        except GuardOnDataDependentSymNode:
            return "not supported yet: its form depends on a data-dependent size"
        except TenonError as e:
            return f"{e.place}: {e.what}" if e.place else e.what

    def _refusal_of_other_backends(self, builder: Builder) -> str | None:
        """What has no kernel is computed by reference, which is slower than PyTorch."""
        report = partition(builder.graph, **self._engine_options, dry_run=True)
        for row in report["nodes"]:
            if row["works"] and row["backend"] == "reference" and "reference" not in self._backends:
                return "; ".join(r["text"] for r in row["reasons"])
        return None
