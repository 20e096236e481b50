# SPDX-License-Identifier: Apache-2.0
"""Teams of threads: runs that share the cores, or split them."""

import os
import threading
from pathlib import Path

import numpy as np
import pytest
import tenon

MODEL = Path(__file__).resolve().parent.parent.parent / "examples/mlp.onnx"
X = {"x": np.random.default_rng(0).normal(size=(9, 16)).astype(np.float32)}


@pytest.fixture(scope="module")
def engine():
    return tenon.compile(MODEL)


def test_results_do_not_depend_on_it(engine):
    expected = engine.run(X)["y"]
    allowed = os.sched_getaffinity(0)
    cpu = min(allowed)
    for team in (None, tenon.Team(), tenon.Team(threads=3), tenon.Team(cpus=[cpu]), tenon.Team(threads=2, cpus=[cpu])):
        np.testing.assert_array_equal(engine.run(X, team=team)["y"], expected)
        np.testing.assert_array_equal(engine.run(X, team=team, threads=1)["y"], expected)
        assert os.sched_getaffinity(0) == allowed


def test_it_tells_what_it_is():
    cpu = min(os.sched_getaffinity(0))
    team = tenon.Team(threads=2, cpus=[cpu])
    assert (team.threads, team.cpus, repr(team)) == (2, [cpu], f"Team(threads=2, cpus=[{cpu}])")
    assert tenon.Team(cpus=[cpu]).threads == 1
    assert repr(tenon.Team(threads=4)) == "Team(threads=4)"


@pytest.mark.parametrize("wrong, place", [({"threads": 0}, "threads"), ({"threads": -1}, "threads"), ({"cpus": [4000]}, "cpus")])
def test_no_threads_and_cpus_that_are_not_there_are_refused(wrong, place):
    with pytest.raises(tenon.TenonError) as raised:
        tenon.Team(**wrong)
    assert raised.value.code == "bad_usage" and raised.value.place == place and raised.value.expected


def test_threads_share_and_split(engine):
    expected = engine.run(X)["y"]
    teams = [tenon.Team(threads=2), tenon.Team(threads=2)]
    wrong = []

    def work(k: int):
        for _ in range(50):
            if not np.array_equal(engine.run(X, team=teams[k % 2])["y"], expected):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_a_team_may_go_before_what_ran_on_it():
    engine = tenon.compile(MODEL)
    first = engine.run(X, team=tenon.Team(threads=2))["y"]
    np.testing.assert_array_equal(engine.run(X)["y"], first)
