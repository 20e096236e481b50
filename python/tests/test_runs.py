# SPDX-License-Identifier: Apache-2.0
"""What a run can be told: where results go, when to end, what to record."""

import ast
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import onnx
import onnx.helper as oh
import pytest
import tenon
from onnx_models import I64, F, model
from refusals import refused

ENDLESS = 2**40


def endless_loop() -> onnx.ModelProto:
    """A Loop with far more iterations than any test can wait for."""
    value = oh.make_tensor_value_info
    body = oh.make_graph(
        [oh.make_node("Add", ["x", "x"], ["twice"]), oh.make_node("Sin", ["twice"], ["next"]), oh.make_node("Identity", ["go"], ["on"])],
        "body",
        [value("i", I64, []), value("go", onnx.TensorProto.BOOL, []), value("x", F, [64])],
        [value("on", onnx.TensorProto.BOOL, []), value("next", F, [64])],
    )
    nodes = [oh.make_node("Loop", ["trips", "", "x0"], ["y"], body=body)]
    return model(nodes, {"trips": (I64, []), "x0": (F, [64])}, {"y": (F, [64])})


@pytest.fixture(scope="module")
def loop():
    return tenon.compile(endless_loop())


X0 = np.linspace(0, 1, 64, dtype=np.float32)


def given(trips: int) -> dict:
    return {"trips": np.array(trips, np.int64), "x0": X0}


# --- when a run ends ----------------------------------------------------------------------------------------------


def test_timeout_ends_a_run(loop):
    error = refused("deadline", lambda: loop.run(given(ENDLESS), timeout=0.05))
    assert error.advice
    np.testing.assert_allclose(loop.run(given(1), timeout=3600)["y"], np.sin(2 * X0), rtol=1e-5)
    assert loop.run(given(1), timeout=1e300)["y"].shape == (64,)


@pytest.mark.parametrize("timeout", [-1, float("nan"), -float("inf")])
def test_timeout_that_is_no_time_is_refused(loop, timeout):
    assert refused("bad_usage", lambda: loop.run(given(1), timeout=timeout)).place == "timeout"


@pytest.mark.parametrize("on_main_thread", [True, False])
def test_stop_ends_runs_of_any_thread(loop, on_main_thread):
    token, errors = tenon.StopToken(), []

    def work():
        errors.append(refused("cancelled", lambda: loop.run(given(ENDLESS), stop=token)))

    if on_main_thread:
        timer = threading.Timer(0.05, token.stop)
        timer.start()
        work()
        timer.join()
    else:
        workers = [threading.Thread(target=work) for _ in range(2)]
        for w in workers:
            w.start()
        token.stop()
        for w in workers:
            w.join()
    assert len(errors) == (1 if on_main_thread else 2)
    assert token.stopped
    refused("cancelled", lambda: loop.run(given(1), stop=token))
    token.reset()
    assert not token.stopped
    assert loop.run(given(1), stop=token)["y"].shape == (64,)


def interrupt_soon() -> threading.Timer:
    timer = threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("stop", [None, tenon.StopToken()])
def test_keyboard_interrupt_ends_a_run(loop, stop):
    timer = interrupt_soon()
    with pytest.raises(KeyboardInterrupt):
        loop.run(given(ENDLESS), stop=stop)
    timer.join()
    assert loop.run(given(1), stop=stop)["y"].shape == (64,)


def test_handler_that_returns_lets_the_run_go_on(loop):
    token, seen = tenon.StopToken(), []

    def handler(number, frame):
        seen.append(number)
        token.stop()  # else the test would never end

    before = signal.signal(signal.SIGINT, handler)
    try:
        timer = interrupt_soon()
        refused("cancelled", lambda: loop.run(given(ENDLESS), stop=token))
        timer.join()
        assert seen == [signal.SIGINT]
        assert signal.getsignal(signal.SIGINT) is handler
        seen.clear()
        token.reset()
        signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
        timer = interrupt_soon()
        refused("deadline", lambda: loop.run(given(ENDLESS), timeout=0.5))
        timer.join()
        assert seen == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_default_action_of_sigint_still_ends_the_process(tmp_path):
    path = tmp_path / "loop.onnx"
    onnx.save(endless_loop(), path)
    program = (
        "import signal, sys, threading, os, numpy as np, tenon\n"
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\n"
        f"engine = tenon.compile({str(path)!r})\n"
        "threading.Timer(0.05, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        f"engine.run({{'trips': np.array({ENDLESS}), 'x0': np.zeros(64, np.float32)}})\n"
    )
    assert subprocess.run([sys.executable, "-c", program], timeout=300, check=False).returncode == -signal.SIGINT


@pytest.mark.parametrize("threads", [-1, -(2**31)])
def test_negative_threads_are_refused(loop, threads):
    error = refused("bad_usage", lambda: loop.run(given(1), threads=threads))
    assert (error.place, error.found) == ("threads", str(threads))
    assert refused("bad_usage", lambda: tenon.compile(endless_loop(), threads=threads)).place == "threads"


# --- where results go ---------------------------------------------------------------------------------------------


def ports_model() -> onnx.ModelProto:
    """y = Relu(x); z = y (the same bytes); count = NonZero(x), whose shape depends on data."""
    nodes = [oh.make_node("Relu", ["x"], ["y"]), oh.make_node("Identity", ["y"], ["z"]), oh.make_node("NonZero", ["x"], ["places"])]
    return model(nodes, {"x": (F, ["n", 3])}, {"y": (F, ["n", 3]), "z": (F, ["n", 3]), "places": (I64, [2, "k"])})


@pytest.fixture(scope="module")
def ports():
    return tenon.compile(ports_model())


X = np.array([[1, -2, 3], [0, 5, -6]], np.float32)


def test_results_are_written_into_given_arrays(ports):
    y, z, places = np.full((2, 3), 9, np.float32), np.full((2, 3), 9, np.float32), np.full((2, 5), 9, np.int64)
    got = ports.run({"x": X}, out={"y": y, "z": z, "places": places})
    assert got["y"] is y and got["z"] is z and got["places"] is places
    np.testing.assert_array_equal(y, np.maximum(X, 0))
    np.testing.assert_array_equal(z, y)
    np.testing.assert_array_equal(places, np.array(X.nonzero()))
    again = ports.run({"x": -X})  # a run without `out` leaves them alone
    np.testing.assert_array_equal(y, np.maximum(X, 0))
    np.testing.assert_array_equal(again["y"], np.maximum(-X, 0))


def test_part_of_the_results_and_views_are_taken(ports):
    whole = np.zeros((4, 2, 3), np.float32)
    got = ports.run({"x": X}, out={"z": whole[2]})
    np.testing.assert_array_equal(whole[2], np.maximum(X, 0))
    assert not whole[[0, 1, 3]].any()
    np.testing.assert_array_equal(got["y"], whole[2])


def read_only() -> np.ndarray:
    array = np.zeros((2, 3), np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "out, expected",
    [
        ({"w": np.zeros((2, 3), np.float32)}, "y, z, places"),
        ({"y": np.zeros((2, 3), np.float64)}, "f32"),
        ({"y": np.zeros((3, 2), np.float32)}, "f32[2,3]"),
        ({"y": np.zeros((2, 3, 1), np.float32)}, "f32[2,3]"),
        ({"places": np.zeros((2, 4), np.int64)}, "80 bytes"),
        ({"places": np.zeros((2, 50), np.int64)}, "i64[2,5]"),
        ({"y": np.zeros((3, 2), np.float32).T}, "f32[n,3]"),
        ({"y": read_only()}, "f32[n,3]"),
        ({"y": [0.0] * 6}, "f32[n,3]"),
        ({"y": None}, "f32[n,3]"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(ports, out, expected):
    x = np.where(X == 0, 1, X)[:, :]
    x[0, 0] = 0
    error = refused("bad_input", lambda: ports.run({"x": x}, out=out))
    assert error.place == f"output '{next(iter(out))}'"
    assert error.expected == expected


def test_arrays_that_overlap_are_refused(ports):
    x, both = X.copy(), np.zeros((3, 3), np.float32)
    assert refused("bad_usage", lambda: ports.run({"x": x}, out={"y": x})).found == "bytes of an input"
    assert refused("bad_usage", lambda: ports.run({"x": x}, out={"y": both[:2], "z": both[1:]})).found == "bytes of another output"
    np.testing.assert_array_equal(x, X)


def test_inputs_that_are_results_are_copied():
    engine = tenon.compile(model([oh.make_node("Identity", ["x"], ["y"])], {"x": (F, [3])}, {"y": (F, [3])}))
    y = np.zeros(3, np.float32)
    engine.run({"x": X[0]}, out={"y": y})
    np.testing.assert_array_equal(y, X[0])


# --- what a run records -------------------------------------------------------------------------------------------


def test_profile_has_the_steps_of_each_run(ports, tmp_path):
    profile = tenon.Profile()
    for _ in range(3):
        ports.run({"x": X}, profile=profile)
    assert len(profile.runs) == 3
    labels = [[step.label for step in run] for run in profile.runs]
    assert labels[0] == labels[1] and any("NonZero" in label for label in labels[0])
    for run in profile.runs:
        assert all(step.start >= 0 and step.duration >= 0 and step.backend in ("cpu", "reference") for step in run)
    totals = profile.totals()
    assert [seconds for _, _, seconds in totals] == sorted((seconds for _, _, seconds in totals), reverse=True)
    assert len(str(profile).splitlines()) == 1 + len(totals)
    profile.save_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert len(events) == sum(map(len, profile.runs))
    assert [e["ts"] for e in events] == sorted(e["ts"] for e in events)


def test_failed_run_leaves_no_profile(loop):
    profile = tenon.Profile()
    refused("deadline", lambda: loop.run(given(ENDLESS), timeout=0.01, profile=profile))
    assert profile.runs == []


@pytest.mark.parametrize("runner", [tenon.Engine, tenon.Context])
def test_run_has_the_options_of_the_stub(runner):
    body = ast.parse(Path(tenon.__file__).with_name("_engine.pyi").read_text(encoding="utf-8")).body
    (options,) = (node for node in body if isinstance(node, ast.ClassDef) and node.name == "RunOptions")
    named = [key.target.id for key in options.body if isinstance(key, ast.AnnAssign)]
    ((signature, *_),) = runner.run.__nb_signature__
    assert re.findall(r"(\w+): ", signature.split("*, ")[1]) == named
    assert all(f"\n{name}: " in runner.run.__doc__ for name in named)
