# SPDX-License-Identifier: Apache-2.0
"""The table of ATen ops: which function says each of them in ops of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.fx import Node

Convert = Callable[..., Any]
TABLE: dict[str, Convert] = {}


class Unsupported(Exception):
    """The op, or this way to call it, has no form in ops of a graph; the text says why."""


def converts(*names: str) -> Callable[[Convert], Convert]:
    """The function is given a Builder and the arguments of the op's schema, defaults filled in; it returns a value, or several."""

    def enter(function: Convert) -> Convert:
        for name in names:
            assert name not in TABLE, name
            TABLE[name] = function
        return function

    return enter


def op_of(node: Node) -> str:
    """ "add.Tensor" for an op of ATen, "namespace::op" or a Python name for others."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return getattr(node.target, "__name__", str(node.target))
    namespace, _, name = schema.name.partition("::")
    overload = f"{name}.{schema.overload_name or 'default'}"
    return overload if namespace == "aten" else f"{namespace}::{overload}"


def arguments_of(node: Node) -> dict[str, Any]:
    """By the names of the op's schema and in its order, defaults filled in."""
    given = dict(node.kwargs)
    arguments = node.target._schema.arguments
    for argument, value in zip(arguments, node.args, strict=False):
        given[argument.name] = value
    return {a.name: given.get(a.name, a.default_value if a.has_default_value() else None) for a in arguments}


def convert(builder: Any, node: Node) -> Any:
    """With a Builder. Raises Unsupported, TenonError."""
    function = TABLE.get(op_of(node))
    if function is None:
        raise Unsupported("no form in ops of a graph is known of it")
    return function(builder, *arguments_of(node).values())
