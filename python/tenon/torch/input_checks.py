# SPDX-License-Identifier: Apache-2.0
"""Inputs of a compiled program, compared with those that it was exported for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch.fx import GraphModule, Node

from .. import TenonError
from .builder import expression, meta

Check = tuple[Callable[..., Any], list[int]]


class InputChecks:
    def __init__(self, placeholders: Sequence[Node], checks: Sequence[Check]) -> None:
        """checks: the conditions of torch.export on inputs, each with the places of its own; none: PyTorch has them elsewhere."""
        self._names = [str(n.target) for n in placeholders]
        self._expected = [meta(n) for n in placeholders]
        self._kinds = [(x.dtype, x.is_cpu) if isinstance(x, torch.Tensor) else None for x in self._expected]
        self._checks = list(checks)

    def check(self, given: Sequence[Any]) -> None:
        """Raises TenonError: bad_input."""
        try:
            for x, kind in zip(given, self._kinds, strict=True):
                assert kind is None or (x.dtype is kind[0] and x.is_cpu is kind[1])
            for check, places in self._checks:
                check(*[given[k] for k in places])
        except (AssertionError, AttributeError, IndexError, TypeError) as e:
            raise self._refusal(given, str(e)) from None
        if not self._checks:
            self._look(given)

    def in_order(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Without names, where those are the ones of the inputs that are left."""
        names = self._names[len(args) :]
        return ((*args, *(kwargs[n] for n in names)), {}) if set(names) == set(kwargs) else (args, kwargs)

    def guarded(self, program: GraphModule, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        try:
            return program(*args, **kwargs)
        except AssertionError as e:
            if not str(e).startswith("Guard failed"):
                raise
            raise self._refusal(torch.utils._pytree.tree_leaves((args, kwargs)), str(e)) from None

    def _refusal(self, given: Sequence[Any], why: str) -> TenonError:
        try:
            self._look(given)
        except TenonError as e:
            return e
        return TenonError("bad_input", "inputs", "the program was exported for others", why.removeprefix("Guard failed: "), "", _ADVICE)

    def _look(self, given: Sequence[Any]) -> None:
        known: dict[sympy.Symbol, int] = {}
        for name, expected, x in zip(self._names, self._expected, given, strict=False):
            if isinstance(expected, torch.Tensor) and not _fits(expected, x, known):
                found = f"{_dtype(x)}{list(x.shape)} on {x.device}" if isinstance(x, torch.Tensor) else type(x).__name__
                raise TenonError("bad_input", f"input '{name}'", "the program was exported for others", _text(expected), found, _ADVICE)


_ADVICE = "compile for these sizes: tenon.torch.Input(min_shape=..., max_shape=...), or dynamic_shapes"


def _fits(expected: torch.Tensor, x: Any, known: dict[sympy.Symbol, int]) -> bool:
    if not isinstance(x, torch.Tensor) or x.dtype != expected.dtype or x.device.type != expected.device.type or x.dim() != expected.dim():
        return False
    for wanted, size in zip(expected.shape, x.shape, strict=True):
        exactly = expression(wanted).subs(known)
        if exactly.is_Symbol:
            known[exactly] = size
            least, most = _bounds(wanted)
            if not least <= size <= most:
                return False
        elif exactly.is_Integer and int(exactly) != size:
            return False
    return True


def _bounds(size: Any) -> tuple[Any, Any]:
    """PyTorch's symbols begin at 2 where smaller sizes run as well."""
    bounds = size.node.shape_env.bound_sympy(size.node.expr)
    return 0 if bounds.lower == 2 else bounds.lower, bounds.upper


def _dtype(x: torch.Tensor) -> str:
    return str(x.dtype).removeprefix("torch.")


def _text(x: torch.Tensor) -> str:
    """The type for error messages: "float32[batch in 1..64, 16]"."""
    sizes = []
    for size in x.shape:
        known = expression(size)
        least, most = (0, 0) if known.is_Integer else _bounds(size)
        sizes.append(str(known) if known.is_Integer else f"{known} in {least}..{'' if 'oo' in str(most) else most}")
    return f"{_dtype(x)}[{', '.join(sizes)}]"
