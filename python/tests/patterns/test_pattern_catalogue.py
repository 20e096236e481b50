# SPDX-License-Identifier: Apache-2.0
"""The sets experimental, fix and investigation by name; binary operators as fused kernels, and where they must not be."""

import numpy as np
import onnx.helper as oh
import pytest
from catalogue_judge import F16, F64, becomes, graph, node, optimised, stays
from onnx_models import I64, F, ops
from tenon.pattern_optimizer import GraphBuilder, GraphBuilderPatternOptimization, get_pattern, get_pattern_list
from tenon.pattern_optimizer.catalogue import SETS, named

# --- sets and names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(SETS))
def test_a_set_is_its_classes_in_order(name):
    assert [type(p) for p in get_pattern_list(name)] == SETS[name]
    assert all((type(p).__doc__ or "").strip() for p in get_pattern_list(name))


def test_classes_are_named_with_and_without_pattern():
    (kind,) = named("AddMul")
    assert named("AddMulPattern") == [kind] and named("NoSuch") == []
    assert [p.verbose for p in get_pattern_list("AddMul", verbose=3)] == [3]
    left = [p.name for p in get_pattern_list("experimental-AddMul-TriMatrixPattern")]
    assert len(left) == len(SETS["experimental"]) - 2 and "AddMulPattern" not in left
    assert [p.name for p in get_pattern_list("fix+AddMul")] == ["AddReductionScatterND", "AddMulPattern"]


def test_kernels_are_made_where_cuda_is_requested():
    source = chain("Add", "Mul")
    stays(source, "experimental", processor="CPU")
    assert ops(optimised(source, "experimental", processor="CPU,CUDA")) == ["AddMul"]


def test_a_pattern_says_why_it_does_not_match(capsys):
    optimised(chain("Add", "Mul", type=F64), "AddMul", verbose=10)
    assert "AddMulPattern.match] none: types or shapes of the operands" in capsys.readouterr().out


# --- less precision by name -------------------------------------------------------------------------------------------


def normalised_in_f32():
    nodes = [node("Cast", "x", "w", to=F), node("ReduceSum", "w axes", "s"), node("Mul", "s z", "m"), node("Sub", "w m", "d")]
    ports = {"x": (F16, [4, 3]), "z": (F, [4, 3])}
    return graph([*nodes, node("Cast", "d", "y", to=F16)], ports, {"y": (F16, [4, 3])}, {"axes": np.array([1])})


@pytest.mark.parametrize("names", ["ReduceSumNormalize", "reduce_in_place", ["default", "ReduceSumNormalizePattern"]])
def test_what_approximates_runs_where_its_own_name_is_given(names):
    assert sorted(ops(optimised(normalised_in_f32(), names))) == ["Cast", "Mul", "ReduceSum", "Sub"]
    assert len(ops(optimised(normalised_in_f32(), names, allowed="reassociating"))) == 5


def test_what_approximates_does_not_run_under_other_names():
    assert len(ops(optimised(normalised_in_f32(), "default"))) == 5
    assert len(ops(optimised(normalised_in_f32(), "combine/reduce_arg"))) == 5
    assert len(ops(optimised(normalised_in_f32(), "combine/reduce_arg", allowed="approximate"))) == 4
    nodes = [node("Cast", "h", "w", to=F), node("Add", "w x", "s"), node("Cast", "s", "y", to=F16)]
    added = graph(nodes, {"x": (F, [4]), "h": (F16, [4])}, {"y": (F16, [4])})
    assert ops(optimised(added, "ReduceSumNormalize,CastOpCast")) == ["Cast", "Add", "Cast"]  # that name says exact rules too


# --- chains of binary operators ---------------------------------------------------------------------------------------


def chain(first, second, turned=False, type=F, extra=(), shapes=(["d"],) * 3):
    outer = "z h" if turned else "h z"
    ports = {name: (type, shape) for name, shape in zip("xyz", shapes, strict=True)}
    return graph([node(first, "x y", "h"), node(second, outer, "f")], ports, dict.fromkeys(["f", *extra], (type, None)))


CHAINS = {"AddAddMulMul": ("Add Add", "Mul Mul"), "AddMul": ("Add Mul", "Mul Add"), "SubMul": ("Sub Mul", "Mul Sub")}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("pattern", "pair"), [(p, pair) for p, pairs in CHAINS.items() for pair in pairs])
def test_two_binary_operators_are_one(pattern, pair, turned):
    first, second = pair.split()
    negative = {"negative": 1} if second == "Sub" and turned else {}
    out = becomes(chain(first, second, turned), pattern, [first + second], negative)
    assert list(out.graph.node[0].input) == ["x", "y", "z"] and out.graph.node[0].name == f"{pattern}Pattern--{second}_f"
    becomes(chain(first, second, turned, type=F16), pattern, [first + second], negative)


@pytest.mark.parametrize("pattern", sorted(CHAINS))
def test_two_binary_operators_stay_two(pattern):
    first, second = CHAINS[pattern][0].split()
    for type in (F64, I64):
        stays(chain(first, second, type=type), pattern)
    stays(chain(first, second, extra=["h"]), pattern)
    stays(chain(first, second, shapes=(["d"], ["e"], ["d"])), pattern)
    stays(chain(first, second, shapes=([1, 4], [3, 4], [3, 4])), pattern)
    stays(chain("Div", second), pattern)
    used_twice = [node(first, "x y", "h"), node(second, "h h", "f")]
    stays(graph(used_twice, {"x": ["d"], "y": ["d"]}, {"f": ["d"]}), pattern)


def test_the_same_names_of_another_domain_are_other_operators():
    nodes = [node("Add", "x y", "h", domain="ZZZ"), node("Mul", "h z", "f")]
    shapes = dict.fromkeys("xyz", ["d"])
    source = graph(nodes, shapes, {"f": ["d"]}, domains=("ZZZ",))
    source.graph.value_info.append(oh.make_tensor_value_info("h", F, ["d"]))
    stays(source, "AddMul,AddMulBroadcast,AddAddMulMul")


@pytest.mark.parametrize(
    ("shapes", "fits"),
    [
        (([1, 4], [3, 4], [3, 4]), True),
        (([4], ["a", 3, 4], [1, 3, 4]), True),
        (([3, 1], [3, 4], [3, 4]), False),
        (([2, 1, 4], [2, 3, 4], [2, 3, 4]), False),
        ((["a", 1], ["a", "b"], ["a", "b"]), False),
    ],
)
def test_broadcast_goes_over_first_axes(shapes, fits):
    for pattern, (pair, _) in CHAINS.items():
        first, second = pair.split()
        source = chain(first, second, shapes=shapes)
        stays(source, pattern)
        if fits:
            becomes(source, f"{pattern}Broadcast", [first + second])
        else:
            stays(source, f"{pattern}Broadcast")


# --- a shared operand -------------------------------------------------------------------------------------------------


def pair(op_type, second="x z", more=(), outputs="f g"):
    nodes = [node(op_type, "x y", "f"), node(op_type, second, "g"), *more]
    return graph(nodes, dict.fromkeys("xyz", ["d"]), dict.fromkeys(outputs.split(), ["d"]))


@pytest.mark.parametrize("second", ["x z", "z x", "y z", "x x"])
@pytest.mark.parametrize("op_type", ["Add", "Mul"])
def test_two_operators_share_an_operand(op_type, second):
    becomes(pair(op_type, second), "AddMulSharedInput", [f"{op_type}SharedInput"])


def test_two_operators_with_a_shared_operand_stay():
    stays(pair("Sub"), "AddMulSharedInput")
    stays(pair("Add", "x z", [node("Add", "x x", "h")], "f g h"), "AddMulSharedInput")


def test_an_operator_after_the_other_is_no_match():
    after = [node("Add", "x y", "f"), node("Neg", "f", "n"), node("Add", "x n", "h")]
    pattern = get_pattern("AddMulSharedInput")
    for source in (pair("Add", "x f"), graph(after, {"x": ["d"], "y": ["d"]}, {"h": ["d"], "f": ["d"]})):
        view = GraphBuilderPatternOptimization(GraphBuilder(source), processor="CUDA")
        assert [pattern.match(view, n, []) for n in view.nodes] == [None] * len(source.graph.node)


def test_nodes_between_two_such_operators_are_moved():
    nodes = [node("Add", "x y", "f"), node("Exp", "f", "e"), node("Neg", "z", "n"), node("Add", "x n", "g"), node("Mul", "e g", "h")]
    source = graph(nodes, dict.fromkeys("xyz", ["d"]), {"h": ["d"]})
    becomes(source, "AddMulSharedInput", ["Neg", "AddSharedInput", "Exp", "Mul"])


def test_sizes_of_one_in_front_of_a_shared_operand():
    nodes = [node("Mul", "x y", "f"), node("Mul", "x z", "g")]
    source = graph(nodes, {"x": [3, 4], "y": [1, 4], "z": [4]}, {"f": [3, 4], "g": [3, 4]})
    stays(source, "AddMulSharedInput")
    becomes(source, "AddMulSharedInputBroadcast", ["MulSharedInput"])
