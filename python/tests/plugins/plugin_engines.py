# SPDX-License-Identifier: Apache-2.0
"""Engines of one node, for the tests of plugins."""

import numpy as np
import onnx.helper as oh
import pytest
import tenon
from onnx_models import F, model
from tenon.rewriting import Graph

X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


def engine(node: str, sizes: str = "n,3", **options) -> tenon.Engine:
    return tenon.compile(Graph.parse(f"graph main(x: f32[{sizes}]) {{ y = {node} return y }}"), **options)


def answer(node: str, x=X, **options) -> np.ndarray:
    return engine(node, **options).run({"x": x})["y"]


def refused(call) -> tenon.TenonError:
    with pytest.raises(tenon.TenonError) as raised:
        call()
    return raised.value


def swish_model(beta: float = 1.5) -> bytes:
    nodes = [oh.make_node("Swish", ["x"], ["y"], "it", domain="acme", beta=beta)]
    return model(nodes, {"x": (F, ["n", 3])}, {"y": (F, ["n", 3])}, domains=["acme"]).SerializeToString()
