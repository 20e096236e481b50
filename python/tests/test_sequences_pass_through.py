# SPDX-License-Identifier: Apache-2.0
"""Models with sequences and optionals come out of rewriting as they went in."""

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh
import pytest
from tenon.rewriting import Graph, rewrite, select

F, I64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
TENSOR = oh.make_tensor_type_proto(F, ["n", 2])
SEQUENCE = oh.make_sequence_type_proto(TENSOR)
OPTIONAL = oh.make_optional_type_proto(TENSOR)


def node(op, inputs, outputs, **attributes):
    return oh.make_node(op, inputs, outputs, **attributes)


def body(nodes, inputs, outputs):
    infos = [[oh.make_value_info(name, kind) for name, kind in side.items()] for side in (inputs, outputs)]
    return oh.make_graph(nodes, "body", *infos)


def read(nodes, inputs, outputs, **weights):
    graph = body(nodes, inputs, outputs)
    graph.initializer.extend(onh.from_array(np.asarray(v), k) for k, v in weights.items())
    model = oh.make_model(graph, opset_imports=[oh.make_opsetid("", 18)], ir_version=9)
    onnx.checker.check_model(model)
    return Graph.from_onnx(model.SerializeToString())


INTEGER = oh.make_tensor_type_proto(I64, [])
EACH = body([node("Neg", ["e"], ["m"])], {"e": TENSOR}, {"m": TENSOR})
TAKEN = body([node("SequenceAt", ["s", "one"], ["t"])], {}, {"t": TENSOR})
OTHER = body([node("Identity", ["x"], ["u"])], {}, {"u": TENSOR})
LEFT = body([node("SequenceInsert", ["s", "x"], ["p"])], {}, {"p": SEQUENCE})
KEPT = body([node("Identity", ["s"], ["q"])], {}, {"q": SEQUENCE})
BOOL = oh.make_tensor_type_proto(onnx.TensorProto.BOOL, [])
#: nodes, inputs, outputs
CASES = {
    "construct": ([node("Neg", ["x"], ["h"]), node("SequenceConstruct", ["h", "x", "h"], ["y"])], {"x": TENSOR}, {"y": SEQUENCE}),
    "insert and erase": (
        [
            node("SequenceEmpty", [], ["e"], dtype=F),
            node("SequenceInsert", ["e", "x"], ["a"]),
            node("SequenceInsert", ["a", "z", "one"], ["b"]),
            node("SequenceErase", ["b", "one"], ["y"]),
            node("SequenceLength", ["b"], ["l"]),
        ],
        {"x": TENSOR, "z": TENSOR},
        {"y": SEQUENCE, "l": INTEGER},
    ),
    "an input": ([node("SequenceAt", ["s", "one"], ["h"]), node("Relu", ["h"], ["y"])], {"s": SEQUENCE}, {"y": TENSOR}),
    "as it is": ([node("Identity", ["s"], ["t"]), node("Identity", ["t"], ["y"])], {"s": SEQUENCE}, {"y": SEQUENCE}),
    "joined": ([node("SplitToSequence", ["x"], ["s"]), node("ConcatFromSequence", ["s"], ["y"], axis=0)], {"x": TENSOR}, {"y": TENSOR}),
    "mapped": ([node("SequenceMap", ["s"], ["y"], body=EACH)], {"s": SEQUENCE}, {"y": SEQUENCE}),
    "optional": (
        [node("OptionalHasElement", ["o"], ["h"]), node("OptionalGetElement", ["o"], ["y"])],
        {"o": OPTIONAL},
        {"h": BOOL, "y": TENSOR},
    ),
    "made optional": ([node("Neg", ["x"], ["h"]), node("Optional", ["h"], ["y"])], {"x": TENSOR}, {"y": OPTIONAL}),
    "in a branch": (
        [node("SequenceConstruct", ["x", "z"], ["s"]), node("If", ["c"], ["y"], then_branch=TAKEN, else_branch=OTHER)],
        {"c": BOOL, "x": TENSOR, "z": TENSOR},
        {"y": TENSOR},
    ),
    "out of a branch": (
        [node("If", ["c"], ["y"], then_branch=LEFT, else_branch=KEPT)],
        {"c": BOOL, "x": TENSOR, "s": SEQUENCE},
        {"y": SEQUENCE},
    ),
}
DATA = {
    "x": np.array([[1, -2], [3, 4]], np.float32),
    "z": np.array([[-5, 6]], np.float32),
    "s": [np.array([[1, -2]], np.float32), np.array([[-3, 4]], np.float32)],
    "o": np.array([[7, 8]], np.float32),
    "c": np.array(True),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("rules", ["", "default", "tenon", "canonical", "default+onnxruntime+onnxruntime_cuda"])
def test_they_come_out_as_they_went_in(case, rules):
    nodes, inputs, outputs = CASES[case]
    graph = read(nodes, inputs, outputs, one=np.array(1))
    data = {v.name: DATA[v.name] for v in graph.inputs}
    before = graph.evaluate(data)
    done = rewrite(graph, select(rules), fold=True, verify="all")
    assert not done["reports"] and not done["errors"]
    graph.verify()
    model = onnx.load_from_string(graph.to_onnx())
    onnx.checker.check_model(model)
    kinds = [{v.name: v.type.WhichOneof("value") for v in side} for side in (model.graph.input, model.graph.output)]
    assert kinds == [{k: t.WhichOneof("value") for k, t in side.items()} for side in (inputs, outputs)]
    after = Graph.from_onnx(model.SerializeToString()).evaluate(data)
    for name in outputs:
        for one, two in zip(*[r[name] if isinstance(r[name], list) else [r[name]] for r in (before, after)], strict=True):
            assert np.array_equal(one, two), name
