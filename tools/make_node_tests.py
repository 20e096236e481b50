# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX's own node tests to a folder, in the layout of the ONNX suite, with a manifest.

NAME/model.onnx, NAME/test_data_set_0/input_0.pb ... output_0.pb: TensorProto files, or SequenceProto, OptionalProto
and MapProto where the manifest's `kind` says so. manifest.json: for each test its tolerances, ops and operands.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy
import onnx
from google.protobuf.message import Message
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.case.test_case import TestCase

DATA_SET = "test_data_set_0"
WRITERS = {
    "tensor": numpy_helper.from_array,
    "sequence": numpy_helper.from_list,
    "optional": numpy_helper.from_optional,
    "map": numpy_helper.from_dict,
}


def kind_of(value: onnx.ValueInfoProto) -> str:
    return value.type.WhichOneof("value").removesuffix("_type").removesuffix("_tensor")


def element_of(kind: onnx.TypeProto) -> str:
    """The element type in ONNX's small letters; looks through sequences and optionals."""
    name = kind.WhichOneof("value")
    inner = getattr(kind, name)
    if name in ("tensor_type", "sparse_tensor_type", "map_type"):
        code = inner.key_type if name == "map_type" else inner.elem_type
        return onnx.TensorProto.DataType.Name(code).lower()
    return element_of(inner.elem_type)


def message(content: object, value: onnx.ValueInfoProto) -> Message:
    return content if isinstance(content, Message) else WRITERS[kind_of(value)](content, value.name)


def write_values(folder: Path, role: str, contents: Sequence, values: Sequence) -> list[dict]:
    """Writes one file a value; returns what the manifest says of them."""
    entries = []
    for index, (content, value) in enumerate(zip(contents, values, strict=True)):
        name = f"{role}_{index}.pb"
        (folder / name).write_bytes(message(content, value).SerializeToString(deterministic=True))
        entry = {"file": f"{DATA_SET}/{name}", "name": value.name, "kind": kind_of(value)}
        entries.append(entry | {"element": element_of(value.type)})
    return entries


def op_names(nodes: Sequence[onnx.NodeProto]) -> Iterator[str]:
    """`Op` or `domain::Op` of each node, bodies included."""
    for node in nodes:
        yield f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        for attribute in node.attribute:
            for body in [attribute.g, *attribute.graphs]:
                yield from op_names(body.node)


def write_test(case: TestCase, folder: Path) -> dict:
    """Writes one test; returns its manifest entry."""
    if len(case.data_sets) != 1:
        raise ValueError(f"{case.name}: one data set expected, found {len(case.data_sets)}")
    place = folder / case.name / DATA_SET
    place.mkdir(parents=True, exist_ok=True)
    (folder / case.name / "model.onnx").write_bytes(case.model.SerializeToString(deterministic=True))
    inputs, outputs = case.data_sets[0]
    functions = [node for function in case.model.functions for node in function.node]
    return {
        "name": case.name,
        "rtol": case.rtol,
        "atol": case.atol,
        "opsets": {each.domain: each.version for each in case.model.opset_import},
        "ops": sorted(set(op_names([*case.model.graph.node, *functions]))),
        "inputs": write_values(place, "input", inputs, case.model.graph.input),
        "outputs": write_values(place, "output", outputs, case.model.graph.output),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    options = parser.parse_args()
    begin = time.monotonic()
    warnings.filterwarnings("ignore")
    numpy.random.seed(0)
    cases = sorted(collect_testcases(), key=lambda case: case.name)
    options.out.mkdir(parents=True, exist_ok=True)
    entries, failures = [], []
    for case in cases:
        try:
            entries.append(write_test(case, options.out))
        except Exception as error:  # noqa: BLE001  one odd test does not cost the others
            failures.append(case.name)
            print(f"{case.name}: FAILED: {type(error).__name__}: {error}")
    manifest = {"onnx": onnx.__version__, "tests": entries}
    (options.out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    kinds = Counter(value["kind"] for entry in entries for value in entry["inputs"] + entry["outputs"])
    print(f"{len(entries)} tests in {time.monotonic() - begin:.0f} s; values: {dict(kinds)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
