# SPDX-License-Identifier: Apache-2.0
"""TorchScript modules."""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram

from .. import TenonError


def exported(module: torch.jit.ScriptModule, args: tuple[Any, ...], named: dict[str, Any]) -> ExportedProgram:
    """Raises TenonError: bad_usage; what PyTorch's converter raises."""
    from torch._export.converter import TS2EPConverter

    _check_arguments(module, args, named)
    return TS2EPConverter(module, args, named or None).convert()


def _check_arguments(module: torch.jit.ScriptModule, args: tuple[Any, ...], named: dict[str, Any]) -> None:
    """The converter would read past what is given, defaults left out too. Raises TenonError: bad_usage."""
    expected = module.forward.schema.arguments[1:]
    given = dict(zip((e.name for e in expected), args, strict=False)) | named
    fits = len(args) + len(named) == len(expected) and set(given) == {e.name for e in expected}
    for e in expected if fits else []:
        kind = torch._C._jit_try_infer_type(given[e.name])
        fits = fits and (not kind.success() or kind.type().isSubtypeOf(e.type))
    if not fits:
        wanted = ", ".join(f"{e.name}: {e.type}" for e in expected)
        found = ", ".join([type(x).__name__ for x in args] + [f"{k}={type(x).__name__}" for k, x in named.items()])
        raise TenonError("bad_usage", "inputs", "the module takes others", wanted, found or "nothing", "")


class Results:
    """The structure of a script's return value, since the converter turns tuples into lists. Empty where the module is no script."""

    def __init__(self, module: Any) -> None:
        self._kind = _kind_of(module.forward.schema.returns[0].type) if isinstance(module, torch.jit.ScriptModule) else None

    def of(self, made: Any) -> Any:
        return _as_kind(made, self._kind)


def _kind_of(declared: Any) -> Any:
    """A tuple of kinds for a tuple, a list of one for a list, a dict of one; None for what holds nothing."""
    kind = declared.kind()
    if kind == "TupleType":
        return tuple(map(_kind_of, declared.elements()))
    if kind == "ListType":
        return [_kind_of(declared.getElementType())]
    if kind == "DictType":
        return {"": _kind_of(declared.getValueType())}
    return _kind_of(declared.getElementType()) if kind == "OptionalType" else None


def _as_kind(made: Any, kind: Any) -> Any:
    if made is None or kind is None:
        return made
    if isinstance(kind, tuple):
        return tuple(_as_kind(one, k) for one, k in zip(made, kind, strict=True))
    if isinstance(kind, list):
        return [_as_kind(one, kind[0]) for one in made]
    return {name: _as_kind(one, kind[""]) for name, one in made.items()}
