# SPDX-License-Identifier: Apache-2.0
"""Definitions of plugins that are expressions: each op by reference, compiled, and as a function of an ONNX model, beside NumPy."""

from pathlib import Path

import numpy as np
import pytest
import tenon
from plugin_libraries import compiled
from tenon.rewriting import Graph

ROOT = Path(__file__).resolve().parents[3]
X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
CUBE = np.random.default_rng(1).normal(size=(2, 3, 4)).astype(np.float32)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return compiled("tests/plugin/fixtures/expressions.c", tmp_path_factory.mktemp("plugins"))


CASES = {
    "several of any number": ("Joined(x, x, x, axis=1)", X, np.concatenate([X, -X, X, X], axis=1)),
    "none of any number": ("Joined(x)", X, np.concatenate([X, -X])),
    "any number alone": ("Total(x, x, x)", X, X * 6),
    "one of any number": ("Total(x)", X, X * 2),
    "one is its own": ("Bare(x)", X, X),
    "a field that is a list": ("Turned(x, perm=[2, 0, 1])", CUBE, CUBE.transpose(2, 0, 1)),
    "a field that is left out": ("Turned(x)", CUBE, CUBE.T),
    "a list as an operand": ("Reduced(x, axes=[0, 2])", CUBE, CUBE.sum(axis=(0, 2))),
    "a list of one": ("Reduced(x, axes=[1])", CUBE, CUBE.sum(axis=1)),
    "an operand that is left out": ("Reduced(x)", CUBE, CUBE.sum()),
    "a written list": ("Most(x)", CUBE, CUBE.max(axis=(0, 2))),
    "a field in a list": ("Shaped(x, rows=6)", CUBE, CUBE.reshape(6, 4)),
    "floats of a field": ("Weighed(x, weights=[1.0, 2.0, 0.5])", X, X * np.float32([1, 2, 0.5])),
    "one float of a field": ("Weighed(x, weights=[3.0])", X, X * 3),
    "written floats": ("Scaled(x)", X, X * np.float32([0.5, 2, -1])),
    "floats of another dtype": ("Scaled(x)", X.astype(np.float64), X.astype(np.float64) * [0.5, 2, -1]),
}


@pytest.mark.parametrize("case", CASES)
def test_an_expression_computes_what_it_says(library, case):
    node, x, wanted = CASES[case]
    dtype = {"float32": "f32", "float64": "f64"}[x.dtype.name]
    for sizes in (",".join(map(str, x.shape)), ",".join(["n", *map(str, x.shape[1:])])):
        text = f"graph main(x: {dtype}[{sizes}]) {{ y = written::{node} return y }}"
        graph = Graph.parse(text, plugins=[library])
        as_functions = Graph.from_onnx(graph.to_onnx())
        for made in (graph.evaluate({"x": x}), tenon.compile(graph).run({"x": x}), as_functions.evaluate({"x": x})):
            np.testing.assert_allclose(made["y"], wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("node", "said"),
    [
        ("Bare(x, x)", "'xs' stands for any number of operands"),
        ('Texts(x, mode="plain")', "field 'mode' is no number"),
        ("Nested(x)", "a list holds numbers"),
    ],
)
def test_an_expression_that_cannot_be(library, node, said):
    with pytest.raises(tenon.TenonError, match=said):
        Graph.parse(f"graph main(x: f32[4,3]) {{ y = written::{node} return y }}", plugins=[library])


def test_a_function_of_python_with_any_number_of_operands():
    @tenon.plugin("expressions::Joined", definition="Concat(xs, axis=axis)")
    def joined(*xs, axis=0):
        return np.concatenate(xs, axis=axis)

    assert tenon.test_plugin(joined, samples=["f32[2,3], f32[4,3]", "f32[2,3], f32[2,1], f32[2,3]; axis=1"]) > 2
