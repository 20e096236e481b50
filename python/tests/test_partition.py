# SPDX-License-Identifier: Apache-2.0
"""Who runs what, and the constraints that tenon.compile takes too."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tenon
from tenon.rewriting import Graph

ROOT = Path(__file__).resolve().parent.parent.parent
MODEL = ROOT / "examples/mlp.onnx"
TWO = {"backends": ["cpu", "reference"]}
X = {"x": np.linspace(-1, 1, 48, dtype=np.float32).reshape(3, 16)}

CHAIN = "graph g(x: f32[4]) {\n  a = Relu(x)\n  b = Sin(a)\n  c = Abs(b)\n  d = Exp(c)\n  return d\n}"


def refused(**options: object) -> tenon.TenonError:
    for use in (tenon.partition, tenon.compile):
        with pytest.raises(tenon.TenonError) as raised:
            use(MODEL, **options)
    return raised.value


def backends_of(report: dict) -> dict[str, str]:
    return {node["op"]: node["backend"] for node in report["nodes"]}


@pytest.mark.parametrize("dry_run", [False, True])
def test_equals_the_command_lines_answer(dry_run):
    arguments = ["--backend", "cpu,reference", "--fallback-ops", "Softmax", *(["--dry-run"] if dry_run else [])]
    report = subprocess.run([ROOT / "build/bin/tenon", "partition", MODEL, *arguments, "--json"], capture_output=True, check=True)
    assert tenon.partition(MODEL, **TWO, fallback_ops=["Softmax"], dry_run=dry_run) == json.loads(report.stdout)


def test_a_model_given_as_anything_else():
    report = tenon.partition(MODEL, **TWO, dry_run=True)
    for model in (str(MODEL), MODEL.read_bytes(), Graph.from_onnx(MODEL)):
        assert tenon.partition(model, **TWO, dry_run=True) == report


def test_constraints():
    graph = Graph.parse(CHAIN)
    report = tenon.partition(graph, **TWO, fallback_ops=["Sin"], opt=0)
    assert backends_of(report) == {"Relu": "cpu", "Sin": "reference", "Abs": "cpu", "Exp": "cpu"}
    assert [s["backend"] for s in report["segments"]] == ["cpu", "reference", "cpu"] and report["proved"]
    assert report["peak_bytes"] > 0 and report["handed_back"] == []
    assert report["what_if"][0] == {"op": "Sin", "borders_removed": 2, "segments": 1}
    report = tenon.partition(graph, **TWO, fallback_ops=["Sin"], min_block_size=2, opt=0)
    assert backends_of(report)["Relu"] == "reference"
    report = tenon.partition(graph, **TWO, pins={"Abs_2": "reference"}, opt=0)
    assert backends_of(report)["Abs"] == "reference"
    report = tenon.partition(graph, **TWO, assign="cost", opt=0)
    assert len(report["segments"]) == 1


def test_sizes_between_bounds():
    engine = tenon.compile(MODEL, shapes={"x": [(1, 4, 64), 16]})
    assert engine.run({"x": np.ones((64, 16), np.float32)})["y"].shape == (64, 10)
    assert engine.run({"x": np.ones((65, 16), np.float32)})["y"].shape == (65, 10)
    error = refused(shapes={"x": [(4, 1, 64), 16]})
    assert error.code == "bad_usage" and error.found == "4, 1, 64"


def test_constraints_are_those_of_compile():
    expected = tenon.compile(MODEL).run(X)["y"]
    for constraints in ({"fallback_ops": ["Softmax"]}, {"min_block_size": 100}, {"assign": "cost"}, {"require_full": True}):
        np.testing.assert_allclose(tenon.compile(MODEL, **TWO, **constraints).run(X)["y"], expected, rtol=1e-5)


def test_measured_times_decide(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    constraints = {"backends": ["reference", "cpu"], "assign": "cost", "measure": True, "opt": 0}
    report = tenon.partition(MODEL, **constraints)
    lines = (tmp_path / "tenon/times").read_text().splitlines()
    assert len(lines) >= 5  # two starts, both backends alone, and nodes
    engine = tenon.compile(MODEL, **constraints)
    assert (tmp_path / "tenon/times").read_text().splitlines() == lines  # all was known
    np.testing.assert_allclose(engine.run(X)["y"], tenon.compile(MODEL).run(X)["y"], rtol=1e-5)
    assert {n["backend"] for n in report["nodes"]} <= {"cpu", "reference"}


def test_times_are_of_the_requested_kernels(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    constraints = {"backends": ["reference", "cpu"], "assign": "cost", "measure": True, "dry_run": True}
    has_bf16 = "avx512_bf16" in Path("/proc/cpuinfo").read_text()
    counts = [0]
    for kernels in ({}, {"winograd": False}, *([{"precision": "bf16"}] if has_bf16 else [])):
        tenon.partition(MODEL, **constraints, **kernels)
        counts.append(len((tmp_path / "tenon/times").read_text().splitlines()))
        assert counts[-1] > counts[-2], kernels


def test_costs_are_those_of_the_command_line(tmp_path, monkeypatch):
    """What `tenon calibrate` kept is found from here, by what is another file than that program."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program, shares = ROOT / "build/bin/tenon", ["--backend", "cpu,reference", "--fallback-ops", "Softmax", "--assign", "cost"]
    constraints = {**TWO, "fallback_ops": ["Softmax"], "assign": "cost", "dry_run": True}
    assert "costs" not in tenon.partition(MODEL, **TWO, dry_run=True)
    for source in ("guessed", "calibrated"):
        printed = subprocess.run([program, "partition", MODEL, *shares, "--dry-run", "--json"], capture_output=True, check=True)
        report = tenon.partition(MODEL, **constraints)
        report["costs"] = [c for c in report["costs"] if c["backend"] != "plugin"]  # which other tests of this process may have registered
        assert report == json.loads(printed.stdout)
        assert {c["backend"]: c["source"] for c in report["costs"]} == {"cpu": "guessed", "reference": source}
        subprocess.run([program, "calibrate", "--backend", "reference"], capture_output=True, check=True)


def test_what_was_calibrated_decides(tmp_path, monkeypatch):
    """A start that takes a second never pays."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    program, kept = ROOT / "build/bin/tenon", tmp_path / "tenon/overheads"
    subprocess.run([program, "calibrate", "--backend", "reference"], capture_output=True, check=True)
    graph, constraints = Graph.parse(CHAIN), {"backends": ["reference", "cpu"], "assign": "cost", "pins": {"Sin_1": "reference"}, "opt": 0}
    name = kept.read_text().split()[0]
    kept.write_text(f"{name} 1e12 0 0 reference\n")
    report = tenon.partition(graph, **constraints)
    assert [c["launch_ns"] for c in report["costs"] if c["backend"] == "reference"] == [1e12]
    assert report["predicted"]["us"] > 1e9  # the pin's


def test_the_walk(tmp_path):
    """As the command line cuts by it: a segment more than the fewest."""
    text = "graph g(x: f32[4]) {\n  a = Exp(x)\n  b = Neg(x)\n  c = Exp(b)\n  d = Neg(a)\n  y = Add(c, d)\n  return y\n}"
    graph, model = Graph.parse(text), tmp_path / "walked.onnx"
    graph.save_onnx(model)
    constraints = {**TWO, "fallback_ops": ["Neg"]}
    call = ["partition", model, "--backend", "cpu,reference", "--fallback-ops", "Neg", "--dry-run", "--json"]
    for segmenter, count in (("fewest", 3), ("walk", 4)):
        printed = subprocess.run([ROOT / "build/bin/tenon", *call, "--segmenter", segmenter], capture_output=True, check=True)
        report = tenon.partition(model, **constraints, segmenter=segmenter, dry_run=True)
        assert report == json.loads(printed.stdout) and len(report["segments"]) == count
    y = tenon.compile(graph, **constraints, segmenter="walk").run({"x": X["x"][0, :4]})["y"]
    np.testing.assert_allclose(y, tenon.compile(graph).run({"x": X["x"][0, :4]})["y"], rtol=1e-6)
    assert refused(**TWO, segmenter="stroll").expected == "fewest or walk"
    assert refused(backends=["cpu"], segmenter="walk").place == "segmenter walk"


@pytest.mark.parametrize("program", ["/bin/false", "/no/such/python", ""])
def test_nobody_to_measure(tmp_path, monkeypatch, program):
    """Nothing is guessed instead."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "executable", program)
    assert refused(**TWO, assign="cost", measure=True).place == "measure"


def test_errors_speak_no_command_line():
    """Their places are words that all interfaces have."""
    for place, constraints in {
        "fallback-ops": {"fallback_ops": ["Nothing"]},
        "fallback-modules": {"fallback_modules": ["nothing"]},
        "pin": {"pins": {"nothing": "cpu"}},
        "pin Softmax=openvino": {"pins": {"Softmax": "openvino"}},
        "memory": {"memory": {"cpu": 1}},
        "require-full": {"fallback_ops": ["Softmax"], "require_full": True},
    }.items():
        error = refused(**TWO, **constraints)
        assert error.place == place and not error.advice.startswith("--")


def test_types_that_may_be_narrowed():
    assert tenon.partition(MODEL, **TWO, narrow={"f64": "f32"}) == tenon.partition(MODEL, **TWO)
    error = refused(**TWO, narrow={"f64": "f33"})
    assert (error.code, error.place, error.found) == ("bad_usage", "narrow", "f33")
    assert refused(**TWO, narrow={"f16": "f32"}).what == "this narrows nothing"
    assert refused(narrow={"i64": "i32"}).what == "no backend is accelerated that might lack a type"


def test_what_is_refused():
    error = refused(**TWO, fallback_ops=["Softmux"])
    assert error.code == "bad_usage" and "Softmax" in error.advice
    assert refused(**TWO, min_block_size=0).place == refused(**TWO, min_block_size=-3).place == "min_block_size"
    assert refused(**TWO, assign="luck").expected == "priority or cost"
    assert "not listed" in refused(**TWO, pins={"Softmax": "onnxruntime"}).what
    assert refused(**TWO, measure=True).place == "measure"
    error = refused(**TWO, fallback_ops=["Softmax"], require_full=True)
    assert error.code == "not_supported" and "Softmax (1x)" in error.found
    assert refused(backends=["cpu", "cpu"]).code == refused(opt=7).code == "bad_usage"
    with pytest.raises(tenon.TenonError, match="this is no model"):
        tenon.partition(7)
