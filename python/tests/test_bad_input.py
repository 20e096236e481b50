# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a file or an array comes out as one TenonError with all its parts, and the engine goes on."""

from pathlib import Path

import numpy as np
import pytest
import tenon

MODEL = Path(__file__).resolve().parent.parent.parent / "examples/mlp.onnx"


def parts_of(error: tenon.TenonError) -> dict[str, str]:
    return {name: getattr(error, name) for name in ("code", "place", "what", "expected", "found", "advice")}


def refused(call, *arguments, **options) -> dict[str, str]:
    with pytest.raises(tenon.TenonError) as caught:
        call(*arguments, **options)
    parts = parts_of(caught.value)
    assert all(parts.values()), parts
    return parts


@pytest.mark.parametrize("size", [0, 1, 100, 1000])
def test_a_model_that_is_cut_off(tmp_path, size):
    path = tmp_path / "m.onnx"
    path.write_bytes(MODEL.read_bytes()[:size])
    parts = refused(tenon.compile, path)
    assert parts["code"] == "bad_file" and "m.onnx" in parts["place"]


def test_a_missing_model(tmp_path):
    assert refused(tenon.compile, tmp_path / "gone.onnx")["code"] == "file_missing"


def test_a_damaged_engine(tmp_path):
    path = tmp_path / "e.tenon"
    tenon.compile(MODEL).save(path)
    whole = path.read_bytes()
    for at in (0, 20, 70, len(whole) // 2):
        data = bytearray(whole)
        data[at] ^= 1
        path.write_bytes(bytes(data))
        assert refused(tenon.load, path, verify=True)["code"] in ("bad_file", "wrong_target")
    path.write_bytes(whole[:-1])
    assert refused(tenon.load, path)["code"] == "bad_file"


def test_a_place_that_cannot_be_written(tmp_path):
    engine = tenon.compile(MODEL)
    assert refused(engine.save, tmp_path / "nowhere/e.tenon")["code"] == "write_failed"
    assert refused(engine.save, tmp_path)["code"] == "write_failed"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "array", [np.zeros((2, 16)), np.zeros(16, np.float32), np.zeros((2, 17), np.float32), np.array([[None] * 16]), np.array([["a"] * 16])]
)
def test_arrays_that_do_not_fit(array):
    engine = tenon.compile(MODEL)
    parts = refused(engine.run, {"x": array})
    assert parts["code"] == "bad_input" and parts["place"] == "input 'x'"
    assert engine.run({"x": np.zeros((1, 16), np.float32)})["y"].shape == (1, 10)


def test_inputs_that_are_missing_or_too_many():
    engine = tenon.compile(MODEL)
    assert refused(engine.run, {})["place"] == "input 'x'"
    x = np.zeros((1, 16), np.float32)
    assert refused(engine.run, {"x": x, "z": x})["place"] == "input 'z'"
