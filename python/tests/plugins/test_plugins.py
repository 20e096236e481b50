# SPDX-License-Identifier: Apache-2.0
"""Ops written in Python."""

import gc
import importlib
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import tenon
from plugin_engines import X, answer, engine, refused, swish_model
from tenon.rewriting import Graph, Rule, analyse

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", autouse=True)
def ops():
    """Late: other modules' tests are to know nothing of them."""
    return importlib.import_module("python_plugins")


def test_a_function_computes_what_it_says(ops):
    assert ops.swish(X, beta=1.5).shape == X.shape, "the function stays as it is"
    for made in (tenon.compile(swish_model()), engine("acme::Swish(x, beta=1.5)")):
        for x in (X, X[:1], X[:0]):
            np.testing.assert_allclose(made.run({"x": x})["y"], ops.swish(x, beta=1.5), rtol=1e-6)
    rows = tenon.partition(swish_model())["nodes"]
    assert [row["backend"] for row in rows] == ["plugin"]
    np.testing.assert_allclose(
        Graph.parse("graph g(x: f32[n,3]) { y = acme::Swish(x) return y }").evaluate({"x": X})["y"], ops.swish(X), rtol=1e-5
    )


def test_operands_fields_and_several_results():
    text = "graph main(a: f32[n,3], b: f32[5]) { y, seen = py::Everything(a, %s needed=7, scale=3.0) return y, seen }"
    for operands, seen in (("b, a, a,", (5, 2, 16)), ("_, b,", (-1, 1, 16)), ("", (-1, 0, 16))):
        out = tenon.compile(Graph.parse(text % operands)).run({"a": X, "b": np.ones(5, np.float32)})
        np.testing.assert_array_equal(out["seen"], seen)
        np.testing.assert_array_equal(out["y"], np.concatenate([X * 3, X * 3], axis=-1) + np.float32(3))
    error = refused(lambda: tenon.compile(Graph.parse(text % "scal=1.0,")))
    out = tenon.compile(Graph.parse(text % "weights=[1.0, 2.0, 4.0], maybe=5,")).run({"a": X, "b": np.ones(5, np.float32)})
    np.testing.assert_array_equal(out["seen"], (-1, 0, 21))
    np.testing.assert_array_equal(out["y"], np.concatenate([X * 3, X * 3], axis=-1) + np.float32(7))
    assert error.code == "bad_attribute" and "did you mean 'scale'" in error.found


def test_results_are_written_into_the_given_arrays():
    np.testing.assert_array_equal(answer("py::Into(x)"), X + 1)
    assert answer("py::Into(x)", X[:0]).shape == (0, 3)


@pytest.mark.parametrize("what", ["transposed", "same"])
def test_arrays_that_lie_elsewhere_are_copied(what):
    np.testing.assert_array_equal(answer(f'py::Copied(x, what="{what}")'), X)


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("f64", "result 'y' is float64 (4, 3), and not float32 (4, 3)"),
        ("big", "result 'y' is >f4 (4, 3)"),
        ("flat", "result 'y' is float32 (12,), and not float32 (4, 3)"),
        ("none", "result 'y' is object ()"),
        ("written", "ValueError: assignment destination is read-only (python_plugins.py:"),
        ("raised", "ValueError: no such axis (python_plugins.py:"),
        ("exit", "SystemExit: 3 (python_plugins.py:"),
    ],
)
def test_what_goes_wrong_names_op_and_node(what, text):
    made = engine(f'py::Copied(x, what="{what}")')
    for _ in range(2):
        error = refused(lambda: made.run({"x": X}))
        assert error.code == "device_failed" and text in error.what
        assert "plugin 'py::Copied' of python_plugins.py:" in error.place and "node" in error.place
        assert "(f32[4,3]) -> (f32[4,3])" in error.found


def test_arrays_live_for_the_time_of_a_call(ops):
    error = refused(lambda: answer("py::Keeps(x)"))
    assert "it has to copy what it keeps" in error.what
    ops.kept.clear()
    np.testing.assert_array_equal(answer("py::Circle(x)"), X + 1)


def test_sizes_by_a_function(ops):
    np.testing.assert_array_equal(answer("py::Pairs(x)"), ops.pairs(X))
    made = engine("py::Pairs(x)")
    assert made.outputs[0].dimensions[1] == "3"
    for rows in (1, 5, 8):
        assert made.run({"x": np.ones((rows, 3), np.float32)})["y"].shape == ((rows + 1) // 2, 3)
    seen = []

    def shape(x):
        n = x[0]
        seen.append([repr(v) for v in (n + 1, 2 * n, n - n, n // 1, 10 - n, n.min(n), (n * 6).ceil_div(3))])
        return (n * 2 if n >= 0 else n, 3)

    @tenon.plugin("py::Sized", shape=shape)
    def sized(x):
        return np.concatenate([x, x])

    np.testing.assert_array_equal(answer("py::Sized(x)"), np.concatenate([X, X]))
    assert seen[0] == ["n + 1", "2*n", "0", "n", "-n + 10", "n", "2*n"]

    @tenon.plugin("py::Undecided", shape=lambda x: (x[0], 3) if x[0] < 5 else (1, 3))
    def undecided(x):
        return x

    error = refused(lambda: engine("py::Undecided(x)"))
    assert "it depends on data how n compares to 5" in error.what
    assert answer("py::Undecided(x)", sizes="4,3").shape == (4, 3)


def test_shapes_that_are_none():
    for name, shape, text in (
        ("Number", lambda x: 3, "a shape is a tuple of sizes, not int"),
        ("Texts", lambda x: ("n", 3), "a size is an int or made of the sizes of operands, not str"),
        ("Raises", lambda x: x[7], "IndexError: tuple index out of range (test_plugins.py:"),
        ("Negative", lambda x: (-1, 3), "size -1 of axis 0"),
        ("Long", lambda x: x * 9, "a shape has at most 16 sizes"),
    ):
        tenon.plugin(f"shapes::{name}", shape=shape)(lambda x: x)
        error = refused(lambda name=name: engine(f"shapes::{name}(x)"))
        assert text in error.what, error


def test_what_cannot_be_registered():
    def of(function, name="bad::Op", **options):
        return refused(lambda: tenon.plugin(name, **options)(function)).what

    assert "no function of Python" in of(np.exp)
    assert "namespace" in of(lambda x: x, "Op")
    assert "the fields of '**more' are unknown" in of(lambda x, **more: x)
    assert "operand 'axis' has a default" in of(lambda x, axis=1: x)
    assert "field 'a' has no type" in of(lambda x, *, a: x)
    assert "field 'a' has no type" in of(lambda x, *, a=None: x)
    assert "field 'a' has no type" in of(lambda x, *, a=[1, "b"]: x)
    assert "the default of field 'a' does not fit" in of(lambda x, *, a=2**70: x)
    assert "nothing gives the shape of its results" in of(lambda *, a=1: a, shape=None)
    assert "several results" in of(lambda x: x, definition="Neg(x)", results=2)
    assert "does not parse" in of(lambda x: x, definition="Neg(x")
    assert "at least one result" in of(lambda x: x, results=0)
    assert "each result" in of(lambda x: x, results=2, dtype=["f32"])
    assert "kind of arrays" in of(lambda x: x, arrays="jax")
    assert "two functions are this op" in of(lambda x: x, "acme::Swish")
    np.testing.assert_array_equal(answer("py::Into(x)"), X + 1), "none of them stands in the way of others"


def test_a_function_that_is_defined_again_takes_its_place():
    def define(number):
        @tenon.plugin("py::Again")
        def again(x):
            return x + np.float32(number)

        return again

    define(1)
    first = engine("py::Again(x)")
    define(2)
    np.testing.assert_array_equal(first.run({"x": X})["y"], X + 1)
    np.testing.assert_array_equal(answer("py::Again(x)"), X + 2)


def test_an_engine_is_loaded_where_the_function_is(tmp_path):
    path = tmp_path / "swish.tenon"
    made = tenon.compile(swish_model())
    made.save(path)
    np.testing.assert_array_equal(tenon.load(path).run({"x": X})["y"], made.run({"x": X})["y"])
    done = subprocess.run([sys.executable, "-c", f"import tenon; tenon.load({str(path)!r})"], capture_output=True, text=True)
    assert "acme::Swish, version 1, of library module python_plugins of Python: not there" in done.stderr
    run = subprocess.run([ROOT / "build/bin/tenon", "run", path, "--shape", "x=2x3"], capture_output=True, text=True)
    assert run.returncode == 3 and "of library module python_plugins of Python: not there" in run.stderr, run.stderr
    assert "functions run in Python alone: import their module there" in run.stderr, run.stderr
    program = f"""
import sys, tenon
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np, python_plugins as t
X = np.ones((4, 3), np.float32)
print(t.swish.__name__, tenon.load({str(path)!r}).run({{"x": X}})["y"].shape)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "swish (4, 3)\n", done.stderr
    other = "import numpy as np, tenon\n@tenon.plugin('acme::Swish')\ndef swish(x, *, beta=1.0): return x\n"
    done = subprocess.run([sys.executable, "-c", f"{other}tenon.load({str(path)!r})"], capture_output=True, text=True)
    assert "another build" in done.stderr
    again = f"{other}tenon.load({str(path)!r}, plugin_any_build=True)"
    assert subprocess.run([sys.executable, "-c", again], capture_output=True).returncode == 0


def test_several_threads_run_it_at_once():
    made = engine("py::Into(x)")
    wrong = []

    def many(number):
        x = np.full((7, 3), number, np.float32)
        for _ in range(200):
            if not (made.run({"x": x})["y"] == number + 1).all():
                wrong.append(number)

    threads = [threading.Thread(target=many, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_no_reference_outlives_a_run(ops):
    made = engine('py::Copied(x, what="same")')
    made.run({"x": X})
    before, counts = sys.getrefcount(ops.copied), []
    for _ in range(3):
        for _ in range(50):
            made.run({"x": X})
        gc.collect()
        counts.append(len(gc.get_objects()))
    after = sys.getrefcount(ops.copied)
    assert counts[1] == counts[2] and after == before


@pytest.mark.parametrize(
    ("dtype", "numpy"), [("f16", np.float16), ("f64", np.float64), ("i8", np.int8), ("u64", np.uint64), ("bool", np.bool_)]
)
def test_element_types(dtype, numpy):
    x = (X * 3).astype(numpy)
    graph = Graph.parse(f'graph main(x: {dtype}[n,3]) {{ y = py::Copied(x, what="same") return y }}')
    np.testing.assert_array_equal(tenon.compile(graph).run({"x": x})["y"], x)


def test_an_engine_that_outlives_python_is_let_go():
    program = f"""
import sys, tenon
sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(__file__).parents[1])!r}]
import importlib, plugin_engines as t
importlib.import_module('python_plugins')
engine = t.engine("py::Into(x)")
engine.run({{"x": t.X}})
sys.modules["kept"] = engine
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_rules_of_python_start_at_plugins(ops):
    seen = []
    graph = Graph.parse("graph g(x: f32[n,3]) { a = Neg(x) y = acme::Swish(a) return y }")
    functions = {"match": lambda match: seen.append(match.root.op_type), "analyse": lambda match: None}
    analyse(graph, [Rule.code("look", functions, roots=["acme::Swish"])])
    assert seen == ["Swish"]


def test_measuring_with_a_function_says_why_not(ops):
    options = {"backends": ["reference", "cpu"], "assign": "cost", "measure": True}
    error = refused(lambda: tenon.compile(swish_model(), **options))
    assert (error.code, error.place) == ("not_supported", "measure")
    assert "acme::Swish" in error.what and "processes of their own" in error.expected


def test_functions_cannot_be_isolated(tmp_path):
    wrong = refused(lambda: engine("acme::Swish(x)", isolate_plugins=True))
    assert wrong.code == "not_supported"
    assert wrong.what == "a function of this process cannot be isolated: no other process has it"
    assert "run without isolation" in wrong.advice
    path = tmp_path / "swish.tenon"
    engine("acme::Swish(x)").save(path)
    assert "cannot be isolated" in refused(lambda: tenon.load(path, isolate_plugins=True)).what


def test_engines_contain_no_python_functions(ops, tmp_path):
    made = tenon.compile(Graph.parse("graph main(x: f32[n,3]) { y = acme::Swish(x) return y }"), embed_plugins=True)
    assert "of no file" in refused(lambda: made.save(tmp_path / "own.tenon")).what
