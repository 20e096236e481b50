# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own samples of its ops (torch.testing's OpInfo), compiled by tenon.torch and held against eager PyTorch."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import tenon.torch
import torch
from networks import Function
from torch.utils import _pytree as pytree


def ops() -> dict[str, Any]:
    """OpInfos that take f32 on the CPU, by name and variant."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {
        op.name + (f".{op.variant_test_name}" if op.variant_test_name else ""): op
        for op in op_db
        if op.supports_dtype(torch.float32, "cpu")
    }


def samples(op: Any) -> Iterator[tuple[Callable[..., Any], list[torch.Tensor]]]:
    """A function of tensors for each sample, and the tensors; whatever else an op takes is part of the function."""
    torch.manual_seed(0)
    for sample in op.sample_inputs("cpu", torch.float32, requires_grad=False):
        leaves, tree = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
        places = [k for k, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]

        def function(*given: torch.Tensor, leaves: list[Any] = leaves, tree: Any = tree, places: list[int] = places) -> Any:
            filled = list(leaves)
            for place, tensor in zip(places, given, strict=True):
                filled[place] = tensor
            first, args, kwargs = pytree.tree_unflatten(filled, tree)
            return op.op(first, *args, **kwargs)

        yield function, [leaves[k] for k in places]


def outcome(function: Callable[..., Any], given: list[torch.Tensor]) -> tuple[str, str]:
    """One of: "right"; "wrong", with what differs; "error", with the error; "left", where no op of it runs in Tenon; "not exported",
    where PyTorch refuses it, or its exported program gives other results in PyTorch too (it draws other random numbers)."""

    def copies() -> list[torch.Tensor]:
        return [t.detach().clone(memory_format=torch.preserve_format) for t in given]

    def results(call: Callable[..., Any]) -> list[Any]:
        torch.manual_seed(1)
        with torch.no_grad():
            return pytree.tree_leaves(call(*copies()))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = results(function)
            with torch.no_grad():
                program = torch.export.export(Function(function), tuple(copies()))
            if _difference(results(program.module()), expected):
                return "not exported", "the exported program gives other results in PyTorch"
        except Exception as e:  # whatever PyTorch raises
            return "not exported", f"{type(e).__name__}: {e}"
        try:
            compiled = tenon.torch.compile(program, min_block_size=1)
            if not compiled.segments:
                return "left", ""
            difference = _difference(results(compiled), expected)
        except Exception as e:  # none is allowed
            return "error", f"{type(e).__name__}: {e}"
    return ("wrong", difference) if difference else ("right", "")


def _difference(made: list[Any], expected: list[Any]) -> str:
    try:
        torch.testing.assert_close(made, expected, rtol=1e-4, atol=1e-5, equal_nan=True)
    except AssertionError as e:
        return str(e)
    return ""
