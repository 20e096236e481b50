# SPDX-License-Identifier: Apache-2.0
"""The Python package on the example model: two dense layers and a softmax, any batch."""

import ast
import gc
import re
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import tenon

ROOT = Path(__file__).resolve().parent.parent.parent
MODEL = ROOT / "examples/mlp.onnx"


@pytest.fixture(scope="module")
def engine():
    return tenon.compile(MODEL)


def inputs(rows: int) -> np.ndarray:
    return np.random.default_rng(rows).normal(size=(rows, 16)).astype(np.float32)


def test_compiles_and_runs(engine):
    y = engine.run({"x": inputs(3)})["y"]
    assert y.shape == (3, 10) and y.dtype == np.float32
    np.testing.assert_allclose(y.sum(axis=1), 1, rtol=1e-5)


def test_lists_its_ports(engine):
    assert [(p.name, p.dtype, p.dimensions) for p in engine.inputs] == [("x", "f32", ["batch", "16"])]
    assert [p.name for p in engine.outputs] == ["y"]
    assert repr(engine.inputs[0]) == "<x: f32[batch,16]>"
    ports = re.escape("<Engine (x: f32[batch,16]) -> (y: f32[batch,10]); ")
    assert re.fullmatch(ports + r"[\d.]+ k?B of weights, [\d.]+ k?B of code, \d+ steps>", repr(engine))


@pytest.mark.parametrize("portable", [False, True])
def test_a_saved_engine_answers_the_same(engine, tmp_path, portable):
    path = tmp_path / "mlp.tenon"
    engine.save(path, portable=portable)
    loaded = tenon.load(path, verify=True)
    np.testing.assert_array_equal(loaded.run({"x": inputs(4)})["y"], engine.run({"x": inputs(4)})["y"])


@pytest.mark.parametrize("opt", [0, 1, 2])
def test_levels_agree(engine, opt):
    np.testing.assert_allclose(tenon.compile(MODEL, opt=opt).run({"x": inputs(2)})["y"], engine.run({"x": inputs(2)})["y"], rtol=1e-4)


def test_shapes_can_be_fixed():
    fixed = tenon.compile(str(MODEL), shapes={"x": [2, -1]})
    assert fixed.inputs[0].dimensions == ["2", "16"]
    with pytest.raises(tenon.TenonError):
        fixed.run({"x": inputs(3)})


def refused(engine, given) -> tenon.TenonError:
    with pytest.raises(tenon.TenonError) as raised:
        engine.run(given)
    assert raised.value.code == "bad_input"
    return raised.value


def test_a_wrong_name_is_refused(engine):
    error = refused(engine, {"z": inputs(1)})
    assert error.place == "input 'x'" and error.expected == "x"
    assert refused(engine, {"x": inputs(1), "z": inputs(1)}).found == "z"


def test_a_wrong_dtype_is_refused(engine):
    error = refused(engine, {"x": inputs(1).astype(np.float64)})
    assert (error.expected, error.found) == ("f32[batch,16]", "f64[1,16]")
    assert error.advice and "found" in str(error)


def test_a_wrong_shape_is_refused(engine):
    assert refused(engine, {"x": inputs(2).reshape(4, 8)}).found == "[4,8]"
    assert refused(engine, {"x": inputs(1)[0]}).found == "f32[16]"


@pytest.mark.parametrize("value", [None, "text", 3, np.array(["a"]), np.array([object()])])
def test_what_is_no_array_is_refused(engine, value):
    assert refused(engine, {"x": value}).place == "input 'x'"


def test_files_that_are_missing_or_no_models_are_errors(tmp_path):
    for call in (tenon.compile, tenon.load):
        with pytest.raises(tenon.TenonError) as raised:
            call(tmp_path / "nowhere")
        assert raised.value.code == "file_missing" and "nowhere" in raised.value.place
    (tmp_path / "bad.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(tenon.TenonError) as raised:
        tenon.compile(tmp_path / "bad.onnx")
    assert raised.value.code == "bad_file"


def test_odd_layouts_are_understood(engine):
    x = inputs(6)
    expected = engine.run({"x": x[::2]})["y"]
    np.testing.assert_array_equal(engine.run({"x": x[::2].copy()})["y"], expected)
    np.testing.assert_array_equal(engine.run({"x": np.asfortranarray(x[::2])})["y"], expected)
    readonly = x[::2].copy()
    readonly.flags.writeable = False
    np.testing.assert_array_equal(engine.run({"x": readonly})["y"], expected)


class Exporter:
    """Anything that speaks DLPack."""

    def __init__(self, array: np.ndarray):
        self.array, self.asked = array, 0

    def __dlpack__(self, **options):
        self.asked += 1
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_goes_in_and_out(engine):
    given = Exporter(inputs(2))
    y = engine.run({"x": given})["y"]
    assert given.asked == 1
    np.testing.assert_array_equal(np.from_dlpack(y), engine.run({"x": given.array})["y"])


def field(number: int, value: int | bytes | str) -> bytes:
    """One field of a protobuf message."""

    def varint(n: int) -> bytes:
        return bytes([n]) if n < 128 else bytes([n % 128 + 128]) + varint(n // 128)

    if isinstance(value, int):
        return varint(number * 8) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number * 8 + 2) + varint(len(data)) + data


def row_maximum() -> bytes:
    """An ONNX model: y = ReduceMax(x, axes=[1], keepdims=0), x: f32[n,1024]."""

    def port(name: str, *dims: int | str) -> bytes:
        shape = b"".join(field(1, field(1, d) if isinstance(d, int) else field(2, d)) for d in dims)
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

    axes = field(1, "axes") + field(8, 1) + field(20, 7)
    keepdims = field(1, "keepdims") + field(3, 0) + field(20, 2)
    node = field(1, "x") + field(2, "y") + field(4, "ReduceMax") + field(5, axes) + field(5, keepdims)
    graph = field(1, node) + field(2, "g") + field(11, port("x", "n", 1024)) + field(12, port("y", "n"))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def peak_bytes() -> int:
    status = Path("/proc/self/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def test_inputs_are_not_copied(tmp_path):
    (tmp_path / "max.onnx").write_bytes(row_maximum())
    engine = tenon.compile(tmp_path / "max.onnx")
    x = np.ones((64 * 1024, 1024), np.float32)  # 256 MB
    x[5, 7] = 2
    engine.run({"x": x[:8]})
    Path("/proc/self/clear_refs").write_text("5")  # forgets the peak so far
    before = peak_bytes()
    y = engine.run({"x": x})["y"]
    assert peak_bytes() - before < x.nbytes // 4
    assert y.shape == (64 * 1024,) and y[5] == 2 and y[6] == 1


def test_results_are_not_copied(engine):
    y = engine.run({"x": inputs(2)})["y"]
    assert not y.flags.owndata and y.flags.writeable and y.flags.c_contiguous


def test_results_outlive_engine_and_do_not_share(engine):
    own = tenon.compile(MODEL)
    first = own.run({"x": inputs(1)})["y"]
    copy = first.copy()
    second = own.run({"x": inputs(1) + 1})["y"]
    del own
    gc.collect()
    np.testing.assert_array_equal(first, copy)
    assert not np.array_equal(first, second)
    first[0, 0] = 7  # results are the caller's
    assert second[0, 0] != 7


def test_threads_share_an_engine(engine):
    expected = [engine.run({"x": inputs(k)})["y"] for k in range(1, 5)]
    wrong = []

    def work(k: int):
        for _ in range(100):
            if not np.array_equal(engine.run({"x": inputs(k)})["y"], expected[k - 1]):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_the_gil_is_released(engine):
    x = np.ones((400_000, 16), np.float32)
    ticks, done = [], threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    ticker = threading.Thread(target=tick)
    ticker.start()
    start = time.perf_counter()
    engine.run({"x": x}, threads=1)
    end = time.perf_counter()
    done.set()
    ticker.join()
    assert sum(start < t < end for t in ticks) >= 2


WRITTEN_IN_PYTHON = {
    "BuildConfig",
    "LLM",
    "Operand",
    "PluginConfig",
    "Profile",
    "StepTime",
    "TenonError",
    "plugin",
    "set_log_level",
    "sized_by_data",
    "test_plugin",
}


def test_stubs_report_what_is_there():
    stub = Path(tenon.__file__).with_name("_tenon.pyi")
    assert stub.with_name("py.typed").exists()
    bodies = [ast.parse(stub.with_name(name).read_text()).body for name in ("_tenon.pyi", "_engine.pyi")]
    report = {n.name: n for body in bodies for n in body if isinstance(n, ast.ClassDef | ast.FunctionDef)}
    for name in tenon.__all__:
        if name in WRITTEN_IN_PYTHON:  # types and all
            continue
        assert name in report
        if isinstance(report[name], ast.ClassDef):
            members = {n.name for n in report[name].body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")}
            assert members == {n for n in vars(getattr(tenon, name)) if not n.startswith("_")}
