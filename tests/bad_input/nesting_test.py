# SPDX-License-Identifier: Apache-2.0
"""Models within models: what is too deep, calls itself or grows without end is refused before the stack or the memory is."""

from __future__ import annotations

import unittest
from collections.abc import Callable

import onnx_bytes as o
from harness import Case, built, table, written

DEEP = 10_000


def wrapped(inner: bytes, levels: int, around: Callable[[bytes], bytes]) -> bytes:
    for _ in range(levels):
        inner = around(inner)
    return inner


def nested_ifs(levels: int) -> bytes:
    """An If whose branches hold an If, and so on."""
    innermost = o.graph([o.node("Relu", ["x"], ["r"])], [], [o.value_info("r", None)])

    def around(body: bytes) -> bytes:
        branch = o.node("If", ["c"], ["r"], o.attribute_graph("then_branch", body), o.attribute_graph("else_branch", innermost))
        return o.graph([branch], [], [o.value_info("r", None)])

    body = wrapped(innermost, levels, around)
    top = o.node("If", ["c"], ["y"], o.attribute_graph("then_branch", body), o.attribute_graph("else_branch", innermost), name="top")
    return o.model(o.graph([top], [o.value_info("x", [4]), o.value_info("c", [], 9)], [o.value_info("y", None)]))


def nested_types(levels: int) -> bytes:
    """sequence(sequence(... f32)) as the type of the input."""
    kind = wrapped(o.message(1, o.number(1, 1)), levels, lambda inner: o.message(4, o.message(1, inner)))
    return o.model(o.graph([o.node("Identity", ["x"], ["y"])], [o.text(1, "x") + o.message(2, kind)], [o.value_info("y", None)]))


def calling(functions: dict[str, list[str]]) -> bytes:
    """A model that calls f0; each function calls those that it lists, one after the other."""

    def body(calls: list[str]) -> list[bytes]:
        names = ["x", *(f"v{k}" for k in range(len(calls) - 1)), "y"]
        return [o.node(op, [names[k]], [names[k + 1]], domain="" if op == "Relu" else "own") for k, op in enumerate(calls)]

    made = [o.function(name, ["x"], ["y"], body(calls)) for name, calls in functions.items()]
    return o.chain([o.node("f0", ["x"], ["y"], domain="own", name="call")], functions=made)


def chain_of_functions(levels: int) -> bytes:
    return calling({f"f{k}": [f"f{k + 1}" if k + 1 < levels else "Relu"] for k in range(levels)})


def doubling_functions(levels: int) -> bytes:
    return calling({f"f{k}": [f"f{k + 1}" if k + 1 < levels else "Relu"] * 2 for k in range(levels)})


class Nesting(unittest.TestCase):
    test_of_messages = table(
        Case("If in If", built(nested_ifs(DEEP)), 1, "limit_exceeded", "m.onnx, byte", ["at most"]),
        Case("If in If, just too deep", built(nested_ifs(13)), 1, "limit_exceeded", "m.onnx, byte", ["at most 12"]),
        Case("sequence of sequence", built(nested_types(DEEP)), 3, "not_supported", "'x'"),
        Case(
            "attributes of 10,000 nodes that are one list",
            built(o.chain([wrapped(b"", DEEP, lambda n: o.message(5, n))])),
            3,
            "not_supported",
            "m.onnx",
        ),
    )
    test_of_functions = table(
        Case("one that calls itself", built(calling({"f0": ["f0"]})), 1, "limit_exceeded", "f0", ["themselves"]),
        Case("two that call each other", built(calling({"f0": ["f1"], "f1": ["f0"]})), 1, "limit_exceeded", "f", ["themselves"]),
        Case("a chain of 10,000", built(chain_of_functions(DEEP)), 1, "limit_exceeded", "f", ["at most 64"]),
        Case("60 that double each other", built(doubling_functions(63)), 1, "limit_exceeded", "m.onnx", ["at most", "2^63"]),
        Case(
            "two of one name",
            built(
                o.chain(
                    [o.node("f", ["x"], ["y"], domain="own")], functions=[o.function("f", ["x"], ["y"], [o.node("Relu", ["x"], ["y"])])] * 2
                )
            ),
            1,
            "bad_graph",
            "own::f",
        ),
        Case(
            "more operands than it has",
            built(o.chain([o.node("f", ["x", "x"], ["y"], domain="own")], functions=[o.function("f", ["x"], ["y"], [])])),
            1,
            "bad_graph",
            "f_y",
        ),
        Case(
            "a result that it does not make",
            built(o.chain([o.node("f", ["x"], ["y"], domain="own")], functions=[o.function("f", ["x"], ["z"], [])])),
            1,
            "bad_graph",
            "f_y",
            ["'z'"],
        ),
    )
    test_of_text_and_expressions = table(
        Case(
            "a dimension of 10,000 brackets",
            written(
                "m.onnx",
                o.model(
                    o.graph([o.node("Relu", ["x"], ["y"])], [o.value_info("x", ["(" * DEEP + "n" + ")" * DEEP])], [o.value_info("y", None)])
                ),
                "build",
                "m.onnx",
                "--shape",
                "x=n,n",
            ),
            1,
            "limit_exceeded",
            "byte",
            ["16384"],
        ),
    )


if __name__ == "__main__":
    unittest.main()
