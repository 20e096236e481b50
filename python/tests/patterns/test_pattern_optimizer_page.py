# SPDX-License-Identifier: Apache-2.0
"""The code of yet-another-onnx-builder's page "Pattern Optimizer", block by block; only the imports are Tenon's."""

# ruff: noqa
# fmt: off
import os

import numpy as np
import onnx
import pytest
from tenon.pattern_optimizer import (
    EasyPatternOptimization,
    GraphBuilder,
    MatchResult,
    OptimizationOptions,
    PatternOptimization,
    demo_mlp_model,
    pretty_onnx,
    to_dot,
)

from onnx_models import nots, ops, same


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    import sys

    from tenon.pattern_optimizer import to_onnx

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match="pip install torch"):
        to_onnx(None, ())


def test_a_picture():
    onx = demo_mlp_model("temp_doc_mlp.onnx")
    print("DOT-SECTION", to_dot(onx))
    assert to_dot(onx).startswith("digraph") and "MatMul" in to_dot(onx)


def test_optimising_and_drawing_the_result(capsys):
    onx = demo_mlp_model("temp_doc_mlp.onnx")

    # The model is placed in a GraphBuilder.
    # It creates dictionaries to store shapes, ranks, types
    # to make it easier to the optimizers to find the information
    # they need. It still uses NodeProto to store nodes
    gr = GraphBuilder(onx, infer_shapes_options=True)

    # Let's optimize.
    opt_onx = gr.to_onnx(optimize=True)
    with open("temp_doc_mlp_opt.onnx", "wb") as f:
        f.write(opt_onx.SerializeToString())
    print(pretty_onnx(opt_onx))

    onx = onnx.load("temp_doc_mlp_opt.onnx")
    print("DOT-SECTION", to_dot(onx))
    assert len(onx.graph.node) < 8 and "DOT-SECTION" in capsys.readouterr().out
    same(demo_mlp_model(), onx, 1e-5)


@pytest.mark.parametrize("verbose", [1, 11])
def test_verbosity(verbose, capsys):
    onx = demo_mlp_model("temp_doc_mlp.onnx")

    gr = GraphBuilder(onx, infer_shapes_options=True, verbose=verbose)
    opt_onx = gr.to_onnx(optimize=True)
    assert "start with 8 nodes" in capsys.readouterr().out and len(opt_onx.graph.node) < 8


@pytest.mark.parametrize("patterns", ["TransposeTranspose,TransposeMatMul", "default+onnxruntime"])
def test_patterns_are_selected_by_name_or_list(patterns):
    onx = demo_mlp_model("temp_doc_mlp.onnx")

    gr = GraphBuilder(
        onx,
        infer_shapes_options=True,
        optimization_options=OptimizationOptions(patterns=patterns, verbose=1),
    )
    opt_onx = gr.to_onnx(optimize=True)
    same(onx, opt_onx, 1e-5)


def test_statistics():
    pandas = pytest.importorskip("pandas")
    onx = demo_mlp_model("temp_doc_mlp.onnx")

    gr = GraphBuilder(
        onx,
        infer_shapes_options=True,
        optimization_options=OptimizationOptions(patterns="default"),
    )
    stat = gr.optimize()

    print(pandas.DataFrame(stat))
    assert {"pattern", "time_in", "iteration", "match_index", "instances"} <= set(pandas.DataFrame(stat).columns)


def test_statistics_can_be_aggregated():
    pandas = pytest.importorskip("pandas")
    onx = demo_mlp_model("temp_doc_mlp.onnx")

    gr = GraphBuilder(
        onx,
        infer_shapes_options=True,
        optimization_options=OptimizationOptions(patterns="default"),
    )
    stat = gr.optimize()

    df = pandas.DataFrame(stat)
    for c in df.columns:
        if "time" not in c and "pattern" not in c and "exit_point" not in c:
            df[c] = df[c].fillna(0).astype(int)
    aggs = {
        "time_in": "sum",
        "added": "sum",
        "removed": "sum",
        "iteration": "max",
        "match_index": "max",
        "instances": "sum",
    }
    print(df.groupby("pattern").agg(aggs))
    total = df.groupby("pattern").agg(aggs)
    assert total.loc["apply_identity", "instances"] == 1 and (total["time_in"] >= 0).all()


class TransposeTransposePattern(EasyPatternOptimization):
    def match_pattern(self, g: "GraphBuilder", x):
        t1 = g.op.Transpose(x)
        return g.op.Transpose(t1)

    def apply_pattern(self, g: "GraphBuilder", x):
        return x  # two transposes cancel each other


def test_the_declared_pair_of_transposes():
    import onnx.helper as oh

    from onnx_models import F, model

    nodes = [oh.make_node("Transpose", ["x"], ["t"]), oh.make_node("Transpose", ["t"], ["u"]), oh.make_node("Relu", ["u"], ["y"])]
    onx = model(nodes, {"x": (F, [2, 3])}, {"y": (F, [2, 3])})
    opt = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns=TransposeTransposePattern)).to_onnx()
    assert ops(opt) == ["Relu"]
    same(onx, opt)


import inspect
from typing import List, Optional
from onnx import NodeProto


class NotNotPattern(PatternOptimization):
    """Fuses ``Not(Not(x))`` into ``Identity(x)``."""

    def match(
        self,
        g: "GraphBuilderPatternOptimization",
        node: NodeProto,
        matched: List[MatchResult],
    ) -> Optional[MatchResult]:
        # Only consider Not nodes.
        if node.op_type != "Not" or node.domain != "":
            return self.none()

        # Walk one step backward: the producer of node's input must also be Not.
        not_before = g.node_before(node.input[0])
        if not_before is None or not_before.op_type != "Not" or not_before.domain != "":
            return self.none(node, inspect.currentframe().f_lineno)

        # Return both nodes as the rewrite target.
        return MatchResult(self, [not_before, node], self.apply, insert_at=node)

    def apply(
        self,
        g: "GraphBuilder",
        not_before: NodeProto,
        not_after: NodeProto,
    ) -> List[NodeProto]:
        pre_nodes = []
        # Keep the first Not if its output is consumed elsewhere.
        if g.is_used_more_than_once(not_before.output[0]):
            pre_nodes.append(not_before)
        return [
            *pre_nodes,
            g.make_node(
                "Identity",
                [not_before.input[0]],
                [not_after.output[0]],
                name=f"{self.__class__.__name__}--{not_after.name}",
            ),
        ]


class NotNotEasyPattern(EasyPatternOptimization):
    """Fuses ``Not(Not(x))`` into ``Identity(x)`` using the easy API."""

    def match_pattern(self, g: "GraphBuilder", x):
        t = g.op.Not(x)  # first Not
        return g.op.Not(t)  # second Not  <-- anchor node

    def apply_pattern(self, g: "GraphBuilder", x):
        return g.op.Identity(x)


@pytest.mark.parametrize("pattern", [NotNotPattern, NotNotEasyPattern])
def test_both_styles_of_not_not(pattern):
    onx = nots(2)
    gr = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns=[pattern()], remove_identity=False))
    rows = gr.optimize()
    opt = gr.to_onnx(optimize=False)
    assert ops(opt) == ["Identity"]
    assert [r["removed"] for r in rows if r["pattern"] == f"apply_{pattern.__name__}"] == [2]
    same(onx, opt)


def test_the_hand_written_one_keeps_what_is_used_elsewhere():
    onx = nots(2, outputs=("y", "t1"))
    opt = GraphBuilder(onx, optimization_options=OptimizationOptions(patterns=[NotNotPattern()], remove_identity=False)).to_onnx()
    assert sorted(ops(opt)) == ["Identity", "Not"]
    same(onx, opt)


@pytest.mark.parametrize("name", ["LOG_PATTERN_OPTIMIZE", "PATTERN", "NotNotPattern"])
def test_the_variables_of_the_page_that_make_it_talk(name, monkeypatch, capsys):
    monkeypatch.setenv(name, {"PATTERN": "NotNotPattern"}.get(name, "10"))
    GraphBuilder(nots(2), optimization_options=OptimizationOptions(patterns=[NotNotPattern()])).to_onnx()
    out = capsys.readouterr().out
    assert "[NotNotPattern.match] none: line" in out and os.path.basename(__file__) in out


def test_the_model_is_the_same_each_time():
    np.testing.assert_equal(demo_mlp_model().SerializeToString(deterministic=True), demo_mlp_model().SerializeToString(deterministic=True))
