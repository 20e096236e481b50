# SPDX-License-Identifier: Apache-2.0
"""Lists every op in a folder of ONNX models: versions, families, attributes, operand types.

Counts the nodes of function bodies and of If, Loop and Scan bodies too. A family is a file name up to its first dot;
operand types come from ONNX shape inference, `?` where that finds none.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import onnx
from onnx import helper

VALUES_SHOWN = 12
INFERENCE_LIMIT = 64 << 20


@dataclass
class Usage:
    """What was seen of one op: counts by family and by opset, attribute values, and operand types by position."""

    families: Counter = field(default_factory=Counter)
    opsets: Counter = field(default_factory=Counter)
    attributes: dict[str, Counter] = field(default_factory=lambda: defaultdict(Counter))
    operands: dict[str, Counter] = field(default_factory=lambda: defaultdict(Counter))


Types = dict[str, str]


def element(code: int) -> str:
    return onnx.TensorProto.DataType.Name(code).lower()


def type_text(kind: onnx.TypeProto) -> str:
    """`float r3`: the element type and rank."""
    if not kind.HasField("tensor_type"):
        return str(kind.WhichOneof("value"))
    rank = f"r{len(kind.tensor_type.shape.dim)}" if kind.tensor_type.HasField("shape") else "r?"
    return f"{element(kind.tensor_type.elem_type)} {rank}"


def types_of(graph: onnx.GraphProto) -> Types:
    found = {value.name: type_text(value.type) for value in [*graph.value_info, *graph.input, *graph.output]}
    found |= {each.name: f"{element(each.data_type)} r{len(each.dims)} const" for each in graph.initializer}
    return found


def attribute_text(attribute: onnx.AttributeProto) -> str:
    if attribute.ref_attr_name:
        return f"@{attribute.ref_attr_name}"
    if attribute.type == onnx.AttributeProto.TENSOR:
        return f"{element(attribute.t.data_type)}{list(attribute.t.dims)}"
    if attribute.type == onnx.AttributeProto.GRAPH:
        return f"graph of {len(attribute.g.node)} nodes"
    value = helper.get_attribute_value(attribute)
    if isinstance(value, list):
        return str([each.decode() if isinstance(each, bytes) else each for each in value])
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def all_nodes(nodes: list, types: Types) -> Iterator[tuple[onnx.NodeProto, Types]]:
    """Each node with the types in its scope, bodies after their node."""
    for node in nodes:
        yield node, types
        for attribute in node.attribute:
            for body in [*attribute.graphs, attribute.g] if attribute.type == onnx.AttributeProto.GRAPH else []:
                yield from all_nodes(body.node, types | types_of(body))


def note(usage: Usage, node: onnx.NodeProto, family: str, opset: int, types: Types) -> None:
    usage.families[family] += 1
    usage.opsets[opset] += 1
    for attribute in node.attribute:
        usage.attributes[attribute.name][attribute_text(attribute)] += 1
    for prefix, names in (("in", node.input), ("out", node.output)):
        usage.operands[f"{prefix} count"][str(len(names))] += 1
        for index, name in enumerate(names[:4] if len(names) > 8 else names):
            usage.operands[f"{prefix}{index}"][types.get(name, "?") if name else "absent"] += 1


def inferred(path: Path) -> onnx.ModelProto:
    model = onnx.load(path, load_external_data=False)
    if model.ByteSize() > INFERENCE_LIMIT:
        return model
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


def read(path: Path, usages: dict[tuple[str, str], Usage]) -> str | None:
    """Adds one model; returns a line where it has functions or control flow."""
    model, family = inferred(path), path.name.split(".")[0]
    scopes = [(model.graph.node, types_of(model.graph), model.opset_import)]
    scopes += [(each.node, {}, each.opset_import) for each in model.functions]
    control: Counter = Counter()
    for nodes, types, imports in scopes:
        opsets = {each.domain: each.version for each in imports}
        for node, scope in all_nodes(nodes, types):
            note(usages[node.domain, node.op_type], node, family, opsets.get(node.domain, 0), scope)
            control[node.op_type] += node.op_type in ("If", "Loop", "Scan", "SequenceMap")
    functions = Counter(f"{each.domain}::{each.name}" for each in model.functions)
    parts = [f"function {name}" for name in functions] + [f"{op} x{count}" for op, count in control.items() if count]
    return f"{path.name}: {', '.join(parts)}" if parts else None


def counted(values: Counter, shown: int = VALUES_SHOWN) -> str:
    parts = [f"{value} x{count}" for value, count in values.most_common(shown)]
    return ", ".join(parts) + (f", and {len(values) - shown} more" if len(values) > shown else "")


def report(usages: dict[tuple[str, str], Usage], special: list[str], files: int) -> str:
    names = {key: f"{key[0]}::{key[1]}" if key[0] else key[1] for key in sorted(usages)}
    lines = [f"{files} models, {len(usages)} ops", "", "== all ops: count"]
    lines.append(", ".join(f"{names[key]} {sum(usages[key].families.values())}" for key in names))
    lines += ["", "== models with functions or control flow", *(special or ["none"])]
    for key, name in names.items():
        usage = usages[key]
        lines += ["", f"== {name}", f"opset: {counted(usage.opsets)}", f"families: {counted(usage.families, 99)}"]
        lines += [f"attribute {each}: {counted(values)}" for each, values in sorted(usage.attributes.items())]
        lines += [f"{each}: {counted(values)}" for each, values in sorted(usage.operands.items())]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, help="default: FOLDER/ops.txt")
    options = parser.parse_args()
    usages: dict[tuple[str, str], Usage] = defaultdict(Usage)
    paths = sorted(options.folder.glob("*.onnx"))
    special = [line for path in paths if (line := read(path, usages))]
    (options.out or options.folder / "ops.txt").write_text(report(usages, special, len(paths)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
