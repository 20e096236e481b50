# SPDX-License-Identifier: Apache-2.0
"""Compiling ahead of time."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import torch
from torch.fx import GraphModule, Node

from .. import TenonError
from .builder import ONNX_TYPES
from .calls import Calls
from .capture import exported, program_of
from .choice import Choice
from .cut import Plan, plan
from .measure import Times, by_turns
from .report import report
from .scripts import Results
from .segment import Segment, is_traced
from .stitch import attribute, stitch
from .support import writes

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._options import EngineOptions

log = logging.getLogger(__name__)


class Compiled(torch.nn.Module):
    """A compiled module, for inference. It has the inputs and outputs of the original module."""

    def __init__(self, program: GraphModule, segments: dict[str, Segment], report: dict[str, Any], results: Results, left: Any) -> None:
        super().__init__()
        self.program = program
        self.segments = segments
        self.report = report
        """Which nodes run in Tenon and which in PyTorch, and why."""
        self._results = results
        self._left = left, left is not None and left.training  # in a tuple: no module of this one's, whose parameters it has already
        self._calls = Calls()
        self._warned = False

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        graded = torch.is_grad_enabled()
        if graded and any(isinstance(x, torch.Tensor) and x.requires_grad for x in (*args, *kwargs.values())):
            raise TenonError(
                "not_supported", "inputs", "gradients are wanted, and Tenon has none", "inputs without requires_grad", "requires_grad",
                "call it under torch.no_grad()",
            )  # fmt: skip
        if is_traced():
            return self._results.of(self.program(*args, **kwargs))
        if graded:
            self._warn_of_gradients()
            with torch.no_grad():
                return self._run(args, kwargs)
        return self._run(args, kwargs)

    def _warn_of_gradients(self) -> None:
        """Once, where the module's weights have them and a caller may expect results to have them too."""
        if not self._warned:
            self._warned = True
            if any(p.requires_grad for p in self.parameters()):
                log.warning("gradients are wanted, and Tenon has none: call it under torch.no_grad(), or the module itself to train it")

    def _run(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        left, training = self._left
        if left is not None and left.training == training:
            return left(*args, **kwargs)
        return self._results.of(self._calls(self._modules["program"], self.segments, args, kwargs))


def compile(
    module: Any,
    *,
    inputs: Sequence[Any] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    enabled: bool = True,
    backends: Sequence[str] = (),
    backend_libraries: Mapping[str, str | PathLike[str]] | None = None,
    min_block_size: int | None = None,
    torch_executed_ops: Sequence[Any] = (),
    torch_executed_modules: Sequence[str] = (),
    pins: Mapping[str, str] | None = None,
    require_full_compilation: bool = False,
    atomic_groups: Sequence[Sequence[Any]] = (),
    memory_limit: int | None = None,
    truncate_double: bool = False,
    truncate_long_and_double: bool = False,
    share_weights: bool = False,
    measure: bool = True,
    dryrun: bool = False,
    **engine: Unpack[EngineOptions],
) -> Any:
    """Compiles a module: ops that Tenon supports run in its engines, the others in PyTorch.

    module: a torch.nn.Module, an ExportedProgram or a TorchScript module. inputs: tensors, or tenon.torch.Input with ranges of sizes.
    backends: who runs Tenon's segments, in order of priority. backend_libraries: files of the libraries that some of them run on; left
    out, those of the packages that this Python has. min_block_size: ops that do work, of a segment; None: as many as pay.
    torch_executed_ops ("aten::add"), torch_executed_modules (paths or classes): PyTorch runs them. pins: nodes (as the report
    names them), else modules, and who runs them: "torch", "tenon", or one of backends. atomic_groups: chains of ops that no cut
    divides. memory_limit: bytes of weights and results of one engine; larger segments are divided. truncate_double: where a backend that
    is listed before another lacks f64, its ops work in f32; truncate_long_and_double: and in i32 where it lacks i64. share_weights: engines
    read weights where they lie, and pack none of them: less memory, slower. measure: a call is timed against the module's own, and the
    module is left to eager where that takes less time, unless min_block_size, pins or require_full_compilation decide. dryrun: the report
    alone, nothing is built or timed. enabled: False gives the module back. engine: options of tenon.compile for each engine, such as
    precision.

    Raises TenonError: bad_usage, not_supported for require_full_compilation, wrong_target for a precision that this CPU lacks; what
    torch.export raises.
    """
    choice = Choice(
        backends,
        min_block_size,
        torch_executed_ops,
        torch_executed_modules,
        pins or {},
        require_full_compilation,
        atomic_groups,
        memory_limit,
        truncate_double,
        truncate_long_and_double,
        backend_libraries or {},
        share_weights,
        engine,
        measure,
    )
    if not enabled:
        return module
    exported_program = exported(module, inputs, kwargs, dynamic_shapes)
    program = program_of(exported_program)
    made = plan(program, choice)
    if dryrun:
        return report(made)

    written = {n.args[0] for n in program.graph.nodes if writes(n)}

    def weight_of(node: Node) -> torch.Tensor | None:
        if share_weights or node.op != "get_attr" or node in written:
            return None
        tensor = attribute(program, node.target)
        return tensor if isinstance(tensor, torch.Tensor) and tensor.dtype in ONNX_TYPES and tensor.dtype != torch.bfloat16 else None

    def finished(made: Plan, times: Times | None) -> Compiled:
        stitched, segments = stitch(program, made, weight_of, choice.engine)
        left = None if segments or not isinstance(module, torch.nn.Module) else module
        return Compiled(stitched, segments, report(made, times), Results(module), left)

    compiled, examples = finished(made, None), exported_program.example_inputs
    if compiled.segments and choice.measures and not written and examples is not None:
        args, named = examples
        eager = module if isinstance(module, torch.nn.Module) else program
        times = by_turns(lambda: compiled(*args, **named), lambda: eager(*args, **named))
        compiled.report["measured_us"] = times.microseconds
        if times.tenon_ns > times.torch_ns:
            compiled = finished(made.left_to_eager(times.text), times)
    if not compiled.segments:
        warnings.warn("no op of the module runs in Tenon: see the report", stacklevel=2)
    return compiled
