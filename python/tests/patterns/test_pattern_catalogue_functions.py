# SPDX-License-Identifier: Apache-2.0
"""Parts of models as local functions, and patterns that only tell."""

import numpy as np
import onnx
import onnx.helper as oh
from catalogue_judge import becomes, graph, node, optimised, stays
from onnx_models import I64, F, ops
from tenon.pattern_optimizer import GraphBuilder, GraphBuilderPatternOptimization

# --- local functions --------------------------------------------------------------------------------------------------


def test_pow_tanh_is_a_function():
    nodes = [
        node("Pow", "x three", "p"),
        node("Mul", "p c", "q"),
        node("Add", "q x", "r"),
        node("Mul", "r d", "s"),
        node("Tanh", "s", "t"),
        node("Add", "t one", "u"),
        node("Mul", "x half", "v"),
        node("Mul", "v u", "y"),
    ]
    source = graph(nodes, {"x": ["a", 4], **dict.fromkeys(["three", "c", "d", "one", "half"], [1])}, {"y": ["a", 4]})
    three = np.array([3.0])
    out = becomes(source, "FunctionPowTanh", ["PowTanh"], {}, three=three)
    assert out.graph.node[0].domain == "SimplifyingFunction" and [f.name for f in out.functions] == ["PowTanh"]
    onnx.checker.check_model(out)
    source.graph.output.append(oh.make_tensor_value_info("t", F, ["a", 4]))
    stays(source, "FunctionPowTanh")


def test_split_rotary_mul_is_a_function():
    def source(axis):
        nodes = [
            node("Split", "x s1", "r p", axis=-1),
            node("Split", "r s2", "a b", axis=axis),
            node("Neg", "b", "n"),
            node("Concat", "n a", "t", axis=axis),
            node("Mul", "t c1", "u"),
            node("Mul", "r c2", "v"),
            node("Add", "v u", "w"),
            node("Concat", "w p", "y", axis=-1),
        ]
        inputs = {"x": [2, 4, 10], "s1": (I64, [2]), "s2": (I64, [2]), "c1": [4, 6], "c2": [4, 6]}
        return graph(nodes, inputs, {"y": [2, 4, 10]})

    sizes = {"s1": np.array([6, 4]), "s2": np.array([3, 3])}
    becomes(source(-1), "FunctionSplitRotaryMul", ["SplitRotaryMul"], {}, **sizes)
    stays(source(0), "FunctionSplitRotaryMul")


MIDDLE = (0, 2, 1, 3)


def matmuls(weights, perms=(MIDDLE,) * 3, shape=(2, 3, 2, 2), extra=(), shapes="s s s", opset=18, **reshape):
    nodes = []
    for k, (perm, s) in enumerate(zip(perms, shapes.split(), strict=False)):
        nodes += [node("MatMul", f"x w{k}", f"m{k}"), node("Reshape", f"m{k} {s}", f"r{k}", **reshape)]
        nodes.append(node("Transpose", f"r{k}", f"t{k}", perm=list(perm)))
    initializers = {f"w{k}": w for k, w in enumerate(weights)} | {"s": np.array(shape, np.int64), "other": np.array([3, 2, 2, 2])}
    outputs = {name: None for name in [*[f"t{k}" for k in range(len(perms))], *extra]}
    return graph(nodes, {"x": [2, 3, 4]}, outputs, initializers, opset=opset)


def test_matmuls_of_one_operand_are_a_function():
    w = [np.random.default_rng(k).normal(size=(4, 4)).astype(np.float32) for k in range(3)]
    name = "PackedMatMulReshapeTranspose3_0_2_1_3"
    out = becomes(matmuls(w), "FunctionPackedMatMul", [name])
    assert list(out.graph.node[0].input) == ["x", "w0", "w1", "w2", "s"] and [f.name for f in out.functions] == [name]
    other = (MIDDLE, (0, 1, 2, 3), MIDDLE)
    assert "PackedMatMulReshapeTranspose2_0_2_1_3" in ops(optimised(matmuls(w, other), "FunctionPackedMatMul"))
    two = (MIDDLE,) * 2
    for source in (
        matmuls(w[:1], two[:1]),
        matmuls(w[:2], other[:2]),
        matmuls([w[0], w[1][:, :2]], two, shape=(2, 3, 2, -1)),
        matmuls([w[0][0], w[1][0]], two, shape=(2, 1, 3, 1)),
        matmuls(w[:2], two, shapes="s other"),
        matmuls(w[:2], two, extra=["m1"]),
        matmuls(w[:2], two, allowzero=1),
        matmuls(w[:2], two, opset=17),
    ):
        stays(source, "FunctionPackedMatMul")


def test_binary_investigation_reports_and_changes_nothing(capsys):
    nodes = [node("Exp", "x", "h"), node("Add", "h y", "f"), node("Mul", "f f", "g")]
    source = graph(nodes, {"x": [2, "d"], "y": []}, {"g": [2, "d"]})
    stays(source, "BinaryInvestigation")
    assert "BinaryInvestigation" not in capsys.readouterr().out
    view = GraphBuilderPatternOptimization(GraphBuilder(source), patterns="BinaryInvestigation", verbose=1)
    view.optimize()
    report = [line for line in capsys.readouterr().out.splitlines() if line.startswith("[BinaryInvestigation]")]
    assert report[0] == "[BinaryInvestigation] Add(2xd, 1) --- [Exp(...)] --- [?]"
    assert report[1] == "[BinaryInvestigation] Mul(2xd, 2xd) --- [Add(2xd, 1)] --- [Add(2xd, 1)]"
