# SPDX-License-Identifier: Apache-2.0
"""Models of one node: of every type that its schema allows, at the top of a graph or inside of what holds graphs or tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh

from .seeds import Seed
from .values import TOLERANCE, carrier, converted, element_of, is_tensor, number_of, proto_of, with_element

ROADS = ("plain", "if", "loop", "scan", "sequence")
# Their operands and results are of one element type, whatever holds it.
OF_ONE_ELEMENT = {"Optional", "OptionalGetElement", "OptionalHasElement"}
IR_VERSION = 13
TIMES = 3  # that bodies of loops run


@dataclass(frozen=True)
class Case:
    """`seed` with the types `operands` and `results`, in this place."""

    label: str
    seed: Seed
    operands: list[str | None]
    results: list[str | None]
    road: str = "plain"

    @property
    def random(self) -> bool:
        return self.seed.node.op_type.startswith(("Random", "Bernoulli", "Multinomial")) or self.seed.name.startswith(
            "test_training_dropout"
        )

    @property
    def tolerance(self) -> float:
        types = [t for t in [*self.operands, *self.results] if t]
        return max(TOLERANCE.get(element_of(t), 1e-4) for t in types)


def variables(seed: Seed) -> tuple[list[str], list[str]]:
    """The type variables of operands and results, as the schema names them."""
    sides = []
    for formal, count in (seed.schema.inputs, len(seed.operands)), (seed.schema.outputs, len(seed.results)):
        sides.append([formal[min(k, len(formal) - 1)].type_str for k in range(count)])
    return sides[0], sides[1]


def of_all_types(seed: Seed) -> Iterator[Case]:
    """Each type variable in turn takes each of its types; the others stay. Those of tensors and of what holds them go together."""
    names = variables(seed)
    sides = [o and o[0] for o in seed.operands], seed.results
    allowed = {c.type_param_str: c.allowed_type_strs for c in seed.schema.type_constraints}
    holds = seed.node.op_type.startswith("Optional") or "Sequence" in seed.node.op_type and "S" in allowed
    together = {"S", "T", "V", "O"} if holds else set()
    for first in sorted({*names[0], *names[1]} & {*allowed}):
        before = next((t for side, vs in zip(sides, names, strict=True) for t, v in zip(side, vs, strict=True) if v == first and t), None)
        changed = together if first in together else {first}
        if before is None or (first in together and first != min(together & {*names[0], *names[1]})):
            continue
        for element in sorted({element_of(t) for t in allowed[first] if "map(" not in t}):
            if with_element(before, element) not in allowed[first]:
                continue
            if carrier(element) != element and any(
                t and not is_tensor(t) and v in changed
                for t, v in zip(sides[1], names[1], strict=True)
                if "optional(tensor" not in (t or "")
            ):
                continue  # no op takes them apart again, and NumPy has none
            now = [
                [t and (with_element(t, element) if v in changed else t) for t, v in zip(side, vs, strict=True)]
                for side, vs in zip(sides, names, strict=True)
            ]
            yield Case(f"{seed.node.domain or 'ai.onnx'}::{seed.node.op_type} {seed.name} {first}={element}", seed, *now)


def on_roads(case: Case) -> Iterator[Case]:
    yield case
    for road in ROADS[1:]:
        if road != "if" and not all(t is None or is_tensor(t) for t in case.results):
            continue
        yield replace(case, label=f"{case.label} in {road}", road=road)


def retyped_attributes(case: Case, node: onnx.NodeProto) -> None:
    """Those that say which type the result has: set where no operand does."""
    ins, outs = variables(case.seed)
    to = element_of(case.results[0])
    names = {a.name for a in node.attribute}
    for name in {"to", "dtype", "output_datatype", "output_dtype"} & {*case.seed.schema.attributes}:
        if name in names or outs[0] not in ins:
            kept = [a for a in node.attribute if a.name != name]
            del node.attribute[:]
            node.attribute.extend([*kept, oh.make_attribute(name, number_of(to))])
    for a in node.attribute:
        typed = a.name in ("value", "nodes_splits", "leaf_weights")  # the others of tree ensembles have types of their own
        if typed and a.type == onnx.AttributeProto.TENSOR and case.results[0] != case.seed.results[0]:
            a.t.CopyFrom(tensor_of(onh.to_array(a.t), to))


def tensor_of(array: np.ndarray, element: str) -> onnx.TensorProto:
    array = converted(array, element)
    return oh.make_tensor(
        "value", number_of(element), array.shape, [str(x).encode() if element == "string" else x for x in array.reshape(-1)]
    )


def is_parameter(k: int, case: Case) -> bool:
    """An operand that real models have as a constant: axes, shapes, pads."""
    type_text, value = case.seed.operands[k]
    return k > 0 and case.operands[k] == type_text == "tensor(int64)" and np.asarray(value).ndim < 2


def model_of(case: Case) -> tuple[onnx.ModelProto, dict[str, Any]]:
    """The model, and its inputs. Outputs are y0, y1, ..."""
    node = onnx.NodeProto()
    node.CopyFrom(case.seed.node)
    if case.results and case.results[0]:
        retyped_attributes(case, node)
    node.input[:] = [f"c{k}" if o else "" for k, o in enumerate(case.operands)]
    node.output[:] = [f"r{k}" if r else "" for k, r in enumerate(case.results)]
    before, inputs, weights, values = [], [], [], {}
    for k, t in enumerate(case.operands):
        if t is None:
            continue
        value, element = converted(case.seed.operands[k][1], element_of(t)), element_of(t)
        if is_parameter(k, case):
            weights.append(onh.from_array(value, f"c{k}"))
            continue
        cast = is_tensor(t) and carrier(element) != element
        inputs.append(oh.make_value_info(f"x{k}" if cast else f"c{k}", proto_of(with_element(t, carrier(element)), shape_of(value, t, k))))
        values[inputs[-1].name] = value
        if cast:
            before.append(oh.make_node("Cast", [f"x{k}"], [f"c{k}"], to=number_of(element)))
    results = [(k, t) for k, t in enumerate(case.results) if t]
    middle, names = ROAD_MAKERS[case.road](node, results, weights)
    for name, (t, value) in ROAD_INPUTS.get(case.road, {}).items():
        inputs.append(oh.make_value_info(name, proto_of(t, [])))
        values[name] = np.array(value)
    after, outputs = [], []
    for (k, t), name in zip(results, names, strict=True):
        element = element_of(t)
        if t.startswith("optional(tensor"):
            after.append(oh.make_node("OptionalGetElement", [name], [f"e{k}"]))
            name, t = f"e{k}", f"tensor({element})"
        cast = is_tensor(t) and carrier(element) != element
        after.append(
            oh.make_node("Cast", [name], [f"y{k}"], to=number_of(carrier(element))) if cast else oh.make_node("Identity", [name], [f"y{k}"])
        )
        outputs.append(oh.make_value_info(f"y{k}", proto_of(with_element(t, carrier(element)) if cast else t)))
    opsets = [oh.make_opsetid("", 28 if case.seed.node.domain else case.seed.opset)]
    if case.seed.node.domain:
        opsets.append(oh.make_opsetid(case.seed.node.domain, case.seed.opset))
    graph = oh.make_graph([*before, *middle, *after], "g", inputs, outputs, weights)
    return oh.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION), values


def shape_of(value: Any, t: str, operand: int) -> list[str | int] | None:
    """The first operand's sizes are left open; those of others, weights for one, are known."""
    if not is_tensor(t):
        return None
    return [f"{axis}_{size}" if size > 1 and operand == 0 else size for axis, size in enumerate(np.shape(value))]


def plain(node, results, _):
    return [node], [f"r{k}" for k, _ in results]


def body_of(node, results, inputs, first=()):
    ports = [oh.make_value_info(f"r{k}", proto_of(t)) for k, t in results]
    return oh.make_graph(
        [*[oh.make_node("Identity", [a], [b]) for a, b in first], node],
        "body",
        inputs,
        [*[oh.make_value_info(b, BOOL) for _, b in first], *ports],
    )


BOOL, INDEX = proto_of("tensor(bool)", []), proto_of("tensor(int64)", [])


def in_if(node, results, _):
    names = [f"o{k}" for k, _ in results]
    branch = body_of(node, results, [])
    return [oh.make_node("If", ["yes"], names, then_branch=branch, else_branch=branch)], names


def in_loop(node, results, _):
    names = [f"o{k}" for k, _ in results]
    body = body_of(node, results, [oh.make_value_info("i", INDEX), oh.make_value_info("go", BOOL)], first=[("go", "on")])
    return [oh.make_node("Loop", ["times", ""], names, body=body)], names


def in_scan(node, results, weights):
    names = [f"o{k}" for k, _ in results]
    body = body_of(node, results, [oh.make_value_info("i", INDEX)])
    weights.append(onh.from_array(np.arange(TIMES), "each"))
    return [oh.make_node("Scan", ["each"], names, num_scan_inputs=1, body=body)], names


def in_sequence(node, results, _):
    nodes = [node]
    for k, _ in results:
        nodes.append(oh.make_node("SequenceConstruct", [f"r{k}"] * TIMES, [f"s{k}"]))
        nodes.append(oh.make_node("ConcatFromSequence", [f"s{k}"], [f"o{k}"], axis=0, new_axis=1))
    return nodes, [f"o{k}" for k, _ in results]


ROAD_INPUTS = {"if": {"yes": ("tensor(bool)", True)}, "loop": {"times": ("tensor(int64)", TIMES)}}
ROAD_MAKERS = {"plain": plain, "if": in_if, "loop": in_loop, "scan": in_scan, "sequence": in_sequence}


def expected_on(road: str, plain_results: list[Any]) -> list[Any]:
    """From the results of the node alone."""
    return plain_results if road in ("plain", "if") else [np.stack([np.asarray(r)] * TIMES) for r in plain_results]
