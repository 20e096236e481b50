# SPDX-License-Identifier: Apache-2.0
"""Models over several backends."""

from pathlib import Path

import numpy as np
import pytest
import tenon

ROOT = Path(__file__).resolve().parent.parent.parent
MODEL = ROOT / "examples/mlp.onnx"
PEERS = sorted((ROOT / ".venv-peers/lib").glob("python3*/site-packages/onnxruntime/capi/libonnxruntime.so.*"))


def answer(engine: tenon.Engine) -> np.ndarray:
    return engine.run({"x": np.linspace(-1, 1, 48, dtype=np.float32).reshape(3, 16)})["y"]


def test_are_named():
    np.testing.assert_allclose(answer(tenon.compile(MODEL, backends=["reference"])), answer(tenon.compile(MODEL)), rtol=1e-5)
    with pytest.raises(tenon.TenonError, match="there is no such backend") as e:
        tenon.compile(MODEL, backends=["cuda"])
    assert "onnxruntime" in e.value.expected


def test_a_missing_library_is_reported_where_it_was_looked_for(tmp_path):
    with pytest.raises(tenon.TenonError) as e:
        tenon.compile(MODEL, backends=["onnxruntime"], backend_libraries={"onnxruntime": tmp_path / "none.so"})
    assert e.value.code == "file_missing" and "none.so" in e.value.found


@pytest.mark.skipif(not PEERS, reason="needs ONNX Runtime")
def test_run_in_a_library_of_others(tmp_path, monkeypatch):
    engine = tenon.compile(MODEL, backends=["onnxruntime"], backend_libraries={"onnxruntime": PEERS[0]})
    np.testing.assert_allclose(answer(engine), answer(tenon.compile(MODEL)), rtol=1e-5)
    engine.save(tmp_path / "mlp.tenon")
    monkeypatch.syspath_prepend(str(PEERS[0].parents[2]))  # as if this Python had the package
    np.testing.assert_array_equal(answer(tenon.load(tmp_path / "mlp.tenon")), answer(engine))
