# SPDX-License-Identifier: Apache-2.0
"""Engines for intervals of sizes: sizes outside of them run on the fallback."""

import numpy as np
import onnx.helper as oh
import pytest
import tenon
from onnx_models import I64, F, model

PARTS = {"from": np.array([0]), "to": np.array([9]), "axis": np.array([1])}


def cut_rows():
    """x[:, :9] and its exponentials: how many there are is known where x has more."""
    nodes = [
        oh.make_node("Slice", ["x", "from", "to", "axis"], ["s"]),
        oh.make_node("Exp", ["s"], ["e"], name="e"),
        oh.make_node("Mul", ["e", "w"], ["y"]),
    ]
    ports = {"x": (F, ["batch", "seq", 4])}, {"y": (F, ["batch", None, 4])}
    return model(nodes, *ports, {**PARTS, "w": np.arange(4, dtype=np.float32)}).SerializeToString()


def expected(x):
    return np.exp(x[:, :9]) * np.arange(4, dtype=np.float32)


def rows(batch, seq):
    return np.random.default_rng(batch + seq).normal(size=(batch, seq, 4)).astype(np.float32)


@pytest.mark.parametrize("backends", [[], ["reference", "cpu"]])
@pytest.mark.parametrize("saved", [None, "native", "portable"])
def test_sizes_outside_run_on_the_fallback(tmp_path, backends, saved):
    engine = tenon.compile(cut_rows(), shapes={"x": [(1, 2, 4), (10, 32, 64), 4]}, backends=backends)
    if saved:
        engine.save(tmp_path / "e.tenon", portable=saved == "portable")
        engine = tenon.load(tmp_path / "e.tenon")
    for batch, seq in [(1, 10), (4, 64), (2, 9), (5, 10), (7, 200), (1, 1), (3, 32), (9, 3)]:
        x = rows(batch, seq)
        np.testing.assert_allclose(engine.run({"x": x})["y"], expected(x), rtol=1e-5)


def test_what_the_model_itself_refuses_is_refused():
    engine = tenon.compile(cut_rows(), shapes={"x": [(1, 2, 4), (10, 32, 64), 4]})
    with pytest.raises(tenon.TenonError, match="dimension 2 is out of its range"):
        engine.run({"x": rows(2, 12)[:, :, :3].copy()})


def test_weights_and_code_are_kept_once(tmp_path):
    weights = np.random.default_rng(1).normal(size=(64, 4096)).astype(np.float32)
    nodes = [
        oh.make_node("Slice", ["x", "from", "to", "axis"], ["s"]),
        oh.make_node("Relu", ["s"], ["r"]),
        oh.make_node("MatMul", ["r", "w"], ["y"]),
    ]
    ports = {"x": (F, ["batch", "seq", 64])}, {"y": (F, ["batch", None, 4096])}
    one = model(nodes, *ports, {**PARTS, "w": weights}).SerializeToString()
    sizes = []
    for shapes in ({}, {"x": [(1, 2, 4), (10, 32, 64), 64]}):
        tenon.compile(one, shapes=shapes).save(tmp_path / "e.tenon")
        sizes.append((tmp_path / "e.tenon").stat().st_size)
    assert sizes[1] < sizes[0] + 100_000


def test_intervals_that_change_nothing_are_not_guarded(tmp_path):
    nodes = [oh.make_node("Exp", ["x"], ["y"])]
    one = model(nodes, {"x": (F, ["n"])}, {"y": (F, ["n"])}).SerializeToString()
    files = []
    for shapes in ({}, {"x": [(3, 5, 7)]}):
        engine = tenon.compile(one, shapes=shapes)
        engine.save(tmp_path / "e.tenon")
        files.append((tmp_path / "e.tenon").stat().st_size)
        np.testing.assert_allclose(engine.run({"x": np.zeros(9, np.float32)})["y"], np.ones(9))
    assert files[0] == files[1]


def test_a_batch_of_indices_that_is_too_long():
    nodes = [oh.make_node("Gather", ["table", "ids"], ["y"])]
    table = np.arange(12, dtype=np.float32).reshape(6, 2)
    one = model(nodes, {"ids": (I64, ["n"])}, {"y": (F, ["n", 2])}, {"table": table}).SerializeToString()
    engine = tenon.compile(one, shapes={"ids": [(1, 2, 3)]}, backends=["reference", "cpu"])
    for n in (1, 3, 5):
        np.testing.assert_array_equal(engine.run({"ids": np.arange(n)})["y"], table[:n])
    with pytest.raises(tenon.TenonError, match="outside"):
        engine.run({"ids": np.array([0, 1, 2, 3, 6])})
