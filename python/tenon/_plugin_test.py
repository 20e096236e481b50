# SPDX-License-Identifier: Apache-2.0
"""test_plugin: checks of an op that a function in Python computes against its declaration."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np

from ._error import TenonError
from ._plugins import key_of
from ._tenon import _plugin_case, _plugin_samples, compile

OTHER_SIZES = (0, 1, 5, 8)
# Of an element, and of the largest one: what `tenon compare` allows.
BOUNDS = {"float16": (1e-3, 1e-3), "bfloat16": (1.6e-2, 1e-3), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}


def test_plugin(plugin: str | Callable[..., Any], *, samples: Sequence[str] = (), plugins: Sequence[str | PathLike[str]] = ()) -> int:
    """Tries an op of @tenon.plugin, or of a library, as `tenon plugin test` tries those of libraries, as far as that goes in one process.

    It runs on its samples and these, and on the same with other sizes: twice, with sizes that are known and with symbols. All runs give the
    same bits, results have the shapes that were inferred, and where there is a definition they are what that gives by reference.

    plugin: the function, or "namespace::Name". samples: "f32[2,3], i64[2] = [1, 0], _; beta=1.5"; values between -2 and 2 are drawn for
    operands that have none. Without any, an op of at most four operands is tried on f32[2,3] for each. plugins: as of compile().
    Returns how many cases were tried. Raises TenonError with all that was found.
    """
    name_space, _, name = (plugin if isinstance(plugin, str) else key_of(plugin)).rpartition("::")
    own, is_defined = _plugin_samples(name_space, name, list(plugins))
    found, tried = [], 0
    first = [*own, *samples] or _drawn(name_space, name, list(plugins))
    for text, is_given in _cases(first):
        try:
            _try(name_space, name, text, is_defined, list(plugins))
            tried += 1
        except _Unmade as error:
            if is_given:
                found.append(f"{text}: {error}")
        except (TenonError, AssertionError) as error:
            found.append(f"{text}: {error}")
    if found:
        advice = "mend the function, or what it says of its types and definition"
        raise TenonError(
            "device_failed", f"plugin '{name_space}::{name}'", "the plugin is not sound", "no finding", "\n".join(found), advice
        )
    return tried


class _Unmade(Exception):
    """The op cannot have this case."""


def _drawn(name_space: str, name: str, plugins: list[Any]) -> list[str]:
    for count in range(1, 5):
        text = ", ".join(["f32[2,3]"] * count)
        try:
            _plugin_case(name_space, name, text, False, plugins)
            return [text]
        except TenonError as error:
            last = error
    raise TenonError(
        "bad_usage", f"plugin '{name_space}::{name}'", "it takes none of the cases that were made up", "samples=", str(last), "name cases"
    )


def _cases(samples: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """Samples, and each with one of its sizes otherwise wherever it occurs; and whether it was given so."""
    seen = set(samples)
    yield from ((text, True) for text in samples)
    for text in samples:
        types, semicolon, rest = text.partition(";")
        sizes = {size for shape in re.findall(r"\[([\d,]*)\](?!\s*=)", types) for size in shape.split(",") if size}
        for size in sorted(sizes):
            for other in OTHER_SIZES:
                changed = re.sub(r"(?<=[\[,])(\d+)(?=[,\]])", lambda m, s=size, o=other: str(o) if m[1] == s else m[1], types)
                if "=" not in types and (case := changed + semicolon + rest) not in seen:
                    seen.add(case)
                    yield case, False


def _try(name_space: str, name: str, text: str, is_defined: bool, plugins: list[Any]) -> None:
    try:
        graph, inputs = _plugin_case(name_space, name, text, False, plugins)
    except TenonError as error:
        raise _Unmade(str(error)) from None
    before = [array.copy() for array in inputs]
    results = _run(graph, inputs, plugins)
    assert all(_same(a, b) for a, b in zip(before, inputs, strict=True)), "it writes to an operand"
    again = _run(graph, inputs, plugins)
    assert _all_same(results, again), "a second run gives other bits"
    symbolic, _ = _plugin_case(name_space, name, text, True, plugins)
    assert _all_same(results, _run(symbolic, inputs, plugins)), "where sizes are symbols it gives other bits"
    if is_defined:
        for (result, value), wanted in zip(results.items(), graph.evaluate(inputs).values(), strict=True):
            _compare(result, value, wanted)


def _run(graph: Any, inputs: list[Any], plugins: list[Any]) -> dict[str, Any]:
    engine = compile(graph, plugins=plugins)
    return engine.run({port.name: value for port, value in zip(engine.inputs, inputs, strict=True)})


def _same(a: Any, b: Any) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _all_same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    return all(_same(x, y) for x, y in zip(a.values(), b.values(), strict=True))


def _compare(result: str, value: Any, wanted: Any) -> None:
    assert value.shape == wanted.shape, f"result '{result}' is of shape {value.shape}, the definition's of {wanted.shape}"
    if value.dtype.name not in BOUNDS:
        assert _same(value, wanted), f"result '{result}' is not what the definition gives"
        return
    relative, of_largest = BOUNDS[value.dtype.name]
    value, wanted = value.astype(np.float64), wanted.astype(np.float64)
    finite = wanted[np.isfinite(wanted)]
    bound = relative * np.abs(wanted) + of_largest * (np.abs(finite).max() if finite.size else 0)
    with np.errstate(invalid="ignore"):
        bad = ~((np.abs(value - wanted) <= bound) | (value == wanted) | (np.isnan(value) & np.isnan(wanted)))
    if bad.any():
        at = tuple(int(k) for k in np.argwhere(bad)[0])
        raise AssertionError(
            f"result '{result}' is not what the definition gives: {list(at)} is {value[at]:.9g}, reference {wanted[at]:.9g}"
        )
