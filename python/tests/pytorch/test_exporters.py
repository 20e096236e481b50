# SPDX-License-Identifier: Apache-2.0
"""Models of both of PyTorch's exporters over two backends: what a module is called, and that it may run elsewhere, as any node may."""

import re
import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")
import numpy as np  # noqa: E402
import tenon  # noqa: E402
from networks import Block, Images, Inverted, run  # noqa: E402

NETWORKS = {
    "a layer of a transformer": (Block, (2, 5, 16), ["feed", "attention"]),
    "images": (Images, (2, 3, 16, 16), ["body", "head"]),
    "inverted bottlenecks": (Inverted, (1, 3, 32, 32), ["blocks.1", "stem"]),
}
TWO = {"backends": ["cpu", "reference"], "opt": 0}


@pytest.fixture(scope="module", params=[(n, e) for n in NETWORKS for e in ("torchscript", "dynamo")], ids=lambda p: f"{p[0]}, {p[1]}")
def exported(request, tmp_path_factory):
    """The file; an input and what eager gives; modules."""
    name, exporter = request.param
    make, shape, modules = NETWORKS[name]
    torch.manual_seed(3)
    module, x = make().eval(), torch.randn(shape)
    path = tmp_path_factory.mktemp("exported") / "m.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, (x,), path, input_names=["x"], output_names=["y"], dynamo=exporter == "dynamo", verbose=False)
    return path, x.numpy(), run(module, x).numpy(), modules


def answers(exported, **constraints):
    path, x, want, _ = exported
    np.testing.assert_allclose(tenon.compile(path, **constraints).run({"x": x})["y"], want, rtol=1e-4, atol=1e-5)


def inside(row: dict, module: str) -> bool:
    return re.match(re.escape(module).replace(r"\.", "[./]") + r"([./]|$)", row["module"].lstrip("/")) is not None


def test_a_module_runs_elsewhere_and_nothing_else_does(exported):
    path, _, _, modules = exported
    for module in modules:
        report = tenon.partition(path, **TWO, fallback_modules=[module], dry_run=True)
        elsewhere = [row["name"] for row in report["nodes"] if row["backend"] == "reference"]
        assert elsewhere == [row["name"] for row in report["nodes"] if inside(row, module)], module
        assert 0 < len(elsewhere) < len(report["nodes"]), module
        answers(exported, **TWO, fallback_modules=[module])


def test_every_other_node_runs_elsewhere(exported):
    rows = tenon.partition(exported[0], **TWO, dry_run=True)["nodes"]
    pins = {row["name"]: "reference" for row in rows[1::2]}
    report = tenon.partition(exported[0], **TWO, pins=pins)
    assert [row["backend"] for row in report["nodes"]] == ["reference" if k % 2 else "cpu" for k in range(len(rows))]
    assert len(report["segments"]) > len(rows) // 3
    for opt in (0, 3):
        answers(exported, **{**TWO, "opt": opt}, pins=pins)


def test_an_op_runs_elsewhere(exported):
    counts: dict[str, int] = {}
    for row in tenon.partition(exported[0], **TWO, dry_run=True)["nodes"]:
        counts[row["op"]] = counts.get(row["op"], 0) + 1
    for op in sorted(counts, key=lambda o: (-counts[o], o))[:2]:
        answers(exported, backends=["cpu", "reference"], fallback_ops=[op])
