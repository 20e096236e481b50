# SPDX-License-Identifier: Apache-2.0
"""Engines as pickles."""

import concurrent.futures
import copy
import multiprocessing
import pickle
from pathlib import Path

import numpy as np
import pytest
import tenon

MODEL = Path(__file__).resolve().parent.parent.parent / "examples/mlp.onnx"
X = {"x": np.random.default_rng(0).normal(size=(5, 16)).astype(np.float32)}


def run(engine) -> np.ndarray:
    return engine.run(X)["y"]


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("portable", [False, True])
def test_pickled_engine_gives_the_same_results(tmp_path, loaded, portable):
    engine = tenon.compile(MODEL)
    expected = run(engine)
    if loaded:
        engine.save(tmp_path / "mlp.tenon", portable=portable)
        engine = tenon.load(tmp_path / "mlp.tenon")
        (tmp_path / "mlp.tenon").unlink()  # the engine has it mapped
    data = pickle.dumps(engine)
    again = pickle.loads(data)
    np.testing.assert_array_equal(run(again), expected)
    assert repr(again.inputs) == repr(engine.inputs)
    assert pickle.dumps(again) == data


def test_other_processes_get_it():
    engine = tenon.compile(MODEL)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        np.testing.assert_array_equal(pool.submit(run, engine).result(timeout=300), run(engine))


def test_copies_are_the_engine_itself():
    engine = tenon.compile(MODEL)
    assert copy.copy(engine) is engine
    assert copy.deepcopy([engine, engine])[1] is engine


def test_damaged_pickle_is_an_error():
    restore, (data, options) = tenon.compile(MODEL).__reduce__()
    assert set(options) == {
        "backend_libraries",
        "custom_ops",
        "plugins",
        "plugin_any_build",
        "embedded_plugins",
        "isolate_plugins",
        "plugin_timeout",
        "plugin_memory",
    }
    for bad in (b"", data[:100], data[: len(data) // 2]):
        with pytest.raises(tenon.TenonError) as raised:
            restore(bad, options)
        assert raised.value.code == "bad_file"
