# SPDX-License-Identifier: Apache-2.0
"""Cuts an exported program into segments for Tenon and pieces for PyTorch, in Tenon's own partitioner."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable

import torch
from torch.fx import GraphModule, Node

from .. import TenonError
from .._tenon import CutNode, CutValue, cut
from .builder import meta
from .choice import Choice
from .cost import BORDER_NS, LAUNCH_NS, bytes_of, our_ns, their_ns
from .ops import op_of
from .ops.shape import COPIES, VIEWS
from .support import Support, effect_of, is_door, is_getitem, is_size, writes


@dataclasses.dataclass
class Unit:
    """Nodes that stay together: an op and what takes its results apart, or a group of the user's."""

    nodes: list[Node]
    needs: set[int] = dataclasses.field(default_factory=set)
    ours: bool = False
    reasons: list[tuple[str, str]] = dataclasses.field(default_factory=list)

    @property
    def op(self) -> Node:
        return self.nodes[0]


@dataclasses.dataclass
class Segment:
    ours: bool
    units: list[Unit]

    @property
    def nodes(self) -> list[Node]:
        return [n for u in self.units for n in u.nodes]


@dataclasses.dataclass
class Plan:
    units: list[Unit]
    segments: list[Segment]
    lower_bound: int


def units_of(module: GraphModule, choice: Choice) -> list[Unit]:
    units: list[Unit] = []
    of: dict[Node, int] = {}
    for node in module.graph.nodes:
        if node.op not in ("call_function", "call_module", "call_method") or is_size(node) or is_door(node):
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
    behind: dict[Node, set[int]] = {}

    def makers(node: Node) -> set[int]:
        """Through numbers, which belong to no unit."""
        if node in of:
            return {of[node]}
        if node not in behind:
            behind[node] = set().union(*(makers(n) for n in node.all_input_nodes)) if is_size(node) else set()
        return behind[node]

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
            fits = len(chain) == len(group) and all(choice.is_op(units[c].op, op) for c, op in zip(chain, group, strict=True))
            if fits and not any(c in taken for c in chain):
                taken.update((c, chain[-1]) for c in chain)
    return _renumbered(units, taken) if taken else units


def _renumbered(units: list[Unit], taken: dict[int, int]) -> list[Unit]:
    """A group stands where its last unit stood: what it needs is before that, and nobody else reads its middle."""
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


def _returned_views(module: GraphModule) -> dict[Node, str]:
    """Views that a caller gets of memory that somebody else has too: copies would no longer be views."""
    roots: dict[Node, list[list[Node]]] = {}
    output = next(n for n in module.graph.nodes if n.op == "output")
    for result in dict.fromkeys(output.all_input_nodes):
        chain, root = [], result
        while root.op == "call_function" and (op_of(root) in VIEWS or is_getitem(root)) and root.all_input_nodes:
            chain.append(root)
            root = root.all_input_nodes[0]
        roots.setdefault(root, []).append(chain)
    out: dict[Node, str] = {}
    for root, chains in roots.items():
        if root.op in ("placeholder", "get_attr") or len(chains) > 1:
            out.update((n, "it is returned as a view of memory that the caller sees otherwise too") for chain in chains for n in chain)
    return out


def _read_as_memory(module: GraphModule) -> dict[Node, str]:
    """Views of which as_strided sees more than their elements."""
    out: dict[Node, str] = {}
    for node in module.graph.nodes:
        if node.op == "call_function" and op_of(node).startswith("as_strided"):
            seen = node.all_input_nodes[0]
            while seen.op == "call_function" and op_of(seen) in VIEWS:
                out[seen] = "as_strided reads the memory that it is a view of"
                seen = seen.all_input_nodes[0]
    return out


def _choose(units: list[Unit], module: GraphModule, choice: Choice) -> None:
    support = Support(choice.backends)
    views = _returned_views(module) | _read_as_memory(module)
    for unit in units:
        for node in unit.nodes:
            if is_getitem(node):
                continue
            why_not = support.why_not(node)
            unit.reasons += [("unsupported", why_not)] if why_not is not None else []
            unit.reasons += choice.forced(node)
            unit.reasons += [("view", views[node])] if node in views else []
        unit.ours = not unit.reasons


def works(unit: Unit) -> bool:
    schema = getattr(unit.op.target, "_schema", None)
    if schema is not None and not schema.returns:
        return False  # it checks something
    return any(not is_getitem(n) and op_of(n) not in VIEWS | COPIES for n in unit.nodes)


def _values(units: list[Unit]) -> list[CutValue]:
    of = {n: k for k, u in enumerate(units) for n in u.nodes}
    out = []
    for node in dict.fromkeys(g for u in units for n in u.nodes for g in [*n.all_input_nodes, n]):
        if not isinstance(meta(node), torch.Tensor) or node.op == "get_attr":
            continue
        readers = sorted({of[user] for user in node.users if user in of} - {of.get(node, -1)})
        returned = any(user.op == "output" for user in node.users)
        out.append(CutValue(of.get(node), readers, returned))
    return out


def plan(module: GraphModule, choice: Choice) -> Plan:
    """Raises TenonError: bad_usage, and not_supported where all was to be compiled and is not."""
    choice.check(module)
    units = units_of(module, choice)
    _choose(units, module, choice)
    nodes = [
        CutNode(u.op.name, sorted(u.needs), ours=u.ours, counts=works(u), our_ns=_sum(our_ns, u), their_ns=_sum(their_ns, u)) for u in units
    ]
    least = 1 if choice.require_full else choice.min_block_size
    made = cut(nodes, _values(units), min_block_size=least, launch_ns=LAUNCH_NS, border_ns=BORDER_NS)
    for k in made.too_small:
        units[k].reasons.append(("too_small", f"its segment has fewer than {choice.min_block_size} ops that do work"))
    for k in made.does_not_pay:
        units[k].reasons.append(("does_not_pay", "PyTorch takes less time for its segment, start and borders counted"))
    segments = [Segment(ours, []) for ours in made.ours]
    for k, place in enumerate(made.place):
        segments[place].units.append(units[k])
    segments = _merged([_if_it_works(s) for s in segments])
    if choice.require_full:
        check_full(segments)
    return Plan(units, within(segments, choice.memory_limit), made.lower_bound)


def _sum(time: Callable[[Node], float], unit: Unit) -> float:
    return sum(map(time, unit.nodes))


def _if_it_works(segment: Segment) -> Segment:
    """PyTorch only looks otherwise at what a segment without work would copy."""
    if not segment.ours or any(map(works, segment.units)):
        return segment
    for unit in segment.units:
        unit.reasons.append(("too_small", "its segment does no work"))
    return Segment(False, segment.units)


def _merged(segments: list[Segment]) -> list[Segment]:
    """Neighbours that PyTorch runs are one."""
    out: list[Segment] = []
    for segment in segments:
        if out and not segment.ours and not out[-1].ours:
            out[-1].units += segment.units
        else:
            out.append(segment)
    return out


def check_full(segments: list[Segment]) -> None:
    counts = Counter(op_of(u.op) for s in segments if not s.ours for u in s.units if works(u) and not writes(u.op))
    if counts:
        found = ", ".join(f"{op} ({count}x)" for op, count in sorted(counts.items()))
        raise TenonError(
            "not_supported", "require_full_compilation", "not all of the model is compiled", "every op that does work", found,
            "tenon.torch.compile(..., dryrun=True) says why; leave require_full_compilation out to let PyTorch run them",
        )  # fmt: skip


def within(segments: list[Segment], limit: int | None) -> list[Segment]:
    """No segment of ours has more than the limit, in bytes of its weights and of its largest result."""
    return segments if limit is None else [part for s in segments for part in (_divided(s, limit) if s.ours else [s])]


def _divided(segment: Segment, limit: int) -> list[Segment]:
    out = [Segment(True, [])]
    held: dict[Node, int] = {}
    largest = 0
    for unit in segment.units:
        weights = {g: bytes_of(g) for n in unit.nodes for g in n.all_input_nodes if g.op == "get_attr"}
        result = max(map(bytes_of, unit.nodes))
        alone = sum(weights.values()) + result
        if alone > limit:
            found = f"{alone} bytes for {unit.op.name}"
            raise TenonError("bad_usage", "memory_limit", "one op alone needs more", f"{limit} bytes", found, "raise the limit")
        if sum((held | weights).values()) + max(largest, result) > limit:
            out.append(Segment(True, []))
            held, largest = {}, 0
        held |= weights
        largest = max(largest, result)
        out[-1].units.append(unit)
    return out
