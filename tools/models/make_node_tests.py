# SPDX-License-Identifier: Apache-2.0
"""Writes the tests of the ONNX package that have data to a folder, in the layout of the ONNX suite, with a manifest.

SUITE is node (made by the package's Python code), simple, pytorch-converted or pytorch-operator (shipped as files).
SUITE/NAME/model.onnx, SUITE/NAME/test_data_set_K/input_0.pb ... output_0.pb: TensorProto files, or SequenceProto,
OptionalProto and MapProto where the manifest's `kind` says so. manifest.json: for each test its name (SUITE/NAME),
tolerances, ops and operands.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy
import onnx
from google.protobuf.message import Message
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.case.test_case import TestCase

SHIPPED = ("simple", "pytorch-converted", "pytorch-operator")
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


def entry_of(file: str, value: onnx.ValueInfoProto) -> dict:
    return {"file": file, "name": value.name, "kind": kind_of(value), "element": element_of(value.type)}


def write_values(folder: Path, role: str, contents: Sequence, values: Sequence) -> list[dict]:
    """Writes one file a value; returns what the manifest says of them."""
    entries = []
    for index, (content, value) in enumerate(zip(contents, values, strict=True)):
        name = f"{role}_{index}.pb"
        (folder / name).write_bytes(message(content, value).SerializeToString(deterministic=True))
        entries.append(entry_of(f"{folder.name}/{name}", value))
    return entries


def op_names(nodes: Sequence[onnx.NodeProto]) -> Iterator[str]:
    """`Op` or `domain::Op` of each node, bodies included."""
    for node in nodes:
        yield f"{node.domain}::{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
        for attribute in node.attribute:
            for body in [attribute.g, *attribute.graphs]:
                yield from op_names(body.node)


def describe(name: str, model: onnx.ModelProto, data_sets: list[dict], rtol: float, atol: float) -> dict:
    functions = [node for function in model.functions for node in function.node]
    return {
        "name": name,
        "rtol": rtol,
        "atol": atol,
        "ops": sorted(set(op_names([*model.graph.node, *functions]))),
        "data_sets": data_sets,
    }


def write_made(case: TestCase, folder: Path) -> dict:
    """Writes one test that the package's code made; returns its manifest entry."""
    place = folder / "node" / case.name
    place.mkdir(parents=True, exist_ok=True)
    (place / "model.onnx").write_bytes(case.model.SerializeToString(deterministic=True))
    data_sets = []
    for index, (inputs, outputs) in enumerate(case.data_sets):
        data = place / f"test_data_set_{index}"
        data.mkdir(exist_ok=True)
        data_sets.append(
            {
                "inputs": write_values(data, "input", inputs, case.model.graph.input),
                "outputs": write_values(data, "output", outputs, case.model.graph.output),
            }
        )
    return describe(f"node/{case.name}", case.model, data_sets, case.rtol, case.atol)


def shipped_values(data: Path, role: str, values: Sequence[onnx.ValueInfoProto]) -> list[dict]:
    """What the manifest says of files that are there; inputs that are initializers come last and have none."""
    names = [f"{role}_{index}.pb" for index in range(len(list(data.glob(f"{role}_*.pb"))))]
    return [entry_of(f"{data.name}/{name}", value) for name, value in zip(names, values, strict=False)]


def copy_shipped(source: Path, folder: Path, suite: str) -> dict:
    """Copies one test that the package ships; returns its manifest entry. The tolerances are those of its runner."""
    place = folder / suite / source.name
    shutil.copytree(source, place, dirs_exist_ok=True)
    model = onnx.load(place / "model.onnx", load_external_data=False)
    data_sets = [
        {
            "inputs": shipped_values(data, "input", model.graph.input),
            "outputs": shipped_values(data, "output", model.graph.output),
        }
        for data in sorted(place.glob("test_data_set_*"))
    ]
    return describe(f"{suite}/{source.name}", model, data_sets, rtol=1e-3, atol=1e-7)


def writers(folder: Path) -> Iterator[tuple[str, Callable[[], dict]]]:
    """Name of each test, and what writes it."""
    for case in sorted(collect_testcases(), key=lambda case: case.name):
        yield f"node/{case.name}", partial(write_made, case, folder)
    package = Path(onnx.__file__).parent / "backend" / "test" / "data"
    for suite in SHIPPED:
        for model in sorted((package / suite).glob("*/model.onnx")):
            yield f"{suite}/{model.parent.name}", partial(copy_shipped, model.parent, folder, suite)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder to write to")
    options = parser.parse_args()
    begin = time.monotonic()
    warnings.filterwarnings("ignore")
    numpy.random.seed(0)
    options.out.mkdir(parents=True, exist_ok=True)
    entries, failures = [], []
    for name, write in writers(options.out):
        try:
            entries.append(write())
        except Exception as error:  # noqa: BLE001  one odd test does not cost the others
            failures.append(name)
            print(f"{name}: FAILED: {type(error).__name__}: {error}")
    manifest = {"onnx": onnx.__version__, "tests": entries}
    (options.out / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n")
    suites = Counter(entry["name"].split("/")[0] for entry in entries)
    print(f"{len(entries)} tests in {time.monotonic() - begin:.0f} s: {dict(suites)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
