# SPDX-License-Identifier: Apache-2.0
"""From what a user has to a program of ATen's ops that writes to nothing but buffers and inputs, at its end."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule

from .. import TenonError


@dataclasses.dataclass
class Input:
    """What an input may be: a shape, or three of them; sizes that differ between these are dynamic."""

    shape: Sequence[int] | None = None
    min_shape: Sequence[int] | None = None
    opt_shape: Sequence[int] | None = None
    max_shape: Sequence[int] | None = None
    dtype: torch.dtype = torch.float32

    def __post_init__(self) -> None:
        least, most = self.min_shape or self.shape, self.max_shape or self.shape
        if least is None or most is None:
            raise TenonError("bad_usage", "Input", "an input needs a shape", "shape, or min_shape and max_shape", "neither", "")
        usual = self.opt_shape or self.shape or most
        if not len(least) == len(usual) == len(most) or any(not a <= b <= c for a, b, c in zip(least, usual, most, strict=True)):
            raise TenonError("bad_usage", "Input", "sizes must not fall", "min <= opt <= max", f"{least}, {usual}, {most}", "")
        self._bounds = list(zip(least, usual, most, strict=True))

    def example(self) -> torch.Tensor:
        """A size that varies is no 1, which tracing would take for one that does not."""
        sizes = [min(max(usual, 2), most) if least != most else usual for least, usual, most in self._bounds]
        return torch.zeros(sizes, dtype=self.dtype)

    def dynamic(self) -> dict[int, Any]:
        """Axes whose sizes vary."""
        return {k: torch.export.Dim.DYNAMIC(min=a, max=c) for k, (a, _, c) in enumerate(self._bounds) if a != c}


def _example(given: Any) -> Any:
    return given.example() if isinstance(given, Input) else given


def _dynamic(given: Any) -> Any:
    if isinstance(given, Input):
        return given.dynamic() or None
    if isinstance(given, (list, tuple)):
        return type(given)(map(_dynamic, given))
    return {k: _dynamic(v) for k, v in given.items()} if isinstance(given, dict) else None


def exported(module: Any, inputs: Sequence[Any] | None, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any) -> ExportedProgram:
    """Raises TenonError: bad_usage; what torch.export raises."""
    if isinstance(module, ExportedProgram):
        return module
    if not isinstance(module, torch.nn.Module):
        raise TenonError(
            "bad_usage", "module", "this is no module", "a torch.nn.Module, an ExportedProgram or a TorchScript module",
            type(module).__name__, "",
        )  # fmt: skip
    if not isinstance(inputs, (list, tuple)):
        found = type(inputs).__name__
        raise TenonError("bad_usage", "inputs", "a module is traced with inputs", "a list of tensors or of tenon.torch.Input", found, "")
    args = tuple(torch.utils._pytree.tree_map(_example, list(inputs), is_leaf=lambda x: isinstance(x, Input)))
    named = {k: _example(v) for k, v in (kwargs or {}).items()}
    if isinstance(module, torch.jit.ScriptModule):
        return _of_script(module, args, named)
    if dynamic_shapes is None and any(isinstance(x, Input) for x in torch.utils._pytree.tree_leaves([inputs, kwargs or {}])):
        if named:
            raise TenonError("not_supported", "kwargs", "not supported yet: ranges beside named inputs", "dynamic_shapes", "Input", "")
        dynamic_shapes = tuple(map(_dynamic, inputs))
    with torch.no_grad():
        return torch.export.export(module, args, named, dynamic_shapes=dynamic_shapes)


def _of_script(module: torch.jit.ScriptModule, args: tuple[Any, ...], named: dict[str, Any]) -> ExportedProgram:
    from torch._export.converter import TS2EPConverter

    return TS2EPConverter(module, args, named or None).convert()


def program_of(program: ExportedProgram) -> GraphModule:
    """Weights and buffers are attributes; buffers and inputs that are written to are copied into at the end."""
    module = program.run_decompositions({}).module()
    for node in list(module.graph.nodes):  # what tracing has found out of results; of inputs it stays to be checked
        if node.target is torch.ops.aten._assert_tensor_metadata.default and node.args[0].op != "placeholder":
            module.graph.erase_node(node)
    return module
