# SPDX-License-Identifier: Apache-2.0
"""Entries and states of an engine: runs of a Context continue each other."""

import gc
import subprocess
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
import tenon
from refusals import refused

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def engine(tmp_path_factory) -> tenon.Engine:
    """Entries append(x: f32[n,2]) and peek(), states rows: f32[..4,2] and power: f32[2]."""
    path = tmp_path_factory.mktemp("states") / "states.tenon"
    subprocess.run([ROOT / "build/bin/state_engine", path], check=True)
    return tenon.load(path, verify=True)


@pytest.fixture
def context(engine) -> tenon.Context:
    return tenon.Context(engine)


def row(value: float) -> dict:
    return {"x": np.full((1, 2), value, np.float32)}


def test_engine_lists_entries_and_states(engine):
    append, peek = engine.entries
    assert (append.name, [p.name for p in append.inputs], [p.name for p in append.outputs]) == ("append", ["x"], ["seen"])
    assert repr(peek) == "<peek () -> (rows: f32[past,2])>"
    assert [p.name for p in engine.inputs] == ["x"]
    rows, power = engine.states
    assert (rows.name, rows.dtype, rows.shape, rows.growing_axis) == ("rows", "f32", (4, 2), 0)
    assert (power.shape, power.growing_axis) == ((2,), None)
    assert repr(rows) == "<rows: f32[..4,2]>"
    assert "peek () -> (rows: f32[past,2]), state rows: f32[..4,2], state power: f32[2]" in repr(engine)


def test_runs_of_a_context_continue_each_other(context):
    assert context.run(row(1))["seen"].tolist() == [[1, 1]]
    assert context.run(row(2), entry="append")["seen"].tolist() == [[1, 1], [2, 2]]
    assert context.run({}, entry="peek")["rows"].tolist() == [[1, 1], [2, 2]]
    assert context.length("rows") == 2
    assert context.state("power").tolist() == [4, 4]
    assert context.engine.states[0].name == "rows"


def test_results_of_a_context_outlive_its_next_run(context):
    first = context.run(row(1))["seen"]
    context.run(row(2))
    assert first.tolist() == [[1, 1]]


def test_runs_of_an_engine_begin_at_initial_values(engine):
    for _ in range(3):
        assert engine.run(row(1))["seen"].tolist() == [[1, 1]]
    assert engine.run({}, entry="peek")["rows"].shape == (0, 2)


def test_results_go_into_arrays_of_the_callers(context):
    out = np.empty((1, 2), np.float32)
    assert context.run(row(3), out={"seen": out})["seen"] is out
    assert out.tolist() == [[3, 3]]


def test_over_capacity_is_refused_and_changes_nothing(context):
    for _ in range(4):
        context.run(row(1))
    error = refused("bad_input", lambda: context.run(row(1)))
    assert error.place == "state 'rows'" and error.expected == "0 .. 4"
    assert context.state("power").tolist() == [16, 16]
    context.set_length("rows", 2)
    assert context.run(row(5))["seen"].tolist() == [[1, 1], [1, 1], [5, 5]]
    refused("bad_input", lambda: context.set_length("rows", 4))
    context.reset("rows")
    assert (context.length("rows"), context.state("power").tolist()) == (0, [32, 32])
    context.reset()
    assert context.state("power").tolist() == [1, 1]


def test_bound_array_holds_the_state(context):
    rows = np.full((4, 2), 9, np.float32)
    context.bind_state("rows", rows, length=1)
    assert context.run(row(1))["seen"].tolist() == [[9, 9], [1, 1]]
    assert rows.tolist() == [[9, 9], [1, 1], [9, 9], [9, 9]]
    refused("bad_usage", lambda: context.bind_state("rows", rows))
    refused("bad_usage", lambda: context.bind_state("power", rows[3]))
    context.unbind_state("rows")
    assert context.run({}, entry="peek")["rows"].shape == (0, 2)
    context.bind_state("power", rows[3])
    context.run(row(1))
    assert rows[3].tolist() == [18, 18]


def test_bound_array_lives_as_long_as_it_is_bound(context):
    rows = np.zeros((4, 2), np.float32)
    alive = weakref.ref(rows)
    context.bind_state("rows", rows)
    del rows
    gc.collect()
    assert alive() is not None
    context.unbind_state("rows")
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((4, 2), np.int32),
        np.zeros((3, 2), np.float32),
        np.zeros((4, 4), np.float32)[:, ::2],
        np.zeros(33, np.uint8)[1:].view(np.float32).reshape(4, 2),
        np.array(["a"]),
        [[0.0, 0.0]] * 4,
        None,
    ],
    ids=["dtype", "capacity", "strides", "alignment", "texts", "list", "none"],
)
def test_wrong_arrays_are_refused(context, array):
    refused("bad_input", lambda: context.bind_state("rows", array))
    refused("bad_input", lambda: context.bind_state("rows", np.zeros((4, 2), np.float32), length=5))
    read_only = np.zeros((4, 2), np.float32)
    read_only.flags.writeable = False
    refused("bad_input", lambda: context.bind_state("rows", read_only))
    assert context.run(row(1))["seen"].shape == (1, 2)


def test_names_that_are_not_there_get_the_nearest(engine, context):
    assert "'rows'" in refused("bad_usage", lambda: context.reset("row")).advice
    assert "'peek'" in refused("bad_usage", lambda: context.run({}, entry="peak")).advice
    assert "'append'" in refused("bad_usage", lambda: engine.run(row(1), entry="appent")).advice
    refused("bad_usage", lambda: context.length("power"))


def test_forks_go_their_own_ways(context):
    context.run(row(1))
    fork = context.fork()
    context.run(row(2))
    assert fork.run(row(3))["seen"].tolist() == [[1, 1], [3, 3]]
    assert context.run({}, entry="peek")["rows"].tolist() == [[1, 1], [2, 2]]


def test_saved_states_are_restored(engine, context, tmp_path):
    context.run(row(1))
    context.save(tmp_path / "states")
    saved = context.to_bytes()
    assert saved == (tmp_path / "states").read_bytes()
    context.run(row(2))
    context.restore(tmp_path / "states")
    assert context.run({}, entry="peek")["rows"].tolist() == [[1, 1]]
    other = tenon.Context(engine)
    other.restore(saved)
    assert other.state("power").tolist() == [2, 2]
    refused("bad_file", lambda: other.restore(saved[:-1]))
    refused("bad_file", lambda: other.restore(b"not states"))
    refused("file_missing", lambda: other.restore(tmp_path / "nowhere"))
    refused("write_failed", lambda: other.save(tmp_path / "nowhere" / "states"))
    assert other.state("rows").tolist() == [[1, 1]]


def test_threads_that_share_a_context_raise_or_run_whole(context):
    """No run is lost or half done, whatever threads do."""
    done = []

    def work():
        for _ in range(200):
            try:
                context.run({}, entry="peek")
                done.append(True)
            except tenon.TenonError as error:
                assert error.code == "bad_usage"

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert done
