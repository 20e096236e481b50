# SPDX-License-Identifier: Apache-2.0
"""Ops from plugin libraries, and ops written in Python."""

import gc
import importlib
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import onnx.helper as oh
import pytest
import tenon
from onnx_models import F, model
from plugin_libraries import compiled
from tenon.rewriting import Graph, Rule, analyse, rewrite, rules_from

ROOT = Path(__file__).resolve().parent.parent.parent
X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def ops():
    """Late: other modules' tests are to know nothing of them."""
    return importlib.import_module("python_plugins")


def engine(node: str, sizes: str = "n,3", **options) -> tenon.Engine:
    return tenon.compile(Graph.parse(f"graph main(x: f32[{sizes}]) {{ y = {node} return y }}"), **options)


def answer(node: str, x=X, **options) -> np.ndarray:
    return engine(node, **options).run({"x": x})["y"]


def refused(call) -> tenon.TenonError:
    with pytest.raises(tenon.TenonError) as raised:
        call()
    return raised.value


def swish_model(beta: float = 1.5) -> bytes:
    nodes = [oh.make_node("Swish", ["x"], ["y"], "it", domain="acme", beta=beta)]
    return model(nodes, {"x": (F, ["n", 3])}, {"y": (F, ["n", 3])}, domains=["acme"]).SerializeToString()


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


def test_results_are_written_to_the_given_array():
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
    assert "which fields '**more' takes" in of(lambda x, **more: x)
    assert "operand 'axis' has a default" in of(lambda x, axis=1: x)
    assert "field 'a' has no type" in of(lambda x, *, a: x)
    assert "field 'a' has no type" in of(lambda x, *, a=None: x)
    assert "field 'a' has no type" in of(lambda x, *, a=[1, "b"]: x)
    assert "the default of field 'a' does not fit" in of(lambda x, *, a=2**70: x)
    assert "nothing gives the shape" in of(lambda *, a=1: a, shape=None)
    assert "several results" in of(lambda x: x, definition="Neg(x)", results=2)
    assert "does not parse" in of(lambda x: x, definition="Neg(x")
    assert "at least one result" in of(lambda x: x, results=0)
    assert "each result" in of(lambda x: x, results=2, dtype=["f32"])
    assert "kind of arrays" in of(lambda x: x, arrays="jax")
    assert "two functions are this op" in of(lambda x: x, "acme::Swish")
    np.testing.assert_array_equal(answer("py::Into(x)"), X + 1), "none of them is in the way of others"


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


def test_nothing_is_left(ops):
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
sys.path.insert(0, {str(Path(__file__).parent)!r})
import importlib, test_plugins as t
importlib.import_module('python_plugins')
engine = t.engine("py::Into(x)")
engine.run({{"x": t.X}})
sys.modules["kept"] = engine
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, done.stderr


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> Path:
    return compiled("tests/plugin/fixtures/ops.c", tmp_path_factory.mktemp("plugins"))


def double_model() -> bytes:
    nodes = [oh.make_node("Double", ["x"], ["y"], domain="test")]
    return model(nodes, {"x": (F, ["n", 3])}, {"y": (F, ["n", 3])}, domains=["test"]).SerializeToString()


def test_libraries_are_named(library, tmp_path):
    assert refused(lambda: tenon.compile(double_model())).code == "not_supported"
    made = tenon.compile(double_model(), plugins=[library])
    np.testing.assert_array_equal(made.run({"x": X})["y"], 2 * X)
    assert tenon.partition(double_model(), plugins=[str(library)])["nodes"][0]["backend"] == "plugin"
    graph = Graph.parse("graph g(x: f32[n,3]) { y = test::Double(x) return y }", plugins=[library])
    np.testing.assert_array_equal(tenon.compile(graph, plugins=[library]).run({"x": X})["y"], 2 * X)
    assert len(Graph.from_onnx(double_model(), plugins=[library]).nodes) == 1
    made.save(tmp_path / "double.tenon")
    assert "test::Double" in refused(lambda: tenon.load(tmp_path / "double.tenon")).found
    np.testing.assert_array_equal(tenon.load(tmp_path / "double.tenon", plugins=[library]).run({"x": X})["y"], 2 * X)
    assert refused(lambda: tenon.compile(double_model(), plugins=["nowhere.so"])).code == "file_missing"


def test_an_engine_may_hold_its_libraries(library, tmp_path):
    path = tmp_path / "own.tenon"
    tenon.compile(double_model(), plugins=[library], embed_plugins=True).save(path)
    np.testing.assert_array_equal(tenon.load(path, embedded_plugins=True).run({"x": X})["y"], 2 * X)


def test_a_kernel_is_preferred(library):
    relu = Graph.parse("graph g(x: f32[n,3]) { y = Relu(x) return y }")
    constraints = {"plugins": [library], "prefer": ["test::NegativeRelu"]}
    np.testing.assert_array_equal(tenon.compile(relu, **constraints).run({"x": X})["y"], np.maximum(-X, 0))  # as that kernel does
    assert tenon.partition(relu, **constraints)["nodes"][0]["reasons"][0]["code"] == "preferred"
    assert tenon.partition(relu, plugins=[library])["nodes"][0]["backend"] == "cpu"
    assert "test::NegativeRelu" in refused(lambda: tenon.compile(relu, plugins=[library], prefer=["test::NegativeRlu"])).advice


def test_a_tactic_is_asked_for(tmp_path):
    """`tenon inspect` tells which one the engine keeps."""
    tuned = compiled("tests/plugin/fixtures/tuned.c", tmp_path)
    graph = Graph.parse("graph g(x: f32[2,3,4,5]) { y = tuned::Wave(x) return y }", plugins=[tuned])
    for tactics, wanted in (({}, 0), ({"tuned::Wave": 2}, 2)):
        tenon.compile(graph, plugins=[tuned], plugin_tactics=tactics).save(tmp_path / "wave.tenon")
        report = subprocess.run([ROOT / "build/bin/tenon", "inspect", tmp_path / "wave.tenon", "--json"], capture_output=True, check=True)
        assert json.loads(report.stdout)["plugins"][0]["tactic"] == wanted
    assert refused(lambda: tenon.compile(graph, plugins=[tuned], plugin_tactics={"tuned::Wave": 7})).expected == "one of 0, 1, 2"
    assert refused(lambda: tenon.compile(graph, plugins=[tuned], plugin_tactics={"tuned::Wvae": 1})).found == "'tuned::Wvae'"


def test_unknown_ops_next_to_those_of_plugins(library):
    text = "graph g(x: f32[n,3]) { a = test::Double(x) y: f32[n,3] = nobody::Knows(a) return y }"
    graph = Graph.parse(text, keep_unknown=True, plugins=[library])
    assert graph.keeps_unknown
    assert graph.nodes[0].outputs[0].dtype == "f32", "the plugin infers it"
    assert refused(lambda: Graph.parse(text, plugins=[library])).found == "nobody::Knows"
    nodes = [oh.make_node("Double", ["x"], ["a"], domain="test"), oh.make_node("Knows", ["a"], ["y"], domain="nobody")]
    both = model(nodes, {"x": (F, ["n", 3])}, {"y": (F, ["n", 3])}, domains=["test", "nobody"]).SerializeToString()
    read = Graph.from_onnx(both, keep_unknown=True, plugins=[library])
    assert [node.op_type for node in read.nodes] == ["Double", "Knows"]
    plain = Graph.from_onnx(double_model(), keep_unknown=True, plugins=[library])
    np.testing.assert_array_equal(tenon.compile(plain, plugins=[library]).run({"x": X})["y"], 2 * X)


def test_rules_name_ops_of_plugins(library, ops):
    text = "graph g(x: f32[n,3]) { y = Add(x, x) return y }"
    equation = Rule.equation("Add(?x, ?x) => test::Double(?x)", plugins=[library])
    graph = Graph.parse(text)
    rewrite(graph, [equation])
    assert [node.op_type for node in graph.nodes] == ["Double"]
    back = rules_from("back: test::Double(?x) => Add(?x, ?x)", plugins=[library])
    # Another list of libraries, with another function of Python: the op is the same.
    tenon.plugin("test::OneMore")(lambda x: x)
    for again in (graph, Graph.parse(text.replace("Add(x, x)", "test::Double(x)"), plugins=[library])):
        rewrite(again, back)
        assert [node.op_type for node in again.nodes] == ["Add"]
    swish = Graph.parse("graph g(x: f32[n,3]) { y = acme::Swish(x, beta=2) return y }")
    rewrite(swish, [Rule.equation("acme::Swish(?x, beta=?b) => Neg(?x)")])
    assert [node.op_type for node in swish.nodes] == ["Neg"]
    assert "test::Double" in refused(lambda: Rule.equation("Add(?x, ?x) => test::Double(?x)")).what


def test_rules_of_python_start_at_plugins(ops):
    seen = []
    graph = Graph.parse("graph g(x: f32[n,3]) { a = Neg(x) y = acme::Swish(a) return y }")
    functions = {"match": lambda match: seen.append(match.root.op_type), "analyse": lambda match: None}
    analyse(graph, [Rule.code("look", functions, roots=["acme::Swish"])])
    assert seen == ["Swish"]


def test_measuring_with_a_function_says_why_not(ops):
    constraints = {"backends": ["reference", "cpu"], "assign": "cost", "measure": True}
    error = refused(lambda: tenon.compile(swish_model(), **constraints))
    assert (error.code, error.place) == ("not_supported", "measure")
    assert "acme::Swish" in error.what and "processes of their own" in error.expected


def test_libraries_run_in_processes_of_their_own(library, tmp_path):
    with_limits = {"plugins": [library], "isolate_plugins": True, "plugin_patience": 60.0, "plugin_memory": 1 << 30}
    made = tenon.compile(double_model(), **with_limits)
    np.testing.assert_array_equal(made.run({"x": X})["y"], 2 * X)
    made.save(tmp_path / "double.tenon")
    loaded = tenon.load(tmp_path / "double.tenon", **with_limits)
    thousand = np.full((1, 3), 1000, np.float32)
    assert "1000 is too much" in refused(lambda: loaded.run({"x": thousand})).what
    np.testing.assert_array_equal(loaded.run({"x": X})["y"], 2 * X)
    wrong = refused(lambda: tenon.compile(double_model(), plugins=[library], isolate_plugins=True, plugin_patience=0.0))
    assert (wrong.code, wrong.place) == ("bad_usage", "plugin_patience")


def test_a_forked_process_has_isolated_plugins_of_its_own(library):
    graph = Graph.parse("graph g(x: f32[n]) { a = Neg(x) b = test::Double(a) y = Neg(b) return y }", plugins=[library])
    made = tenon.compile(graph, plugins=[library], isolate_plugins=True, threads=1)
    x = np.arange(50_000, dtype=np.float32)
    np.testing.assert_array_equal(made.run({"x": x}, threads=1)["y"], 2 * x)
    ready, go = os.pipe(), os.pipe()
    copy = os.fork()
    if copy == 0:
        right = all(np.array_equal(made.run({"x": x + k}, threads=1)["y"], 2 * (x + k)) for k in range(20))
        os.write(ready[1], b"!")
        right = right and os.read(go[0], 1) == b"!" and np.array_equal(made.run({"x": x}, threads=1)["y"], 2 * x)
        os._exit(0 if right else 1)
    for k in range(20):
        np.testing.assert_array_equal(made.run({"x": x - k}, threads=1)["y"], 2 * (x - k))
    os.read(ready[0], 1)
    os.write(go[1], b"!")
    assert os.waitpid(copy, 0)[1] == 0
    np.testing.assert_array_equal(made.run({"x": x}, threads=1)["y"], 2 * x)


def test_libraries_inside_engines_may_be_isolated(library, tmp_path):
    path = tmp_path / "own.tenon"
    tenon.compile(double_model(), plugins=[library], embed_plugins=True, isolate_plugins=True).save(path)
    script = f"""
import sys, numpy as np, tenon
engine = tenon.load({os.fspath(path)!r}, embedded_plugins=True, isolate_plugins=True)
x = np.arange(6, dtype=np.float32).reshape(2, 3)
assert (engine.run({{"x": x}})["y"] == 2 * x).all()
again = tenon.compile(open({os.fspath(path)!r} + ".onnx", "rb").read(), plugins=[{os.fspath(library)!r}], embed_plugins=True)
again.save({os.fspath(path)!r})
"""
    Path(f"{path}.onnx").write_bytes(double_model())
    for _ in range(2):  # a library that is open out of an engine goes into another one
        subprocess.run([sys.executable, "-c", script], check=True)


def test_the_program_of_isolated_plugins_lies_in_the_package(library, tmp_path):
    """As a wheel installs it; the package of a build has it elsewhere."""
    shutil.copytree(Path(tenon.__file__).parent, tmp_path / "tenon", ignore=shutil.ignore_patterns("__pycache__"))
    program = tmp_path / "tenon" / "tenon-plugin-worker"
    (tmp_path / "double.onnx").write_bytes(double_model())
    script = f"""
import numpy as np, tenon
made = tenon.compile({os.fspath(tmp_path / "double.onnx")!r}, plugins=[{os.fspath(library)!r}], isolate_plugins=True)
print(made.run({{"x": np.ones((1, 3), np.float32)}})["y"])
"""
    environment = {**os.environ, "PYTHONPATH": os.fspath(tmp_path)}
    missing = subprocess.run([sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert missing.returncode == 1
    assert "the program that runs plugins in a process of their own is not there" in missing.stderr
    assert f"none of {program}," in missing.stderr
    shutil.copy(ROOT / "build/bin/tenon-plugin-worker", program)
    found = subprocess.run([sys.executable, "-c", script], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert found.stdout == "[[2. 2. 2.]]\n"


def test_functions_cannot_be_isolated(tmp_path):
    wrong = refused(lambda: engine("acme::Swish(x)", isolate_plugins=True))
    assert wrong.code == "not_supported"
    assert wrong.what == "a function of this process cannot be isolated: no other process has it"
    assert "run without isolation" in wrong.advice
    path = tmp_path / "swish.tenon"
    engine("acme::Swish(x)").save(path)
    assert "cannot be isolated" in refused(lambda: tenon.load(path, isolate_plugins=True)).what


def test_measuring_takes_the_fastest_way_of_a_library(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", os.fspath(tmp_path))
    tuned = compiled("tests/plugin/fixtures/tuned.c", tmp_path, "-O2")
    graph = Graph.parse("graph main(x: f32[3,500]) { y = tuned::Wave(x) return y }", plugins=[tuned])
    saved = tmp_path / "wave.tenon"
    tenon.compile(graph, plugins=[tuned], measure=True).save(saved)
    assert len((tmp_path / "tenon" / "times").read_text().splitlines()) == 3
    assert b"quick" in saved.read_bytes()
    x = np.linspace(-2, 2, 1500, dtype=np.float32).reshape(3, 500)
    again = tenon.load(saved, plugins=[tuned]).run({"x": x})["y"]
    np.testing.assert_allclose(again, np.abs(x) * np.cos(x), atol=1e-6)
    # Channels last, in this process and in one of its own, run after run.
    graph = Graph.parse("graph main(x: f32[n,3,4,5]) { y = tuned::OnlyChannels(x) return y }", plugins=[tuned])
    for constraints in ({}, {"isolate_plugins": True}):
        made = tenon.compile(graph, plugins=[tuned], **constraints)
        for seed in range(3):
            image = np.random.default_rng(seed).normal(size=(2, 3, 4, 5)).astype(np.float32)
            softmax = np.exp(image) / np.exp(image).sum(axis=1, keepdims=True)
            np.testing.assert_allclose(made.run({"x": image})["y"], softmax, atol=1e-6)


def test_the_environment_names_libraries_too(library, monkeypatch):
    monkeypatch.setenv("TENON_PLUGINS", os.fspath(library))
    np.testing.assert_array_equal(tenon.compile(double_model()).run({"x": X})["y"], 2 * X)
    monkeypatch.setenv("TENON_PLUGINS", "nowhere.so")
    assert refused(lambda: tenon.compile(double_model())).code == "file_missing"


def test_a_library_and_a_function_with_one_op(library):
    @tenon.plugin("test::Double", version="2")
    def newer(x):
        return x * 3

    np.testing.assert_array_equal(answer("test::Double(x)", plugins=[library]), 3 * X)


def test_engines_without_plugins_keep_their_bytes(tmp_path):
    program = f"import sys, tenon\n%s\ntenon.compile({str(ROOT / 'examples/mlp.onnx')!r}).save(sys.argv[1])"
    saved = []
    for name, before in (("without", ""), ("with", "tenon.plugin('a::B')(lambda x: x)")):
        subprocess.run([sys.executable, "-c", program % before, tmp_path / name], check=True)
        saved.append((tmp_path / name).read_bytes())
    assert saved[0] == saved[1]


def test_functions_stand_in_no_engine(ops, tmp_path):
    made = tenon.compile(Graph.parse("graph main(x: f32[n,3]) { y = acme::Swish(x) return y }"), embed_plugins=True)
    assert "of no file" in refused(lambda: made.save(tmp_path / "own.tenon")).what


def test_definitions_run_where_a_plugin_is_missing(tmp_path):
    """In processes of their own: what is named once is known to its process from then on."""
    swish, saved = compiled("examples/plugins/swish.c", tmp_path), tmp_path / "swish.tenon"
    building = (
        "import sys, tenon\n"
        "from tenon.rewriting import Graph\n"
        "graph = Graph.parse('graph g(x: f32[n,3]) { y = acme::Swish(x, beta=1.5) return y }', plugins=[sys.argv[1]])\n"
        "tenon.compile(graph, plugins=[sys.argv[1]], plugin_fallback=True).save(sys.argv[2], portable=len(sys.argv) > 3)\n"
        "assert tenon.load(sys.argv[2], plugins=[sys.argv[1]]).missing_plugins == ''\n"
    )
    running = (
        "import sys, warnings, numpy as np, tenon\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n"
        "    engine = tenon.load(sys.argv[2])\n"
        "assert 'acme::Swish' in engine.missing_plugins and 'definitions run' in str(told[0].message), told\n"
        "x = np.ones((2, 3), np.float32)\n"
        "np.testing.assert_allclose(engine.run({'x': x})['y'], x / (1 + np.exp(-1.5 * x)), rtol=1e-5)\n"
    )
    for portable in ([], ["portable"]):
        for code in (building, running):
            subprocess.run([sys.executable, "-c", code, swish, saved, *portable], check=True)
