# SPDX-License-Identifier: Apache-2.0
"""ThreadPools of threads: runs that share the cores, or split them."""

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
    for thread_pool in (
        None,
        tenon.ThreadPool(),
        tenon.ThreadPool(threads=3),
        tenon.ThreadPool(cpus=[cpu]),
        tenon.ThreadPool(threads=2, cpus=[cpu]),
    ):
        np.testing.assert_array_equal(engine.run(X, thread_pool=thread_pool)["y"], expected)
        np.testing.assert_array_equal(engine.run(X, thread_pool=thread_pool, threads=1)["y"], expected)
        assert os.sched_getaffinity(0) == allowed


def test_it_describes_itself():
    cpu = min(os.sched_getaffinity(0))
    thread_pool = tenon.ThreadPool(threads=2, cpus=[cpu])
    assert (thread_pool.threads, thread_pool.cpus, repr(thread_pool)) == (2, [cpu], f"ThreadPool(threads=2, cpus=[{cpu}])")
    assert tenon.ThreadPool(cpus=[cpu]).threads == 1
    assert repr(tenon.ThreadPool(threads=4)) == "ThreadPool(threads=4)"


@pytest.mark.parametrize("wrong, place", [({"threads": 0}, "threads"), ({"threads": -1}, "threads"), ({"cpus": [4000]}, "cpus")])
def test_no_threads_and_cpus_that_are_not_there_are_refused(wrong, place):
    with pytest.raises(tenon.TenonError) as raised:
        tenon.ThreadPool(**wrong)
    assert raised.value.code == "bad_usage" and raised.value.place == place and raised.value.expected


def test_threads_share_and_split(engine):
    expected = engine.run(X)["y"]
    thread_pools = [tenon.ThreadPool(threads=2), tenon.ThreadPool(threads=2)]
    wrong = []

    def work(k: int):
        for _ in range(50):
            if not np.array_equal(engine.run(X, thread_pool=thread_pools[k % 2])["y"], expected):
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_a_team_may_go_before_what_ran_on_it():
    engine = tenon.compile(MODEL)
    first = engine.run(X, thread_pool=tenon.ThreadPool(threads=2))["y"]
    np.testing.assert_array_equal(engine.run(X)["y"], first)
