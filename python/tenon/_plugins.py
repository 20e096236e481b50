# SPDX-License-Identifier: Apache-2.0
"""`@tenon.plugin`: registers a function as an op; its signature declares operands, fields and results."""

from __future__ import annotations

import inspect
import struct
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

from ._error import TenonError
from ._tenon import SizedByData, SymbolicSize, _add_plugin

F = TypeVar("F", bound=Callable[..., Any])
F32, TEXT, I64 = 1, 6, 10  # of tenon_field_type
TYPES = {float: (F32, "<f"), bool: (I64, "<q"), int: (I64, "<q"), str: (TEXT, "")}
_origins: dict[tuple[str, str, str], tuple[str, str]] = {}


class Operand(NamedTuple):
    """What a function that gives a definition gets for an operand."""

    dtype: str
    shape: tuple[int | SymbolicSize, ...] | None
    """The shape; None: the rank is unknown."""


def sized_by_data(most: int | SymbolicSize) -> SizedByData:
    """One of the sizes that `shape` of a plugin gives, which is known only when the function has run: at most so many."""
    return SizedByData(most)


def plugin(
    name: str,
    *,
    definition: str | Callable[..., str] | None = None,
    shape: Callable[..., Any] | None = None,
    dtype: str | Sequence[str | None] | None = None,
    results: int | Sequence[str] = 1,
    version: str = "1",
    arrays: Literal["numpy", "torch"] = "numpy",
    ranges: Mapping[str, tuple[float, float]] | None = None,
    choices: Mapping[str, Sequence[str]] | None = None,
    samples: Sequence[str] = (),
) -> Callable[[F], F]:
    """Registers a function as an op of this process: models that are compiled or loaded from now on may have it.

    name: "namespace::Name"; a namespace is a domain of ONNX. Positional parameters are operands (with the default None: may be missing;
    `*xs`: any number), those by name alone are fields: float (f32), int (i64), bool or str, or a list of floats or of ints; annotated
    `int | None = None` where it may be left out, alone where it must be given. A function with the field `out` writes its results to the
    arrays given there; else what it returns is copied: one array, or a tuple of as many as there are results.

    definition: what it computes in ops of ONNX, "Mul(x, Sigmoid(Mul(x, beta)))", "Concat(xs, axis=axis)" for `*xs`, or with a list
    "Reshape(x, [rows, -1])"; the reference and other backends go by it. Or a function
    from operands (each an Operand, None where one is missing) and fields by name to such a text, or to a graph in Tenon's text form. shape:
    from the shapes of operands, tuples of ints and SymbolicSize (None where one is missing), to that of the result, or a tuple of several;
    a size may be sized_by_data(most). Without it results are as the definition says, else of operand 0's shape. dtype: of results,
    "f32" or a list; None: operand 0's. results: how many, or their names. arrays: what the function is given, which lives for the time
    of the call and is not written to. ranges: least and most of fields that are numbers. choices: what fields that are texts may be.
    samples: cases to try it with, "f32[2,3], i64[2] = [1, 0]; beta=1.5" (test_plugin).

    The same function may be registered again, as another cell of a notebook does. Raises TenonError.
    """

    def register(function: F) -> F:
        limits = _Limits(dict(ranges or {}), {field: list(texts) for field, texts in (choices or {}).items()}, list(samples))
        _register(function, name, definition, shape, dtype, results, version, arrays, limits)
        return function

    return register


class _Limits(NamedTuple):
    ranges: dict[str, tuple[float, float]]
    choices: dict[str, list[str]]
    samples: list[str]


def _refuse(place: str, what: str, expected: str, found: str, advice: str = "") -> TenonError:
    return TenonError("bad_usage", place, what, expected, found, advice)


def _register(
    function: Callable[..., Any],
    name: str,
    definition: str | Callable[..., str] | None,
    shape: Callable[..., Any] | None,
    dtype: str | Sequence[str | None] | None,
    results: int | Sequence[str],
    version: str,
    arrays: str,
    limits: _Limits,
) -> None:
    place = f"plugin '{name}'"
    if not isinstance(function, types.FunctionType):
        raise _refuse(place, "this is no function of Python", "a function that `def` made", type(function).__name__)
    name_space, _, short = name.rpartition("::")
    if not name_space or not short:
        raise _refuse(place, "an op has a namespace", '"namespace::Name"', f'"{name}"')
    if arrays not in ("numpy", "torch"):
        raise _refuse(place, "there is no such kind of arrays", "numpy or torch", str(arrays))
    names = _names_of_results(results, place)
    text = definition if isinstance(definition, str) else None
    if text is not None and len(names) > 1:
        raise _refuse(place, "not supported yet: a definition of several results", "one result", str(len(names)))
    operands, fields, takes_out = _signature(function, place)
    _check_limits(limits, fields, place)
    infers = definition is None or shape is not None or dtype is not None
    if infers and shape is None and not operands:
        raise _refuse(place, "nothing gives the shape of its results", "shape=, a definition or an operand", "none of them")
    given = [dtype] * len(names) if dtype is None or isinstance(dtype, str) else list(dtype)
    if len(given) != len(names) or (None in given and infers and not operands):
        raise _refuse(place, "nothing gives the dtype of each result", f"dtype= of {len(names)}", str(dtype))
    _same_function(function, (name_space, short, version), place)
    code = function.__code__
    options = (name, version, operands, fields, names, given, text, arrays, infers, *limits)
    _add_plugin(
        {
            "name_space": name_space,
            "name": short,
            "version": version,
            "docs": (inspect.getdoc(function) or "").partition("\n")[0] or None,
            "definition": text,
            "define": definition if text is None else None,
            "operands": operands,
            "results": names,
            "fields": fields,
            "dtypes": given,
            "function": function,
            "shape": shape,
            "takes_out": takes_out,
            "torch": arrays == "torch",
            "infers": infers,
            "library": f"module {function.__module__} of Python",
            "origin": f"{Path(code.co_filename).name}:{code.co_firstlineno}",
            **limits._asdict(),
            "source": repr((options, _source(function), _source(shape), _source(definition if text is None else None))),
        }
    )


def _check_limits(limits: _Limits, fields: list[Any], place: str) -> None:
    types_of = {field[0]: field[1] for field in fields}
    for option, given, wanted in (("ranges", limits.ranges, (F32, I64)), ("choices", limits.choices, (TEXT,))):
        for field in given:
            if types_of.get(field) not in wanted:
                found = "a field of another type" if field in types_of else "no such field"
                raise _refuse(place, f"{option} of '{field}'", "a field that is a " + ("number" if F32 in wanted else "text"), found)
    for field, (least, most) in limits.ranges.items():
        if not least <= most:
            raise _refuse(place, f"the range of field '{field}' is empty", "least <= most", f"{least}, {most}")


def _names_of_results(results: int | Sequence[str], place: str) -> list[str]:
    names = [f"y{k}" if results > 1 else "y" for k in range(results)] if isinstance(results, int) else list(results)
    if not names or isinstance(results, str):
        raise _refuse(place, "an op has at least one result", "a count, or a list of names", repr(results))
    return names


def _signature(function: Callable[..., Any], place: str) -> tuple[list[Any], list[Any], bool]:
    """Operands (name, optional, variadic), fields, and whether there is `out`."""
    operands, fields, takes_out = [], [], False
    try:
        parameters = inspect.signature(function, eval_str=True).parameters.values()
    except NameError as error:
        raise _refuse(place, "an annotation cannot be read", "a type", str(error)) from None
    for p in parameters:
        if p.kind is p.VAR_KEYWORD:
            raise _refuse(place, f"the fields of '**{p.name}' are unknown", "each by its name", f"**{p.name}")
        if p.kind is p.KEYWORD_ONLY and p.name == "out":
            takes_out = True
        elif p.kind is p.KEYWORD_ONLY:
            fields.append(_field(p, place))
        else:
            if p.default not in (p.empty, None):
                raise _refuse(
                    place,
                    f"operand '{p.name}' has a default",
                    "None, for one that may be missing",
                    repr(p.default),
                    "fields come after `*`",
                )
            operands.append((p.name, p.default is None, p.kind is p.VAR_POSITIONAL))
    return operands, fields, takes_out


def _field(p: inspect.Parameter, place: str) -> tuple[str, int, int, bytes | None, bool, bool]:
    """Name, type, length, bytes of the default, whether it may be left out, whether it is a bool."""
    kind, is_list = _type_by_default(p.default) if p.default not in (p.empty, None) else _type_by_annotation(p.annotation)
    if kind not in TYPES or (is_list and kind not in (float, int)):
        found = f"default {p.default!r}" if p.default not in (p.empty, None) else f"annotation {p.annotation!r}"
        raise _refuse(place, f"field '{p.name}' has no type", "float, int, bool, str, or a list of floats or ints", found)
    type_number, form = TYPES[kind]
    length = -1 if is_list or kind is str else 1
    # The function itself has the default of a list, which may have another length than what is given.
    if is_list or p.default in (p.empty, None):
        return p.name, type_number, length, None, p.default is not p.empty, kind is bool
    try:
        default = p.default.encode() if kind is str else struct.pack(form, p.default)
    except (struct.error, OverflowError) as error:
        raise _refuse(place, f"the default of field '{p.name}' does not fit", "f32, or i64", str(error)) from None
    return p.name, type_number, length, default, False, kind is bool


def _type_by_default(default: Any) -> tuple[Any, bool]:
    """The type of the field's elements, and whether it is a list."""
    if not isinstance(default, list | tuple):
        return type(default), False
    kinds = {type(value) for value in default}
    return float if kinds == {float, int} else kinds.pop() if len(kinds) == 1 else None, True


def _type_by_annotation(annotation: Any) -> tuple[Any, bool]:
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(one for one in get_args(annotation) if one is not types.NoneType)
    is_list = get_origin(annotation) in (list, tuple, Sequence)
    return get_args(annotation)[0] if is_list else annotation, is_list


def key_of(function: Callable[..., Any]) -> str:
    """ "namespace::Name" of a function that was registered. Raises TenonError."""
    own = (getattr(function, "__module__", ""), getattr(function, "__qualname__", ""))
    for (name_space, name, _), origin in _origins.items():
        if origin == own:
            return f"{name_space}::{name}"
    raise _refuse("plugin", "the function is no plugin", "what @tenon.plugin registered", repr(function))


def _same_function(function: Callable[..., Any], key: tuple[str, str, str], place: str) -> None:
    """Checks the name of an op: a function may be defined again, but another function may not replace its op."""
    own = (function.__module__, function.__qualname__)
    other = _origins.setdefault(key, own)
    if other != own:
        raise _refuse(
            place, "two functions are this op", "another name, or another version=", " and ".join(".".join(one) for one in (other, own))
        )


def _source(function: Any) -> str:
    if function is None:
        return ""
    try:
        return inspect.getsource(function)
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        return (
            _text_of(code) if code else f"{getattr(function, '__module__', '')}.{getattr(function, '__qualname__', repr(type(function)))}"
        )


def _text_of(code: types.CodeType) -> str:
    """Where there is no source: what was compiled from it, the same in each process of this Python."""
    constants = [
        _text_of(c) if isinstance(c, types.CodeType) else repr(sorted(map(repr, c)) if isinstance(c, frozenset) else c)
        for c in code.co_consts
    ]
    return repr((code.co_code, code.co_names, code.co_varnames, constants))
