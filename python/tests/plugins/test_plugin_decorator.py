# SPDX-License-Identifier: Apache-2.0
"""What @tenon.plugin may say beyond a function: data-dependent sizes, definitions by a function, ranges, choices, samples."""

import importlib

import numpy as np
import pytest
import tenon
from tenon.rewriting import Graph

X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def ops():
    """Late: other modules' tests are to know nothing of them."""
    return importlib.import_module("decorated_plugins")


def engine(node: str, results: str = "y", **options) -> tenon.Engine:
    return tenon.compile(Graph.parse(f"graph main(x: f32[n,3]) {{ {results} = {node} return {results} }}"), **options)


def refused(call) -> tenon.TenonError:
    with pytest.raises(tenon.TenonError) as raised:
        call()
    return raised.value


def test_data_dependent_sizes(tmp_path):
    made = engine("late::Positive(x)", "v, r")
    made.save(tmp_path / "late.tenon")
    for each in (made, tenon.load(tmp_path / "late.tenon")):
        for x in (X, X[:0], -np.abs(X), np.abs(X[:1])):
            values, rows = each.run({"x": x}).values()
            np.testing.assert_array_equal(values, x[x > 0])
            np.testing.assert_array_equal(rows[:, 0], np.flatnonzero((x > 0).any(axis=1)))
    then = tenon.compile(Graph.parse("graph main(x: f32[n,3]) { v, r = late::Positive(x) y = Neg(v) return y }"))
    np.testing.assert_array_equal(then.run({"x": X})["y"], -X[X > 0])


@pytest.mark.parametrize("what, report", [("dtype", "float64"), ("rank", "another shape"), ("none", "is no array")])
def test_late_results_that_are_wrong(what, report):
    error = refused(lambda: engine(f'late::Wrong(x, what="{what}")').run({"x": X}))
    assert "late::Wrong" in error.place and report in str(error), str(error)
    np.testing.assert_array_equal(engine('late::Wrong(x, what="right")').run({"x": X})["y"], X[:2])


def test_a_function_with_out_needs_sizes():
    assert "has no `out`" in str(refused(lambda: engine("late::Out(x)").run({"x": X})))


def test_a_definition_by_a_function():
    for times in (1, 2, 3):
        graph = Graph.parse(f"graph main(x: f32[n,3]) {{ y = by::Power(x, times={times}) return y }}")
        np.testing.assert_allclose(graph.evaluate({"x": X})["y"], X**times, rtol=1e-6)
        np.testing.assert_allclose(tenon.compile(graph).run({"x": X})["y"], X**times, rtol=1e-6)
    graph = Graph.parse("graph main(x: f32[n,3], b: f32[3]) { l, h = by::Halves(x, b) return l, h }")
    for values in (graph.evaluate({"x": X, "b": X[0]}), tenon.compile(graph).run({"x": X, "b": X[0]})):
        np.testing.assert_allclose(values["h"], X + X[0], rtol=1e-6)


@pytest.mark.parametrize("given, report", [("Mul(x, ", "does not parse"), (3, "returned no text"), ("graph {", "does not parse")])
def test_a_definition_that_is_none(given, report):
    @tenon.plugin("by::Broken", definition=lambda x: given)
    def broken(x):
        return x

    error = refused(lambda: engine("by::Broken(x)"))
    assert report in str(error) and "by::Broken" in str(error), str(error)


def test_ranges_and_choices():
    np.testing.assert_allclose(engine('by::Limited(x, scale=10, shift=-1, mode="fancy")').run({"x": X})["y"], X * 10 - 1, rtol=1e-6)
    error = refused(lambda: engine('by::Limited(x, scale=11, shift=2, mode="odd")'))
    for part in ("11 is not in 0 .. 10", "2 is not in -1 .. 1", "'odd' is none of plain, fancy"):
        assert part in error.found
    for constraints, report in (
        ({"ranges": {"mode": (0, 1)}}, "a field of another type"),
        ({"choices": {"nothing": ["a"]}}, "no such field"),
        ({"ranges": {"scale": (2, 1)}}, "2, 1"),
    ):
        assert report in refused(lambda w=constraints: tenon.plugin("by::Other", **w)(lambda x, *, scale=1.0, mode="a": x)).found


def test_a_function_is_tested(ops):
    assert tenon.test_plugin(ops.power) > 5
    assert tenon.test_plugin("by::Halves", samples=["f32[2,3], f32[3]"]) >= 2
    assert tenon.test_plugin(ops.positive) > 2, "without samples"


@pytest.mark.parametrize(
    "function, report",
    [
        (lambda x: x * np.float32(1.01), "is not what the definition gives"),
        (lambda x: x[:2] + x[:2], "float32 (2, 3)"),
        (lambda x, seen=[]: x + x + np.float32(seen.append(0) or len(seen)), "other bits"),  # noqa: B006
    ],
)
def test_a_function_that_is_wrong_is_reported(function, report):
    def body(x):
        return function(x)

    tenon.plugin("by::Faulty", definition="Add(x, x)", samples=["f32[5,3]"])(body)
    error = refused(lambda: tenon.test_plugin(body))
    assert error.place == "plugin 'by::Faulty'" and report in error.found, str(error)


def test_what_is_no_plugin_is_not_tested(ops):
    assert refused(lambda: tenon.test_plugin(lambda x: x)).code == "bad_usage"
    assert refused(lambda: tenon.test_plugin("no::Such")).code == "bad_usage"
    assert "odd" in refused(lambda: tenon.test_plugin(ops.power, samples=["f32[2,3]; odd=1"])).found
