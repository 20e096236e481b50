# SPDX-License-Identifier: Apache-2.0
"""torch.compile(module, backend="tenon"): each piece between graph breaks is partitioned on its own."""

from __future__ import annotations

import logging
from collections.abc import Container, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext
from torch.fx import GraphModule, Node
from torch.utils._python_dispatch import _disable_current_modes

from .. import TenonError
from .._tenon import _torch_options
from .builder import ONNX_TYPES
from .calls import direct
from .choice import Choice
from .cut import Plan, guessed_us, plan
from .eager import left, measured, pays
from .report import report
from .segment import Segment
from .stitch import stitch
from .support import writes

log = logging.getLogger(__name__)

OPTIONS = (
    *_torch_options,
    "atomic_groups",
    "backend_libraries",
    "backends",
    "measure",
    "memory_limit",
    "min_block_size",
    "on_report",
    "pins",
    "require_full_compilation",
    "share_weights",
    "torch_executed_modules",
    "torch_executed_ops",
    "truncate_double",
    "truncate_long_and_double",
)


def choice_of(options: dict[str, Any]) -> Choice:
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise TenonError("bad_usage", "options", "there is no such option", ", ".join(sorted(OPTIONS)), unknown[0], "")
    return Choice(
        options.get("backends", ()),
        options.get("min_block_size"),
        options.get("torch_executed_ops", ()),
        options.get("torch_executed_modules", ()),
        options.get("pins", {}),
        options.get("require_full_compilation", False),
        options.get("atomic_groups", ()),
        options.get("memory_limit"),
        options.get("truncate_double", False),
        options.get("truncate_long_and_double", False),
        options.get("backend_libraries", {}),
        options.get("share_weights", False),
        {name: options[name] for name in _torch_options if name in options},
        options.get("measure", True),
        of_pieces=True,
    )


def _why_training(inputs: Sequence[Any]) -> str | None:
    if torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in inputs):
        return "gradients are wanted, and Tenon has none: call it under torch.no_grad() to compile it"
    return None


def _weights(inputs: Sequence[Any]) -> dict[int, torch.Tensor]:
    """Parameters and buffers, which rarely change between calls."""
    return {
        k: x
        for k, x in enumerate(inputs)
        if isinstance(x, torch.nn.Parameter) or (isinstance(x, torch.Tensor) and hasattr(x, "_dynamo_static_input_type"))
    }


def _written_after() -> list[int]:
    """Numbers of inputs of the piece that is being compiled to which AOTAutograd copies results after it."""
    context = TracingContext.try_get()
    return list(context.fw_metadata.mutated_inp_runtime_indices) if context is not None and context.fw_metadata is not None else []


class _Piece:
    """A piece as a program of ATen ops with all inputs as placeholders."""

    def __init__(self, choice: Choice, weights: dict[int, torch.Tensor], inputs: int) -> None:
        self._choice, self._weights, self._inputs = choice, weights, inputs
        self.plan: Plan | None = None
        self.runs_in_tenon = False
        self.unwritten: Container[int] = ()
        """Indices of inputs; empty where AOTAutograd has replaced the inputs."""

    def __call__(self, module: GraphModule, inputs: Sequence[Any]) -> Any:
        with _disable_current_modes():  # tensors that are made here are real
            return self._compiled(module)

    def _compiled(self, module: GraphModule) -> Any:
        placeholders = [n for n in module.graph.nodes if n.op == "placeholder"]
        numbers = {n: k for k, n in enumerate(placeholders)} if len(placeholders) == self._inputs else {}
        written = {n.args[0] for n in module.graph.nodes if writes(n)} | {n for n, k in numbers.items() if k in _written_after()}

        def weight_of(node: Node) -> torch.Tensor | None:
            tensor = self._weights.get(numbers.get(node, -1)) if node not in written else None
            if tensor is None or tensor.dtype not in ONNX_TYPES or tensor.dtype == torch.bfloat16 or tensor.device.type != "cpu":
                return None
            return tensor if type(tensor) in (torch.Tensor, torch.nn.Parameter) else None

        weights = {n for n in placeholders if n in numbers and weight_of(n) is not None}
        self.plan = plan(module, self._choice, weights)
        self.unwritten = {k for n, k in numbers.items() if n not in written}
        stitched, segments = stitch(module, self.plan, weight_of, self._choice.engine)
        self.runs_in_tenon = bool(segments)
        log.info("%d segments, %d of them Tenon's", len(self.plan.segments), len(segments))
        return _boxed(stitched, segments)


def _boxed(stitched: GraphModule, segments: dict[str, Segment]) -> Any:
    run = direct(stitched, segments)

    def call(given: list[Any]) -> Any:
        taken = list(given)
        given.clear()
        if not torch.is_grad_enabled():
            return run(*taken)
        with torch.no_grad():
            return run(*taken)

    call._boxed_call = True  # type: ignore[attr-defined]
    call.segments = segments  # type: ignore[attr-defined]
    return call


def backend(module: GraphModule, inputs: Sequence[Any], *, options: dict[str, Any] | None = None, **_: Any) -> Any:
    """What torch.compile calls. options: as tenon.torch.compile; on_report: called with each piece's report."""
    given = dict(options or {})
    on_report = given.get("on_report")
    choice = choice_of(given)
    why = _why_training(inputs)
    if why is not None:
        log.warning("a piece of %d nodes runs in eager PyTorch: %s", len(module.graph.nodes), why)
        if on_report:
            on_report({"segments": [], "nodes": [], "training": why})
        return module.forward
    piece = _Piece(choice, {} if choice.share_weights else _weights(inputs), len(inputs))
    compiled = aot_autograd(fw_compiler=piece, inference_compiler=piece, decompositions={})(module, inputs)
    if piece.plan is None:  # there is nothing to compute
        return compiled
    made = piece.plan
    times = measured(module, compiled, inputs, piece.unwritten) if choice.measures and piece.runs_in_tenon else None
    leaves = not piece.runs_in_tenon or (times is not None and not pays(module, times))
    if times is not None and leaves:
        made = made.left_to_eager(times.text)
    if on_report:
        on_report(report(made, times))
    if not leaves:
        return compiled
    return left(module, 1e3 * sum(guessed_us(s)["torch"] or 0 for s in made.segments) if times is None else times.torch_ns)
