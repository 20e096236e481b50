# SPDX-License-Identifier: Apache-2.0
"""One node of every op, with operands: ONNX's own tests, and by hand what they lack."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh

from .values import text_of

MOST_ELEMENTS = 300
# Their bodies are what the roads of models.py are for; Gradient is the error that it is not supported.
LEFT_OUT = {"If", "Loop", "Scan", "SequenceMap", "Gradient", "ImageDecoder"}


@dataclass(frozen=True)
class Seed:
    """Operands and results in the order of the node; None where one is missing."""

    name: str
    node: onnx.NodeProto
    opset: int
    operands: list[tuple[str, Any] | None]  # type and value
    results: list[str | None]  # types

    @property
    def schema(self) -> onnx.defs.OpSchema:
        return onnx.defs.get_schema(self.node.op_type, self.opset, self.node.domain)


def count_of(value: Any) -> int:
    return sum(map(count_of, value)) if isinstance(value, list | tuple) else np.asarray(value).size


def of_test(test: Any) -> Seed | None:
    """None where it is no single node, or its values are not in the file."""
    graph, node = test.model.graph, test.model.graph.node[0]
    if len(graph.node) != 1 or node.op_type in LEFT_OUT or "expanded" in test.name:
        return None
    try:
        types = {v.name: text_of(v.type) for v in [*graph.input, *graph.output]}
    except NotImplementedError:
        return None
    values = dict(zip([i.name for i in graph.input], test.data_sets[0][0], strict=True))
    values |= {i.name: onnx.numpy_helper.to_array(i) for i in graph.initializer}
    if any(n and (n not in types or isinstance(values[n], onnx.TensorProto)) for n in node.input):
        return None
    opset = next((o.version for o in test.model.opset_import if o.domain == node.domain), 1)
    operands = [(types[n], values[n]) if n else None for n in node.input]
    return Seed(test.name, node, opset, operands, [types.get(n) for n in node.output])


def rank(seed: Seed) -> tuple:
    """The fullest first; of equals one with neither the fewest nor the most elements."""
    count = count_of([o[1] for o in seed.operands if o])
    return (-len(seed.operands) - len(seed.results), not 3 < count <= MOST_ELEMENTS, abs(count - 12), seed.name)


def of_suite() -> list[Seed]:
    from onnx.backend.test.case.node import collect_testcases

    warnings.simplefilter("ignore")
    return [s for test in collect_testcases(None) if (s := of_test(test)) is not None]


F, D, I32, I64 = (f"tensor({t})" for t in ("float", "double", "int32", "int64"))
X = np.array([[1, -2, 0.5], [3, 0, 2]], np.float32)
SEQUENCE = [X, X + 1]


def by_hand() -> Iterator[Seed]:
    def seed(op, operands, results, opset=28, domain="", **attributes):
        names = [f"x{k}" for k in range(len(operands))], [f"y{k}" for k in range(len(results))]
        node = oh.make_node(op, *names, domain=domain, **attributes)
        return Seed(f"hand_{op}", node, opset, operands, results)

    def ml(op, operands, results, opset=5, **attributes):
        return seed(op, operands, results, opset, "ai.onnx.ml", **attributes)

    two = ("tensor(int64)", np.array(1))
    yield seed("SequenceConstruct", [(F, X), (F, X)], [f"seq({F})"])
    yield seed("SequenceEmpty", [], [f"seq({F})"])
    yield seed("SequenceLength", [(f"seq({F})", SEQUENCE)], [I64])
    yield seed("SequenceAt", [(f"seq({F})", SEQUENCE), two], [F])
    yield seed("SequenceErase", [(f"seq({F})", SEQUENCE), two], [f"seq({F})"])
    yield seed("ConcatFromSequence", [(f"seq({F})", SEQUENCE)], [F], axis=1)
    yield seed("Optional", [(F, X)], [f"optional({F})"])
    for op in ("RandomNormal", "RandomUniform"):
        yield seed(op, [], [F], shape=[2, 3])
        yield seed(op + "Like", [(F, X)], [F], dtype=1)
    yield seed("Multinomial", [(F, X)], [I32], sample_size=4)
    yield seed("MaxRoiPool", [(F, np.arange(32.0).reshape(1, 2, 4, 4)), (F, np.array([[0.0, 0, 0, 3, 3]]))], [F], pooled_shape=[2, 2])
    yield seed("GlobalLpPool", [(F, np.arange(32.0).reshape(1, 2, 4, 4))], [F])
    yield ml("CategoryMapper", [("tensor(string)", np.array(["a", "b", "z"], object))], [I64], cats_strings=["a", "b"], cats_int64s=[4, 5])
    yield ml("Scaler", [(F, X)], [F], scale=[2.0, 1.0, 0.5], offset=[1.0, 0.0, 1.0])
    yield ml("Imputer", [(F, X)], [F], imputed_value_floats=[9.0], replaced_value_float=0.0)
    yield ml("Normalizer", [(F, X)], [F], norm="L2")
    yield ml("FeatureVectorizer", [(F, X), (F, X)], [F], inputdimensions=[3, 2])
    yield ml("LinearRegressor", [(F, X)], [F], coefficients=[1.0, 2.0, 0.5], intercepts=[0.25])
    yield ml("OneHotEncoder", [(I64, np.array([1, 3, 2]))], [F], cats_int64s=[1, 2, 3])
    for labels, result in ({"classlabels_ints": [7, 8]}, I64), ({"classlabels_strings": ["a", "b"]}, "tensor(string)"):
        linear = {"coefficients": [1.0, 2.0, 0.5, -1.0, 0.0, 1.0], "intercepts": [0.25, 0.5]}
        yield ml("LinearClassifier", [(F, X)], [result, F], **labels, **linear)
        support = {"support_vectors": [1.0, 0.0, 1.0, 0.0, 1.0, 1.0], "vectors_per_class": [1, 1], "coefficients": [1.0, -1.0]}
        yield ml("SVMClassifier", [(F, X)], [result, F], **labels, **support, rho=[0.1], kernel_type="LINEAR", kernel_params=[0.0] * 3)
    support = {"support_vectors": [1.0, 0.0, 1.0, 0.0, 1.0, 1.0], "coefficients": [1.0, -1.0], "n_supports": 2}
    yield ml("SVMRegressor", [(F, X)], [F], **support, rho=[0.1], kernel_type="LINEAR", kernel_params=[0.0] * 3)


def chosen(each: int) -> list[Seed]:
    """At most so many of each op, the fullest first."""
    by_op: dict[tuple[str, str], list[Seed]] = {}
    for seed in [*of_suite(), *by_hand()]:
        by_op.setdefault((seed.node.domain, seed.node.op_type), []).append(seed)
    return [s for key in sorted(by_op) for s in sorted(by_op[key], key=rank)[:each]]
