# SPDX-License-Identifier: Apache-2.0
"""Options that decide where nodes run, and their precedence."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from torch.fx import GraphModule, Node

from .. import TenonError
from .names import is_op, module_depth, modules_of, op_name, refuse

THEIRS, OURS = "torch", "tenon"
_NODE, _OP = 1 << 30, (1 << 30) - 1


@dataclasses.dataclass
class Constraint:
    """closeness: precedence; a constraint of the node precedes that of a module, and a longer module path precedes a shorter one."""

    backend: str
    code: str
    text: str
    closeness: int


class Constraints:
    def __init__(self, ops: Sequence[Any], modules: Sequence[str], pins: Mapping[str, str]) -> None:
        self._ops, self._modules, self._pins = [op_name(o) for o in ops], list(modules), dict(pins)

    @property
    def pin_to_tenon(self) -> bool:
        """Whether a node or module is pinned to Tenon or to one of its backends."""
        return any(backend != THEIRS for backend in self._pins.values())

    def check_backends(self, listed: Iterable[str]) -> None:
        """Raises TenonError: bad_usage for a pin to a backend that is not listed."""
        known = [OURS, THEIRS, *listed]
        for name, backend in self._pins.items():
            if backend not in known:
                near = difflib.get_close_matches(backend, known, 1, 0.5)
                advice = f"did you mean '{near[0]}'?" if near else "name it in backends too"
                raise TenonError("bad_usage", f"pins {name}={backend}", "the backend is not listed", ", ".join(known), backend, advice)

    def check_names(self, module: GraphModule) -> None:
        """Raises TenonError: bad_usage for ops, modules and nodes that the program lacks."""
        nodes = [n for n in module.graph.nodes if n.op == "call_function"]
        for op in self._ops:
            if not any(is_op(n, op) for n in nodes):
                raise refuse("torch_executed_ops", "the program has no such op", op, {_schema_name(n) for n in nodes})
        stacks = [entry for n in nodes for entry in modules_of(n)]
        modules = {path for path, _ in stacks} | {kind for _, kind in stacks}
        for wanted in self._modules:
            if not any(module_depth(n, wanted) for n in nodes):
                raise refuse("torch_executed_modules", "the program has no such module", wanted, modules)
        for name in self._pins:
            if not any(n.name == name or module_depth(n, name) for n in nodes):
                raise refuse("pins", "the program has no such node or module", name, modules | {n.name for n in nodes})

    def of(self, node: Node) -> list[Constraint]:
        """Those that hold of a node, which all say the same backend; empty: nobody says any.

        Raises TenonError: bad_usage for two that say different ones, and none is closer. An op constraint holds everywhere: no pin
        outdoes it."""
        constraints = list(self._constraints_of(node))
        if not constraints:
            return []
        best = max(constraints, key=lambda constraint: constraint.closeness)
        for other in constraints:
            if other.backend != best.backend and (other.closeness == best.closeness or _OP in (other.closeness, best.closeness)):
                found = f"{other.text} and {best.text}"
                raise TenonError(
                    "bad_usage",
                    f"node '{node.name}'",
                    "it is to run in two places",
                    "one constraint for a node",
                    found,
                    "leave one of the two out",
                )
        return [constraint for constraint in constraints if constraint.backend == best.backend]

    def _constraints_of(self, node: Node) -> Iterable[Constraint]:
        for op in self._ops:
            if is_op(node, op):
                yield Constraint(THEIRS, "fallback_op", f"torch_executed_ops {op}", _OP)
        for module in self._modules:
            if depth := module_depth(node, module):
                yield Constraint(THEIRS, "fallback_module", f"torch_executed_modules {module}", depth)
        for name, backend in self._pins.items():
            if depth := _NODE if node.name == name else module_depth(node, name):
                yield Constraint(backend, "pinned", f"pins {name}={backend}", depth)


def _schema_name(node: Node) -> str:
    schema = getattr(node.target, "_schema", None)
    return schema.name if schema is not None else ""
