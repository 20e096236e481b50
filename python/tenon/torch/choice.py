# SPDX-License-Identifier: Apache-2.0
"""What the user says of who runs what, and whether it makes sense."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from torch.fx import GraphModule, Node

from .. import TenonError


def op_name(op: Any) -> str:
    """ "aten::add" or "aten::add.Tensor", from such texts ("aten.add", "torch.ops.aten.add.Tensor") and from the ops themselves."""
    if not isinstance(op, str):
        schema = getattr(op, "_schema", None)
        if schema is not None:
            return f"{schema.name}.{schema.overload_name or 'default'}"
        op = getattr(op, "_qualified_op_name", str(op))
    text = op.removeprefix("torch.ops.")
    if "::" not in text:
        namespace, _, rest = text.partition(".")
        text = f"{namespace}::{rest}" if rest else f"aten::{namespace}"
    return text


def modules_of(node: Node) -> list[tuple[str, str]]:
    """Path and class of each module that the node is in, the outermost first."""
    out = []
    for path, kind in (node.meta.get("nn_module_stack") or {}).values():
        path = re.sub(r"\._modules\['([^']*)'\]|\['([^']*)'\]", lambda m: "." + (m[1] or m[2]), path)
        path = re.sub(r"^(L|self|\.|L\.self)+\.?", "", path) if path.startswith(("L", "self", ".")) else path
        out.append((path, kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"))
    return out


def refuse(place: str, what: str, found: Any, known: Iterable[str]) -> TenonError:
    near = difflib.get_close_matches(str(found), sorted(known), 1, 0.5)
    return TenonError(
        "bad_usage", place, what, "", str(found), f"did you mean '{near[0]}'?" if near else "dryrun=True tells ops and modules"
    )


@dataclasses.dataclass
class Choice:
    backends: Sequence[str] = ()
    min_block_size: int | None = None
    fallback_ops: Sequence[Any] = ()
    fallback_modules: Sequence[str] = ()
    require_full: bool = False
    atomic_groups: Sequence[Sequence[Any]] = ()
    memory_limit: int | None = None
    of_pieces: bool = False
    """The program is one of several pieces of a model: what it lacks another may have."""

    def __post_init__(self) -> None:
        for name, given in (
            ("backends", self.backends),
            ("torch_executed_ops", self.fallback_ops),
            ("torch_executed_modules", self.fallback_modules),
        ):
            if isinstance(given, str):
                raise TenonError("bad_usage", name, "this is no list", "a list of names", repr(given), f"{name}=[{given!r}]")
        self.backends = list(self.backends)
        if self.min_block_size is not None and self.min_block_size < 1:
            raise TenonError("bad_usage", "min_block_size", "a segment has at least one op", "1 or more", str(self.min_block_size), "")
        if self.memory_limit is not None and self.memory_limit < 1:
            raise TenonError("bad_usage", "memory_limit", "a segment needs some memory", "1 or more", str(self.memory_limit), "")
        self._ops = [op_name(o) for o in self.fallback_ops]

    def is_op(self, node: Node, op: Any) -> bool:
        schema = getattr(node.target, "_schema", None)
        name = op_name(op)
        return schema is not None and name in (schema.name, f"{schema.name}.{schema.overload_name or 'default'}")

    def forced(self, node: Node) -> list[tuple[str, str]]:
        """Why PyTorch is to run it."""
        out = [("fallback_op", f"torch_executed_ops {op}") for op in self._ops if self.is_op(node, op)]
        stack = modules_of(node)
        for wanted in self.fallback_modules:
            if any(_is_in(path, wanted) or _is_class(kind, wanted) for path, kind in stack):
                out.append(("fallback_module", f"torch_executed_modules {wanted}"))
        return out

    def check(self, module: GraphModule) -> None:
        """Raises TenonError: bad_usage for ops and modules that the program lacks."""
        if self.of_pieces:
            return
        nodes = [n for n in module.graph.nodes if n.op == "call_function"]
        ops = {n.target._schema.name for n in nodes if hasattr(n.target, "_schema")}
        for op in self._ops:
            if not any(self.is_op(n, op) for n in nodes):
                raise refuse("torch_executed_ops", "the program has no such op", op, ops)
        stacks = [entry for n in nodes for entry in modules_of(n)]
        for wanted in self.fallback_modules:
            if not any(_is_in(path, wanted) or _is_class(kind, wanted) for path, kind in stacks):
                known = {path for path, _ in stacks} | {kind for _, kind in stacks}
                raise refuse("torch_executed_modules", "the program has no such module", wanted, known - {""})


def _is_in(path: str, wanted: str) -> bool:
    wanted = wanted.strip("/").replace("/", ".")
    return path == wanted or path.startswith(wanted + ".")


def _is_class(kind: str, wanted: str) -> bool:
    return kind == wanted or kind.rpartition(".")[2] == wanted
