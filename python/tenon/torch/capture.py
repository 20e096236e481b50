# SPDX-License-Identifier: Apache-2.0
"""Captures a module as a program of ATen ops, which writes only to buffers and inputs, at its end."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import GraphModule

from .. import TenonError
from . import scripts
from .functionalize import functional
from .warned import without_leaf_spec_warning


@dataclasses.dataclass
class Input:
    """The shape of an input, or its least, usual and largest shape; sizes that differ between these are dynamic."""

    shape: Sequence[int] | None = None
    min_shape: Sequence[int] | None = None
    opt_shape: Sequence[int] | None = None
    max_shape: Sequence[int] | None = None
    dtype: torch.dtype | None = None
    """None: the dtype of the module's weights."""

    def __post_init__(self) -> None:
        least, most = self.min_shape or self.shape, self.max_shape or self.shape
        if least is None or most is None:
            raise TenonError("bad_usage", "Input", "an input needs a shape", "shape, or min_shape and max_shape", "neither", "")
        usual = self.opt_shape or self.shape or most
        if not len(least) == len(usual) == len(most) or any(not a <= b <= c for a, b, c in zip(least, usual, most, strict=True)):
            raise TenonError("bad_usage", "Input", "sizes must not fall", "min <= opt <= max", f"{least}, {usual}, {most}", "")
        if any(not isinstance(size, int) or size < 0 for size in (*least, *most)):
            found = f"{tuple(least)}, {tuple(most)}"
            raise TenonError("bad_usage", "Input", "a size is a number", "0 or more; min_shape and max_shape for what varies", found, "")
        self._bounds = list(zip(least, usual, most, strict=True))

    def example(self, dtype: torch.dtype) -> torch.Tensor:
        """The example size of a dynamic axis is neither 0 nor 1, since tracing treats these as static."""
        sizes = [max(usual, 2) if least != most else usual for least, usual, most in self._bounds]
        return torch.zeros(sizes, dtype=self.dtype or dtype)

    def dynamic(self) -> dict[int, Any]:
        """Axes whose sizes vary. PyTorch counts from 2 on, and takes a range of one size for none."""
        return {k: torch.export.Dim.DYNAMIC(min=a, max=max(c, 3)) for k, (a, _, c) in enumerate(self._bounds) if a != c}


def _example(given: Any, dtype: torch.dtype) -> Any:
    """dtype: of what says none."""
    return torch.utils._pytree.tree_map(lambda x: x.example(dtype) if isinstance(x, Input) else x, given, is_leaf=_is_range)


def _is_range(given: Any) -> bool:
    return isinstance(given, Input)


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
    dtype = next((p.dtype for p in module.parameters() if p.is_floating_point()), torch.float32)
    args, named = tuple(_example(list(inputs), dtype)), _example(dict(kwargs or {}), dtype)
    if isinstance(module, torch.jit.ScriptModule):
        return scripts.exported(module, args, named)
    if dynamic_shapes is None and any(isinstance(x, Input) for x in torch.utils._pytree.tree_leaves([inputs, kwargs or {}])):
        bound = inspect.signature(module.forward).bind(*inputs, **(kwargs or {}))
        dynamic_shapes = {name: _dynamic(given) for name, given in bound.arguments.items()}
    with torch.no_grad(), without_leaf_spec_warning():
        return torch.export.export(module, args, named, dynamic_shapes=dynamic_shapes)


def program_of(program: ExportedProgram) -> GraphModule:
    """Weights and buffers are attributes; buffers and inputs that are written to are copied into at the end."""
    with without_leaf_spec_warning():
        module = functional(program).module()
    for node in list(module.graph.nodes):  # what tracing has found out of results; of inputs it stays to be checked
        if node.target is torch.ops.aten._assert_tensor_metadata.default and node.args[0].op != "placeholder":
            module.graph.erase_node(node)
    return module
