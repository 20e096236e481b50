# SPDX-License-Identifier: Apache-2.0
"""DUMPPATTERNS: each rewrite as a model before and a model after."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import onnx
import onnx.helper as oh
import onnx.numpy_helper as onh

from .. import _tenon
from ..rewriting import Node, Value
from .helpers import pretty_onnx
from .nodes import make_proto, name_of


def _info(value: Value, name: str) -> onnx.ValueInfoProto:
    return oh.make_tensor_value_info(name, value.onnx_dtype, value.shape)


def model_of(nodes: list[Node], outputs: dict[Value, str]) -> onnx.ModelProto:
    """These nodes alone: what they read from elsewhere are the inputs; `outputs` says the names of the results that are requested."""
    nodes = sorted(set(nodes), key=lambda n: n.graph.nodes.index(n))
    made = {v for n in nodes for v in n.outputs if v is not None}
    read = dict.fromkeys(v for n in nodes for v in [*n.inputs, *n.captures] if v is not None and v not in made)
    read.update((v, None) for v in outputs if v not in made)
    protos = [make_proto(n) for n in nodes]
    for value, name in outputs.items():
        if value not in made or name_of(value) != name:
            protos.append(oh.make_node("Identity", [name_of(value)], [name]))
    graph = oh.make_graph(
        protos,
        "pattern",
        [_info(v, name_of(v)) for v in read if not v.is_constant],
        [_info(v, name) for v, name in outputs.items()],
        [onh.from_array(v.array(), name=name_of(v)) for v in read if v.is_constant],
    )
    domains = {n.domain for n in protos} - {""}
    opsets = [oh.make_opsetid("", _tenon.newest_opset), *[oh.make_opsetid(d, 1) for d in sorted(domains)]]
    return oh.make_model(graph, opset_imports=opsets, producer_name="tenon")


def program_of(model: onnx.ModelProto) -> str:
    """A Python program that makes the model; tensors are in it as bytes."""
    lines = ["import onnx", "", "model = onnx.ModelProto.FromString(", f"    {model.SerializeToString()!r}", ")"]
    return "\n".join([*(f"# {line}" for line in pretty_onnx(model).splitlines()), *lines, ""])


class Dump:
    """A folder a pattern, and in it, numbered by rewrite, NAME_0.amatch.onnx and NAME_0.apply.onnx, each with a program that makes it."""

    def __init__(self, folder: str, name_of_rule: Callable[[str], str]) -> None:
        self.folder = Path(folder)
        self.name_of_rule = name_of_rule
        self.counts: dict[str, int] = {}

    def check(self, event: dict[str, Any]) -> None:
        """Called by the driver while both sides are in the graph."""
        name = self.name_of_rule(event["rule"])
        number = self.counts[name] = self.counts.get(name, -1) + 1
        replaced = event["replacements"]
        # The names of the old results are the names of both models' outputs.
        sides = {
            "amatch": model_of(event["nodes"], {old: name_of(old) for old, _ in replaced}),
            "apply": model_of(event["made"], {new: name_of(old) for old, new in replaced}),
        }
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        for side, model in sides.items():
            file = folder / f"{name}_{number}.{side}.onnx"
            onnx.save(model, file)
            Path(f"{file}.py").write_text(program_of(model), encoding="utf-8")
