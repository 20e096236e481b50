# SPDX-License-Identifier: Apache-2.0
"""Passes over the whole graph that are no patterns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..rewriting import Graph, Node, Value

LARGEST = 1 << 20  # bytes: larger initializers, and those by reference, are not compared


def graphs_in(graph: Graph) -> Iterator[Graph]:
    yield graph
    for node in graph.nodes:
        for _, body, _ in node.bodies:
            yield from graphs_in(body)


def nodes_in(graph: Graph) -> Iterator[Node]:
    for g in graphs_in(graph):
        yield from g.nodes


def names_in(graph: Graph) -> set[str]:
    return {v.name for g in graphs_in(graph) for v in g.values} | {n for g in graphs_in(graph) for n in g.output_names}


def _constant_key(value: Value) -> Any:
    if value.byte_size > LARGEST or value.reference:
        return None
    return value.dtype, value.shape, value.array().tobytes()


def merge_equal(graph: Graph, shapes: bool, constants: bool) -> int:
    """Merges equal initializers, and Shape nodes of the same value or of equal sizes. Returns how many were merged: these stay in the
    graph without users."""
    merged = 0
    for g in graphs_in(graph):
        first: dict[Any, Value] = {}
        for value in g.values if constants else ():
            key = _constant_key(value) if value.is_constant and value.use_count and value.dtype != "string" else None
            merged += key is not None and first.setdefault(key, value) != value and g.replace_all_uses(value, first[key])
        for node in g.nodes if shapes else ():
            if node.op_type != "Shape" or node.domain:
                continue
            sizes = node.outputs[0].elements
            known = sizes is not None and None not in sizes  # of equal sizes, whatever they are the sizes of
            key = ("sizes", *sizes) if known else (node.inputs[0], tuple(sorted(node.attributes.items())))
            found = first.setdefault(key, node.outputs[0])
            merged += found != node.outputs[0] and g.replace_all_uses(node.outputs[0], found)
    return merged
