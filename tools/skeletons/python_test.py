# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from NAME import RULE
from tenon.rewriting import Graph, rewrite


def rewritten(text: str, x: np.ndarray) -> str:
    """The ops that are left of a graph, which computes what it did before."""
    graph = Graph.parse(text)
    before = graph.evaluate([x])
    statistics = rewrite(graph, [RULE])
    assert statistics["reports"] == []
    graph.verify()
    for name, array in graph.evaluate([x]).items():
        np.testing.assert_array_equal(array, before[name])
    return " ".join(node.op_type for node in graph.nodes)


SPECIAL = np.array([-1.5, 0, np.inf, np.nan], np.float32)


@pytest.mark.parametrize(
    "text, ops",
    [
        ("graph main(x: f32[4]) {\n a = Neg(x)\n y = Abs(a)\n return y\n}\n", "Abs"),
        ("graph main(x: f32[4]) {\n a = Exp(x)\n y = Abs(a)\n return y\n}\n", "Exp Abs"),
        ("graph main(x: f32[4]) {\n a = Neg(x)\n y = Abs(a)\n return y, a\n}\n", "Neg Abs"),
    ],
)
def test_floats(text, ops):
    assert rewritten(text, SPECIAL) == ops


def test_integers():
    text = "graph main(x: i32[4]) {\n a = Neg(x)\n y = Abs(a)\n return y\n}\n"
    assert rewritten(text, np.array([-1, 0, 1, -(2**31)], np.int32)) == "Neg Abs"
