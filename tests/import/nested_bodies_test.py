# SPDX-License-Identifier: Apache-2.0
"""Random bodies within bodies, exported and rewritten: ONNX's checker and ONNX Runtime take what is written, and the results are equal.

Each graph draws point-wise nodes, If, Loop and Scan over values of its own and of all graphs around it, constants at every
depth that may be used by deeper bodies alone, and names that sibling bodies share. The seed is the model's name.
"""

import os
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
PEERS = ROOT / ".venv-peers/bin/python"
COUNT = int(os.environ.get("TENON_NESTED_BODIES", "60"))
DEPTH = 3
SHAPE = [2, 3]
# An initializer of 1 KiB and more may go to a data file.
TABLE = [64, *SHAPE]


def tensor(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE)


def scalar(name: str, kind: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, [])


class Drawn:
    """One graph while it is drawn: its nodes and what may be read there."""

    def __init__(self, draw: random.Random, around: "Drawn | None", stem: str) -> None:
        self.draw, self.around, self.stem, self.count = draw, around, stem, 0
        self.depth = around.depth + 1 if around else 0
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.seen: dict[str, list[str]] = {kind: [] for kind in ("value", "table", "condition", "count", "axis")}

    def name(self) -> str:
        self.count += 1
        return f"{self.stem}{self.count}"

    def visible(self, kind: str) -> list[str]:
        return self.seen[kind] + (self.around.visible(kind) if self.around else [])

    def pick(self, kind: str) -> str:
        return self.draw.choice(self.visible(kind))

    def constant(self, kind: str, value: numpy.ndarray) -> None:
        name = self.name()
        if self.draw.random() < 0.5:
            self.initializers.append(numpy_helper.from_array(value, name))
        else:
            self.nodes.append(helper.make_node("Constant", [], [name], value=numpy_helper.from_array(value)))
        self.seen[kind].append(name)

    def constants(self) -> None:
        rng = numpy.random.default_rng(self.draw.getrandbits(32))
        shape = self.draw.choice([SHAPE, SHAPE[1:], []])
        self.constant("value" if shape == SHAPE else "axis", rng.standard_normal(shape).astype(numpy.float32))
        if self.draw.random() < 0.4:
            self.constant("table", rng.standard_normal(TABLE).astype(numpy.float32))
        if self.draw.random() < 0.4:
            self.constant("condition", numpy.array(self.draw.random() < 0.5))
        if self.draw.random() < 0.4:
            self.constant("count", numpy.array(self.draw.randint(0, 3), numpy.int64))

    def add(self, op: str, inputs: list[str], **attributes: object) -> str:
        self.nodes.append(helper.make_node(op, inputs, [name := self.name()], **attributes))
        return name

    def point(self) -> str:
        op = self.draw.choice(["Add", "Sub", "Mul", "Max", "Tanh", "Sigmoid", "Neg", "Identity"])
        operands = [self.pick("value")]
        if op in ("Add", "Sub", "Mul", "Max"):
            operands.append(self.pick(self.draw.choice(["value", "axis"])))
        return self.add("Tanh", [self.add(op, operands)])

    def reduced(self) -> str:
        axes = self.name()
        self.initializers.append(numpy_helper.from_array(numpy.array([0], numpy.int64), axes))
        return self.add("ReduceMean", [self.pick("table"), axes], keepdims=0)

    def condition(self) -> str:
        total = self.add("ReduceSum", [self.pick("value")], keepdims=0)
        zero = self.name()
        self.initializers.append(numpy_helper.from_array(numpy.float32(0).reshape(()), zero))
        name = self.add("Greater", [total, zero])
        self.seen["condition"].append(name)
        return name

    def inner(self) -> "Drawn":
        # Bodies of one depth use the same names: nothing but their place tells them apart.
        return Drawn(self.draw, self, f"d{self.depth + 1}_")

    def branch(self) -> str:
        return self.add("If", [self.pick("condition")], then_branch=self.inner().body("then"), else_branch=self.inner().body("else"))

    def loop(self) -> str:
        inner = self.inner()
        index, going, carried = inner.name(), inner.name(), inner.name()
        inner.seen["value"].append(carried)
        inputs = [scalar(index, TensorProto.INT64), scalar(going, TensorProto.BOOL), tensor(carried)]
        body = inner.body("loop", inputs, going)
        return self.add("Loop", [self.pick("count"), self.draw.choice(["", self.pick("condition")]), self.pick("value")], body=body)

    def scan(self) -> str:
        inner = self.inner()
        carried, row = inner.name(), inner.name()
        inner.seen["value"].append(carried)
        inner.seen["axis"].append(row)
        inputs = [tensor(carried), helper.make_tensor_value_info(row, TensorProto.FLOAT, SHAPE[1:])]
        body = inner.body("scan", inputs)
        return self.add("Scan", [self.pick("value"), self.pick("value")], body=body, num_scan_inputs=1)

    def fill(self, steps: int) -> None:
        for _ in range(self.draw.randint(1, 2)):
            self.constants()
        for _ in range(steps):
            forms = [self.point, self.point]
            if self.visible("table"):
                forms.append(self.reduced)
            if self.depth < DEPTH:
                forms += [self.branch, self.loop, self.scan]
            self.seen["value"].append(self.draw.choice(forms)())
            if self.draw.random() < 0.2:
                self.condition()

    def body(self, name: str, inputs: tuple | list = (), going: str = "") -> onnx.GraphProto:
        self.fill(self.draw.randint(1, 3))
        result = self.add("Add", [self.pick("value"), self.pick("value")])
        outputs = [tensor(result)]
        if going:
            outputs.insert(0, scalar(self.add("Identity", [going]), TensorProto.BOOL))
        return helper.make_graph(self.nodes, name, inputs, outputs, self.initializers)


def model(seed: int) -> onnx.ModelProto:
    root = Drawn(random.Random(seed), None, "r")
    root.seen["value"] += ["x", "y"]
    root.seen["condition"].append("c")
    root.seen["count"].append("n")
    root.seen["axis"].append("a")
    root.fill(5)
    named = [root.add("Identity", [each]) for each in root.seen["value"][2:]][-3:]
    inputs = [tensor("x"), tensor("y"), scalar("c", TensorProto.BOOL), scalar("n", TensorProto.INT64)]
    inputs.append(helper.make_tensor_value_info("a", TensorProto.FLOAT, SHAPE[1:]))
    graph = helper.make_graph(root.nodes, "main", inputs, [tensor(each) for each in named], root.initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def has_runtime() -> bool:
    return PEERS.exists() and subprocess.run([PEERS, "-c", "import onnx, onnxruntime"], capture_output=True).returncode == 0


@unittest.skipUnless(has_runtime(), "needs the packages onnx and onnxruntime in .venv-peers")
class NestedBodies(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        for seed in range(COUNT):
            onnx.save(model(seed), Path(cls.folder.name) / f"seed{seed}.onnx")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def check(self, *options: str) -> None:
        command = [PEERS, ROOT / "tests/import/roundtrip.py", "--tenon", TENON, *options, self.folder.name]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=500)
        wrong = "\n".join(line for line in done.stdout.splitlines() if not line.startswith("ok"))
        self.assertEqual(done.returncode, 0, wrong + done.stderr)

    def test_exported(self) -> None:
        self.check()

    def test_exported_with_a_data_file(self) -> None:
        self.check("--option=--external-weights")

    def test_optimised_and_exported(self) -> None:
        self.check("--option=--opt=3")

    def test_rewritten(self) -> None:
        self.check("--verb=rewrite")


if __name__ == "__main__":
    unittest.main()
