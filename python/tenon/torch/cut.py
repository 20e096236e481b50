# SPDX-License-Identifier: Apache-2.0
"""Partitions an exported program into segments for Tenon and parts for PyTorch, by Tenon's partitioner."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Container

import torch
from torch.fx import GraphModule, Node

from .. import TenonError
from .._tenon import CutNode, CutValue, cut
from .builder import meta
from .choice import Choice
from .constraints import OURS, THEIRS, Constraint
from .cost import BORDER_NS, LAUNCH_NS, NS_PER_BYTE, bytes_of, overhead_ns, pays_for_calls, tenon_ns, torch_ns
from .ops import op_of
from .ops.shape import VIEWS
from .support import Support, is_getitem, writes
from .units import Unit, units_of, works


@dataclasses.dataclass
class Segment:
    ours: bool
    units: list[Unit]

    @property
    def nodes(self) -> list[Node]:
        return [n for u in self.units for n in u.nodes]

    @property
    def pins(self) -> dict[Node, str]:
        return {n: backend for u in self.units for n, backend in u.pins.items()}


@dataclasses.dataclass
class Plan:
    units: list[Unit]
    segments: list[Segment]
    lower_bound: int

    def left_to_eager(self, reason: str) -> Plan:
        """All of it, for a reason that holds of what Tenon would have run."""
        for unit in (u for s in self.segments if s.ours for u in s.units):
            unit.reasons.append(("does_not_pay", reason))
        return Plan(self.units, _merged([Segment(False, s.units) for s in self.segments]), self.lower_bound)


def guessed_us(segment: Segment) -> dict[str, float | None]:
    """Of a call: in Tenon, its start and borders counted, None where Tenon has no form of an op; in PyTorch."""
    unsupported = any(code == "unsupported" for u in segment.units for code, _ in u.reasons)
    tenon = None if unsupported else (sum(map(tenon_ns, segment.nodes)) + overhead_ns(segment.nodes)) / 1e3
    return {"tenon": tenon, "torch": sum(map(torch_ns, segment.nodes)) / 1e3}


def _returned_views(module: GraphModule) -> dict[Node, str]:
    """Outputs that are views of inputs or of other outputs: copies would not share their memory."""
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
    """Views that as_strided reads beyond their elements."""
    out: dict[Node, str] = {}
    for node in module.graph.nodes:
        if node.op == "call_function" and op_of(node).startswith("as_strided"):
            seen = node.all_input_nodes[0]
            while seen.op == "call_function" and op_of(seen) in VIEWS:
                out[seen] = "as_strided reads the memory that it is a view of"
                seen = seen.all_input_nodes[0]
    return out


def _choose(units: list[Unit], module: GraphModule, choice: Choice) -> None:
    support = Support(choice.engine)
    views = _returned_views(module) | _read_as_memory(module)
    for unit in units:
        left: list[tuple[str, str]] = []
        for node in unit.nodes:
            if is_getitem(node):
                continue
            constraints = choice.constraints.of(node)
            why_not = support.why_not(node)
            refusals = [("unsupported", why_not)] if why_not is not None else []
            refusals += [("view", views[node])] if node in views else []
            if constraints and constraints[0].backend != THEIRS:
                _pin(unit, node, constraints[0], refusals)
            else:
                left += refusals + [(w.code, w.text) for w in constraints]
        if left and unit.pinned:
            raise TenonError(
                "bad_usage", f"group of '{unit.op.name}'", "it is pinned to Tenon and cannot run there whole", "", left[0][1], ""
            )
        unit.reasons += left
        unit.ours = not left


def _pin(unit: Unit, node: Node, constraint: Constraint, refusals: list[tuple[str, str]]) -> None:
    if refusals:
        raise TenonError(
            "not_supported", f"node '{node.name}' ({op_of(node)})", "Tenon, which it is pinned to, does not run it", "", refusals[0][1],
            f"leave {constraint.text} out",
        )  # fmt: skip
    unit.pinned = True
    unit.reasons.append((constraint.code, constraint.text))
    if constraint.backend != OURS:
        unit.pins[node] = constraint.backend


def _values(units: list[Unit], weights: Container[Node]) -> list[CutValue]:
    of = {n: k for k, u in enumerate(units) for n in u.nodes}
    out = []
    for node in dict.fromkeys(g for u in units for n in u.nodes for g in [*n.all_input_nodes, n]):
        if not isinstance(meta(node), torch.Tensor) or node.op == "get_attr" or node in weights:
            continue
        readers = sorted({of[user] for user in node.users if user in of} - {of.get(node, -1)})
        returned = any(user.op == "output" for user in node.users)
        out.append(CutValue(of.get(node), readers, returned, bytes_of(node)))
    return out


def plan(module: GraphModule, choice: Choice, weights: Container[Node] = ()) -> Plan:
    """weights: inputs that engines have packed. Raises TenonError: bad_usage, and not_supported where all was to be compiled and is not."""
    if not choice.of_pieces:
        choice.constraints.check_names(module)
    units = units_of(module, choice)
    _choose(units, module, choice)
    nodes = [
        CutNode(
            u.op.name, sorted(u.needs), ours=u.ours, pinned=u.pinned, counts=works(u), our_ns=_sum(tenon_ns, u), their_ns=_sum(torch_ns, u)
        )
        for u in units
    ]
    least = 1 if choice.require_full else choice.min_block_size
    costs = {"launch_ns": LAUNCH_NS, "border_ns": BORDER_NS, "border_ns_per_byte": NS_PER_BYTE}
    made = cut(nodes, _values(units, weights), min_block_size=least, **costs)
    for k in made.too_small:
        units[k].reasons.append(("too_small", f"its segment has fewer than {choice.min_block_size} ops that do work"))
    for k in made.does_not_pay:
        units[k].reasons.append(("does_not_pay", "PyTorch takes less time for its segment, start and borders counted"))
    segments = [Segment(ours, []) for ours in made.ours]
    for k, place in enumerate(made.place):
        segments[place].units.append(units[k])
    segments = _merged(_if_all_pays([_if_it_works(s) for s in segments], least, choice))
    if choice.require_full:
        check_full(segments)
    return Plan(units, within(segments, choice.memory_limit), made.lower_bound)


def _sum(time: Callable[[Node], float], unit: Unit) -> float:
    return sum(map(time, unit.nodes))


def _if_it_works(segment: Segment) -> Segment:
    """PyTorch only looks otherwise at what a segment without work would copy."""
    if not segment.ours or any(works(u) or u.pinned for u in segment.units):
        return segment
    for unit in segment.units:
        unit.reasons.append(("too_small", "its segment does no work"))
    return Segment(False, segment.units)


def _if_all_pays(segments: list[Segment], least: int | None, choice: Choice) -> list[Segment]:
    """Pieces of a model are called either way."""
    if least is not None or choice.of_pieces or any(u.pinned for s in segments for u in s.units):
        return segments
    ours = [s for s in segments if s.ours]
    if not ours or pays_for_calls(s.nodes for s in ours):
        return segments
    for unit in (u for s in ours for u in s.units):
        unit.reasons.append(("does_not_pay", "PyTorch takes less time for the module, the call of what is compiled counted"))
    return [Segment(False, s.units) for s in segments]


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
