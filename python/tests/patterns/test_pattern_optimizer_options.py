# SPDX-License-Identifier: Apache-2.0
"""tenon.pattern_optimizer: options, statistics, environment."""

import numpy as np
import onnx
import onnx.helper as oh
import pytest
from onnx_models import I64, B, F, model, nots, ops, same
from tenon import TenonError
from tenon.pattern_optimizer import (
    EnginePattern,
    GraphBuilder,
    MatchResult,
    OptimizationOptions,
    PatternOptimization,
    get_pattern,
    get_pattern_list,
)
from tenon.rewriting import Rule
from written_patterns import NotNot, applied, optimised


def test_patterns_are_chosen_by_name_rule_class_and_instance():
    found = get_pattern_list("fuse/activation")
    assert any("gelu_erf" in p.names for p in found) and all(isinstance(p, EnginePattern) for p in found)
    assert not any("gelu_erf" in p.names for p in get_pattern_list("fuse/activation-gelu_erf"))
    rule = Rule.equation("own: Relu(?x) => ?x")
    mixed = get_pattern_list(["gelu_erf", NotNot, NotNot(), rule, "gelu_erf"])
    assert [p.name for p in mixed] == ["gelu_erf", "NotNot", "own"]
    assert get_pattern_list(None) == [] and OptimizationOptions(patterns=None).patterns == []
    assert get_pattern("gelu_erf").name == "gelu_erf" and [p.name for p in get_pattern_list([NotNot], [NotNot])] == []
    with pytest.raises(TenonError, match="no set, file or rule"):
        get_pattern_list("NoSuchPattern")
    with pytest.raises(TypeError, match="is no pattern"):
        get_pattern_list([3])


def test_names_of_the_catalogue_are_classes_over_the_rules_that_cover_them():
    (found,) = get_pattern_list("TransposeMatMul")
    assert type(found).__name__ == found.name == "TransposeMatMulPattern" and "matmul_transposed_left" in found.names
    every = {p.name: p for p in get_pattern_list("default")}
    assert {"CastPattern", "ReshapeReshapePattern"} <= set(every) and get_pattern_list("none") == []
    assert "CastPattern(cast_same" in repr(OptimizationOptions(patterns="default"))
    assert "CastPattern" not in {p.name for p in get_pattern_list("default", "Cast")}
    nodes = [oh.make_node("Reshape", ["x", "s"], ["a"]), oh.make_node("Reshape", ["a", "t"], ["y"])]
    onx = model(nodes, {"x": (F, [4])}, {"y": (F, [4, 1])}, {"s": np.array([2, 2], np.int64), "t": np.array([4, 1], np.int64)})
    rows = optimised(onx, "ReshapeReshape")[1]
    assert applied(rows) == ["ReshapeReshapePattern"] and rows[-3].get("pattern_rule", rows[-2].get("pattern_rule"))


@pytest.mark.parametrize(
    "variable", [("PATTERN", "ReshapeReshapePattern"), ("PATTERN", "reshape_reshape"), ("ReshapeReshapePattern", "10")]
)
def test_patterns_of_the_catalogue_are_traced_with_why_not(variable, monkeypatch, capsys):
    monkeypatch.setenv(*variable)
    (pattern,) = get_pattern_list("ReshapeReshape")
    monkeypatch.setenv(variable[0], variable[1].replace("reshape_reshape", pattern.rules[0].name))
    onx = model([oh.make_node("Reshape", ["x", "s"], ["y"])], {"x": (F, [4])}, {"y": (F, [2, 2])}, {"s": np.array([2, 2], np.int64)})
    optimised(onx, "default")
    out = capsys.readouterr().out
    assert "[ReshapeReshapePattern.match] none: " in out and "does not match" in out and "[CastPattern.match]" not in out


def test_rules_of_the_engine_and_patterns_in_python_mix():
    nodes = [oh.make_node("Not", ["x"], ["a"]), oh.make_node("Not", ["a"], ["b"]), oh.make_node("Or", ["b", "b"], ["y"])]
    out, rows = optimised(model(nodes, {"x": (B, [4])}, {"y": (B, [4])}), ["or_same", NotNot()])
    assert sorted(applied(rows)) == ["NotNot", "or_same"] and set(ops(out)) <= {"Identity"}


def test_refused_nodes_are_tried_again_where_something_changed():
    asked = []

    class EvenOfAbs(PatternOptimization):
        """Cosh after an Abs that is seen only when the Identity between them has gone."""

        def match(self, g, node, matched):
            if node.op_type != "Cosh":
                return None
            asked.append(node.output[0])
            before = g.node_before(node.input[0])
            return MatchResult(self, [before, node], self.apply) if before is not None and before.op_type == "Abs" else None

        def apply(self, g, before, node):
            return [before, g.make_node("Cosh", [before.input[0]], [node.output[0]])]

    nodes = [
        oh.make_node("Abs", ["x"], ["a"]),
        oh.make_node("Identity", ["a"], ["b"]),
        oh.make_node("Cosh", ["b"], ["y"]),
        oh.make_node("Cosh", ["w"], ["z"]),
    ]
    onx = model(nodes, {"x": (F, [4]), "w": (F, [4])}, {"y": (F, [4]), "z": (F, [4])})
    options = OptimizationOptions(patterns=[EvenOfAbs(), "identity"], remove_identity=False)
    out = GraphBuilder(onx, optimization_options=options).to_onnx()
    assert ops(out) == ["Cosh", "Cosh"] and asked.count("z") == 1 and asked.count("y") > 1


def test_new_nodes_have_the_form_of_the_models_opset():
    class Merge(PatternOptimization):
        def match(self, g, node, matched):
            return MatchResult(self, [node], self.apply) if node.op_type == "Reshape" else None

        def apply(self, g, node):
            assert g.main_opset == 11
            return [g.make_node_check_opset("Squeeze", [node.input[0]], [node.output[0]], axes=[0])]

    onx = model([oh.make_node("Reshape", ["x", "s"], ["y"])], {"x": (F, [1, 4])}, {"y": (F, [4])}, {"s": np.array([4], np.int64)})
    onx.opset_import[0].version = 11
    out = optimised(onx, [Merge()])[0]
    assert ops(out) == ["Squeeze"] and out.opset_import[0].version == 11 and out.graph.node[0].attribute[0].name == "axes"


def test_a_node_that_apply_changes_in_place_is_made_anew():
    class Swap(PatternOptimization):
        def match(self, g, node, matched):
            return MatchResult(self, [node], self.apply) if node.op_type == "Add" and node.input[0] == "x" else None

        def apply(self, g, node):
            node.input[:] = list(reversed(node.input))
            return [node]

    onx = model([oh.make_node("Add", ["x", "z"], ["y"])], {"x": (F, [4]), "z": (F, [4])}, {"y": (F, [4])})
    assert optimised(onx, [Swap()])[0].graph.node[0].input == ["z", "x"]


def test_a_kept_node_may_follow_the_new_ones():
    class After(PatternOptimization):
        def match(self, g, node, matched):
            if node.op_type != "Add":
                return None
            return MatchResult(self, [node, g.next_nodes("x")[1]], self.apply, insert_at=node)

        def apply(self, g, add, mul):
            return [g.make_node("Identity", [mul.output[0]], [add.output[0]]), mul]

    nodes = [oh.make_node("Add", ["x", "x"], ["n"]), oh.make_node("Exp", ["n"], ["z"]), oh.make_node("Mul", ["x", "two"], ["y"])]
    out = optimised(model(nodes, {"x": (F, [4])}, {"y": (F, [4]), "z": (F, [4])}, {"two": np.float32(2)}), [After()])[0]
    assert ops(out) == ["Mul", "Identity", "Exp"]


def test_a_node_is_one_object_and_names_are_unique():
    class Rename(PatternOptimization):
        def match(self, g, node, matched):
            if node.op_type != "Neg":
                return None
            assert g.node_before(node.output[0]) is node and any(node is n for n in g.nodes)
            return MatchResult(self, [node], self.apply)

        def apply(self, g, node):
            zero = g.make_initializer("", np.float32(0))
            return [g.make_node("Sub", [zero, node.input[0]], node.output, name="Rename--")]

    nodes = [oh.make_node("Neg", ["x"], ["a"]), oh.make_node("Neg", ["a"], ["b"]), oh.make_node("Neg", ["b"], ["y"])]
    out = optimised(model(nodes, {"x": (F, [4])}, {"y": (F, [4])}), [Rename()])[0]
    assert [n.name for n in out.graph.node] == ["Rename--", "Rename--_1", "Rename--_2"]


def test_sizes_that_depend_on_data_have_declared_names():
    builder = GraphBuilder(18)
    builder.make_tensor_input("x", F, ["n"])
    found = builder.op.Transpose(builder.op.NonZero("x"), outputs=["found"])
    builder.op.Relu("x", outputs=["y"])
    builder.make_tensor_output(found, onnx.TensorProto.INT64, ("count", 1))
    builder.make_tensor_output("y", F, ("m",))
    assert builder.get_shape("found") == ("count", 1) and builder.get_shape("y") == ("n",)
    read = GraphBuilder(builder.to_onnx(optimize=False))
    assert read.get_shape("found") == ("count", 1) and read.get_shape("y") == ("n",)


@pytest.mark.parametrize("merges", [True, False])
def test_shapes_of_equal_sizes_are_one(merges):
    nodes = [
        oh.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
        oh.make_node("Transpose", ["z"], ["u"], perm=[0, 2, 1]),
        oh.make_node("Shape", ["t"], ["s"]),
        oh.make_node("Shape", ["u"], ["r"]),
        oh.make_node("Add", ["s", "r"], ["y"]),
    ]
    onx = model(nodes, {"x": (F, ["b", "n", 4]), "z": (F, ["b", "n", 4])}, {"y": (onnx.TensorProto.INT64, [3])})
    options = OptimizationOptions(patterns=None, remove_duplicated_shape=merges)
    assert ops(GraphBuilder(onx, optimization_options=options).to_onnx()).count("Shape") == (1 if merges else 2)


def test_stop_after():
    for k in (0, 1, 2):
        assert len(applied(optimised(nots(4), [NotNot()], stop_after=k)[1])) == k


def test_max_iter():
    assert len(applied(optimised(nots(4), [NotNot()], max_iter=1)[1])) == 2
    assert applied(optimised(nots(4), [NotNot()], max_iter=0)[1]) == []


def test_identity_nodes_go_unless_disabled():
    nodes = [oh.make_node("Identity", ["x"], ["t"]), oh.make_node("Relu", ["t"], ["y"])]
    onx = model(nodes, {"x": (F, [4])}, {"y": (F, [4])})
    assert ops(optimised(onx, None, remove_identity=True)[0]) == ["Relu"]
    assert ops(optimised(onx, None)[0]) == ["Identity", "Relu"]


def test_constants_fold_unless_disabled():
    nodes = [oh.make_node("Add", ["a", "a"], ["t"]), oh.make_node("Mul", ["t", "t"], ["u"]), oh.make_node("Add", ["x", "u"], ["y"])]
    onx = model(nodes, {"x": (F, [4])}, {"y": (F, [4])}, {"a": np.ones(4, np.float32)})
    assert ops(optimised(onx, None)[0]) == ["Add"]
    assert ops(optimised(onx, None, constant_folding=False)[0]) == ["Add", "Mul", "Add"]
    assert ops(optimised(onx, None, constant_folding=["Add"])[0]) == ["Mul", "Add"]


def test_what_nobody_uses_goes_unless_disabled():
    onx = model([oh.make_node("Relu", ["x"], ["y"]), oh.make_node("Abs", ["x"], ["t"])], {"x": (F, [4])}, {"y": (F, [4])})
    assert ops(optimised(onx, None)[0]) == ["Relu"]
    assert ops(optimised(onx, None, remove_unused=False)[0]) == ["Relu", "Abs"]
    with pytest.raises(ValueError, match="always removed"):
        OptimizationOptions(patterns=[NotNot()], remove_unused=False)


def test_equal_initializers_and_shapes_become_one():
    nodes = [
        oh.make_node("Shape", ["x"], ["s1"]),
        oh.make_node("Shape", ["x"], ["s2"]),
        oh.make_node("Add", ["s1", "s2"], ["s"]),
        oh.make_node("Add", ["x", "a"], ["t"]),
        oh.make_node("Add", ["t", "b"], ["y"]),
    ]
    two = {k: np.full(4, 2, np.float32) for k in "ab"}
    onx = model(nodes, {"x": (F, ["n", 4])}, {"y": (F, ["n", 4]), "s": (I64, [2])}, two)
    out, _ = optimised(onx, None, constant_folding=False)
    assert ops(out).count("Shape") == 1 and len(out.graph.initializer) == 1
    out, _ = optimised(onx, None, constant_folding=False, remove_duplicated_shape=False, remove_duplicated_initializer=False)
    assert ops(out).count("Shape") == 2 and len(out.graph.initializer) == 2


def test_a_node_whose_name_protects_it_stays():
    onx = nots(2)
    onx.graph.node[0].name = "_DONOTREMOVE_first"
    assert ops(optimised(onx, [NotNot()])[0]) == ["Not", "Not"]
    assert ops(optimised(onx, [Rule.equation("Not(Not(?x)) => ?x")])[0]) == ["Not", "Not"]


def test_verifies_looks_at_the_graph_after_each_rewrite():
    assert len(applied(optimised(nots(4), [NotNot()], verifies=True)[1])) == 2


# --- statistics, environment ------------------------------------------------------------------------------------------


def test_rows():
    _, rows = optimised(nots(4), [NotNot()])
    match = [r for r in rows if r["pattern"] == "match_NotNot"]
    apply = [r for r in rows if r["pattern"] == "apply_NotNot"]
    assert sum(r["instances"] for r in match) >= 2 and all(r["time_in"] >= 0 for r in rows)
    assert [(r["added"], r["removed"], r["match_index"], r["instances"]) for r in apply] == [(1, 2, 0, 1), (1, 2, 1, 1)]
    added, removed = (sum(r.get(k, 0) for r in rows) for k in ("added", "removed"))
    assert 4 + added - removed == rows[-1]["nodes"] == 2


def test_droppattern(monkeypatch):
    monkeypatch.setenv("DROPPATTERN", "NotNotPattern,Other")
    assert applied(optimised(nots(2), [NotNot()])[1]) == []


def test_patternnoremove_names_who_removes_it(monkeypatch):
    monkeypatch.setenv("PATTERNNOREMOVE", "t1")
    with pytest.raises(AssertionError, match="NotNot removed 't1'"):
        optimised(nots(2), [NotNot()])
    monkeypatch.setenv("PATTERNNOREMOVE", "y")
    assert applied(optimised(nots(2), [NotNot()])[1]) == ["NotNot"]


def test_patternstep_shows_each_rewrite(monkeypatch, capsys):
    monkeypatch.setenv("PATTERNSTEP", "1")
    assert len(applied(optimised(nots(4), [NotNot()])[1])) == 2
    assert capsys.readouterr().out.count("[pattern_optimizer.step] NotNot: ") == 2


@pytest.mark.parametrize("patterns", [[NotNot], [Rule.equation("not_not: Not(Not(?x)) => Identity(?x)")]])
def test_dumppatterns_writes_both_sides_as_models(patterns, monkeypatch, tmp_path):
    monkeypatch.setenv("DUMPPATTERNS", str(tmp_path / "dump"))
    _, rows = optimised(nots(4), patterns)
    name = applied(rows)[0]
    folder = tmp_path / "dump" / name
    assert sorted(f.name for f in folder.iterdir()) == [
        f"{name}_{k}.{side}.onnx{end}" for k in (0, 1) for side in ("amatch", "apply") for end in ("", ".py")
    ]
    before, after = (onnx.load(folder / f"{name}_0.{side}.onnx") for side in ("amatch", "apply"))
    made = {}
    exec((folder / f"{name}_0.apply.onnx.py").read_text(), made)
    assert made["model"] == after
    assert ops(before) == ["Not", "Not"] and ops(after)[0] == "Identity"
    same(before, after)


def test_verbosity_prints_why_nothing_matched(capsys):
    optimised(nots(2), [NotNot(verbose=10)])
    out = capsys.readouterr().out
    assert "[NotNot.match] none: line" in out and "no Not before" in out
    optimised(nots(2), [NotNot()])
    assert capsys.readouterr().out == ""
