# SPDX-License-Identifier: Apache-2.0
"""Calls of compiled programs, with little overhead between the caller and the engines."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import Graph, GraphModule, Node
from torch.utils import _pytree as pytree

from . import operator
from .input_checks import InputChecks
from .segment import Built, Segment
from .support import is_input_check

Source = tuple[dict[str, Any], str]


def source_of(module: torch.nn.Module, path: str) -> Source | None:
    """The module and the name of a parameter or buffer; looked up at each call, since the tensor may have been replaced."""
    *owners, name = path.split(".")
    for owner in owners:
        module = getattr(module, owner)
    for kept in (module._parameters, module._buffers):
        if name in kept:
            return kept, name
    return None


def _caller(segment: Segment, given: Sequence[int], sources: dict[int, Source]) -> Callable[..., list[torch.Tensor]]:
    """given: indices of the tensors that the caller passes; sources: of those that are looked up in modules."""
    known: tuple[Built | None, list[Any], bool] = None, [], False

    def full(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        at = dict(zip(given, tensors, strict=True))
        return [at[k] if k in at else sources[k][0][sources[k][1]] for k in range(len(given) + len(sources))]

    def segment_call(tensors: list[torch.Tensor], sizes: list[int]) -> list[torch.Tensor]:
        nonlocal known
        built, packed, as_given = known
        if segment.built is not built:
            built = segment.built
            packed = [(built.weights[k], *source) for k, source in sources.items() if k in built.weights]
            as_given = len(packed) == len(sources) and len(built.passed) == len(given)
            known = built, packed, as_given
        if not as_given:
            return segment.run(full(tensors), sizes)
        for weight, kept, name in packed:
            if not weight.is_still(kept[name]):
                return segment.run(full(tensors), sizes)
        return operator.run(built.engine, tensors, sizes)

    return segment_call


def direct(module: GraphModule, segments: dict[str, Segment]) -> Callable[..., tuple[Any, ...]]:
    """What the module does, of its flat inputs, unchecked; weights of segments are no longer handed from one to the next."""
    graph, new = Graph(), {}

    def is_weight(node: Node) -> bool:
        return node.op == "get_attr" and all(u.target in segments for u in node.users) and source_of(module, node.target) is not None

    for node in module.graph.nodes:
        if is_input_check(node) or is_weight(node):
            continue
        if node.op == "call_module" and node.target in segments:
            inputs, sizes = node.args
            sources = {k: source_of(module, n.target) for k, n in enumerate(inputs) if is_weight(n)}
            given = [k for k in range(len(inputs)) if k not in sources]
            call = _caller(segments[node.target], given, sources)
            new[node] = graph.call_function(call, ([new[inputs[k]] for k in given], [new.get(s, s) for s in sizes]))
        else:
            new[node] = graph.node_copy(node, new.__getitem__)
    run = type(GraphModule(module, graph, "Direct")).forward
    return lambda *given: run(module, *given)


class Calls:
    """Of one program; made with the first call. Copies are made anew: they have other segments."""

    def __init__(self) -> None:
        self._made: tuple[InputChecks, Callable[..., Any], int | None, Callable[[Any], Any]] | None = None

    def __deepcopy__(self, _: Any) -> Calls:
        return Calls()

    def __call__(self, program: GraphModule, segments: dict[str, Segment], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Raises TenonError: bad_input; what PyTorch raises where the arguments are others than those of the program."""
        if self._made is None:
            self._made = self._make(program, segments)
        checks, run, count, tree_of = self._made
        if kwargs and count == len(args) + len(kwargs):
            args, kwargs = checks.in_order(args, kwargs)
        if kwargs or len(args) != count:
            return checks.guarded(program, args, kwargs)
        checks.check(args)
        return tree_of(run(*args))

    def _make(self, program: GraphModule, segments: dict[str, Segment]) -> Any:
        """Nested arguments are flattened by the unchanged program."""
        placeholders = [n for n in program.graph.nodes if n.op == "placeholder"]
        checks = [
            (_unset(program.get_submodule(n.target).forward), [placeholders.index(p) for p in n.args])
            for n in program.graph.nodes
            if is_input_check(n) and not n.kwargs
        ]
        count = len(placeholders)
        flat = pytree.tree_unflatten(list(range(count)), program._in_spec) == (tuple(range(count)), {})
        return InputChecks(placeholders, checks), direct(program, segments), count if flat else None, _tree(program._out_spec)


def _unset(check: Callable[..., Any]) -> Callable[..., Any]:
    """Without the setting that PyTorch makes around each call, which tracing goes by; it takes longer than the check."""
    inner = inspect.getclosurevars(check).nonlocals.get("func") if inspect.isfunction(check) else None
    return inner if inspect.isfunction(inner) else check


def _tree(spec: Any) -> Callable[[Any], Any]:
    count = spec.num_leaves
    example = pytree.tree_unflatten(list(range(count)), spec)
    if example == 0:
        return lambda made: made[0]
    if example == tuple(range(count)) and type(example) is tuple:
        return tuple
    return lambda made: pytree.tree_unflatten(made, spec)
