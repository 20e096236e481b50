# SPDX-License-Identifier: Apache-2.0
"""Pieces of torch.compile that stay in eager PyTorch, and what that costs."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any

import torch
from torch._dynamo.exc import SkipFrame
from torch._dynamo.symbolic_convert import InstructionTranslator
from torch._guards import CompileContext
from torch.fx import GraphModule

from .measure import Times, by_turns

GUARDS_NS = 15_000.0  # what Dynamo takes for a call of a piece: guards are checked, the frame is found
SHARE = 0.05  # of a piece's time that guards may take


def measured(module: GraphModule, compiled: Callable[..., Any], inputs: Sequence[Any], kept: Container[int]) -> Times | None:
    """Of a piece, with its example inputs. kept: numbers of inputs that nothing writes to; each call has copies of the others, which both
    times include. None: there are no values to try it with."""
    values = [x.node.hint if isinstance(x, torch.SymInt) else x for x in inputs]
    if any(x is None or (isinstance(x, torch.Tensor) and (x.is_meta or not x.is_cpu or _is_fake(x))) for x in values):
        return None

    def given() -> list[Any]:
        return [x if k in kept or not isinstance(x, torch.Tensor) else x.detach().clone() for k, x in enumerate(values)]

    return by_turns(lambda: compiled(*given()), lambda: module(*given()))


def _is_fake(x: torch.Tensor) -> bool:
    return isinstance(x, torch._subclasses.FakeTensor)


def pays(module: GraphModule, times: Times) -> bool:
    """Whether a piece is faster in Tenon. Where PyTorch could skip the function, a segment must save the time of the guards too."""
    return times.tenon_ns + (GUARDS_NS if is_whole_function(module) else 0) <= times.torch_ns


def left(module: GraphModule, torch_ns: float) -> Callable[..., Any]:
    """The piece as it was traced. torch_ns: time of a call.

    Raises SkipFrame where Dynamo's guards would take more than a small share of the time and the piece is all that a function computes:
    then Python runs the function as if there were no torch.compile, whatever comes in later."""
    if torch_ns * SHARE < GUARDS_NS and is_whole_function(module):
        raise SkipFrame("eager PyTorch takes less time for it than Tenon and Dynamo's guards")
    return module.forward


def is_whole_function(module: GraphModule) -> bool:
    """It is compiled for the first time, and no part of it runs elsewhere; with fullgraph=True a skipped frame is an error."""
    reason, frame = getattr(module, "compile_subgraph_reason", None), CompileContext.current_compile_id()
    if reason is None or reason.graph_break or frame is None or frame.frame_compile_id:
        return False
    return not InstructionTranslator.current_tx().one_graph
