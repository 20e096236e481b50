# SPDX-License-Identifier: Apache-2.0
"""Units of nodes that are placed together, and the order in which they must run."""

from __future__ import annotations

import dataclasses
from collections import Counter

from torch.fx import GraphModule, Node

from .choice import Choice
from .names import is_op
from .ops import op_of
from .ops.shape import COPIES, VIEWS
from .support import effect_of, is_getitem, is_input_check, is_size, writes


@dataclasses.dataclass
class Unit:
    """Nodes that are placed together: an op with the getitem nodes of its results, or a group of the user's."""

    nodes: list[Node]
    needs: set[int] = dataclasses.field(default_factory=set)
    ours: bool = False
    pinned: bool = False
    """Whether the user pins it to Tenon: no later step moves it to PyTorch."""
    pins: dict[Node, str] = dataclasses.field(default_factory=dict)
    """Nodes that the user gives to one of Tenon's backends."""
    reasons: list[tuple[str, str]] = dataclasses.field(default_factory=list)

    @property
    def op(self) -> Node:
        return self.nodes[0]


def works(unit: Unit) -> bool:
    schema = getattr(unit.op.target, "_schema", None)
    if schema is not None and not schema.returns:
        return False  # it checks something
    return any(not is_getitem(n) and op_of(n) not in VIEWS | COPIES for n in unit.nodes)


def units_of(module: GraphModule, choice: Choice) -> list[Unit]:
    units: list[Unit] = []
    of: dict[Node, int] = {}
    for node in module.graph.nodes:
        if node.op not in ("call_function", "call_module", "call_method") or is_size(node) or is_input_check(node):
            continue
        if is_getitem(node) and node.args[0] in of:
            of[node] = of[node.args[0]]
            units[of[node]].nodes.append(node)
            continue
        of[node] = len(units)
        units.append(Unit([node]))
    _find_needs(units, of)
    return _joined(units, choice)


def _find_needs(units: list[Unit], of: dict[Node, int]) -> None:
    after: dict[Node, set[int]] = {}

    def makers(node: Node) -> set[int]:
        """Through numbers, which belong to no unit."""
        if node in of:
            return {of[node]}
        if node not in after:
            after[node] = set().union(*(makers(n) for n in node.all_input_nodes)) if is_size(node) else set()
        return after[node]

    last_effect = last_write = None
    for k, unit in enumerate(units):
        for given in (n for node in unit.nodes for n in node.all_input_nodes):
            unit.needs |= makers(given)
        unit.needs.discard(k)
        if last_write is not None:
            unit.needs.add(last_write)
        if effect_of(unit.op) is not None:
            if last_effect is not None:
                unit.needs.add(last_effect)
            last_effect = k
        if writes(unit.op):  # whoever read the old value has read it
            unit.needs |= set(range(k))
            last_write = k


def _joined(units: list[Unit], choice: Choice) -> list[Unit]:
    """With groups of the user's as one unit: chains of ops of which each is read by the next alone."""
    follower: dict[int, int] = {}
    readers = Counter(n for u in units for n in u.needs)
    for k, unit in enumerate(units):
        for n in unit.needs:
            if readers[n] == 1:
                follower[n] = k
    taken: dict[int, int] = {}
    for group in choice.atomic_groups:
        for k in range(len(units)):
            chain = [k]
            while len(chain) < len(group) and chain[-1] in follower:
                chain.append(follower[chain[-1]])
            fits = len(chain) == len(group) and all(is_op(units[c].op, op) for c, op in zip(chain, group, strict=True))
            if fits and not any(c in taken for c in chain):
                taken.update((c, chain[-1]) for c in chain)
    return _renumbered(units, taken) if taken else units


def _renumbered(units: list[Unit], taken: dict[int, int]) -> list[Unit]:
    """A group takes the place of its last unit: what it needs is before that, and nobody else reads its middle."""
    numbers: dict[int, int] = {}
    out: list[Unit] = []
    for k in range(len(units)):
        if taken.get(k, k) != k:
            continue
        members = [m for m in range(k + 1) if taken.get(m) == k] or [k]
        for m in members:
            numbers[m] = len(out)
        needs = {numbers[n] for m in members for n in units[m].needs} - {len(out)}
        out.append(Unit([n for m in members for n in units[m].nodes], needs))
    return out
