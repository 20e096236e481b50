# SPDX-License-Identifier: Apache-2.0
"""Ops from plugin libraries."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx.helper as oh
import pytest
import tenon
from onnx_models import F, model
from plugin_engines import X, answer, refused
from plugin_libraries import compiled
from tenon.rewriting import Graph, Rule, rewrite, rules_from

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", autouse=True)
def ops():
    """Late: other modules' tests are to know nothing of them."""
    return importlib.import_module("python_plugins")


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


def test_a_tactic_is_requested(tmp_path):
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


def test_libraries_run_in_processes_of_their_own(library, tmp_path):
    with_limits = {"plugins": [library], "isolate_plugins": True, "plugin_timeout": 60.0, "plugin_memory": 1 << 30}
    made = tenon.compile(double_model(), **with_limits)
    np.testing.assert_array_equal(made.run({"x": X})["y"], 2 * X)
    made.save(tmp_path / "double.tenon")
    loaded = tenon.load(tmp_path / "double.tenon", **with_limits)
    thousand = np.full((1, 3), 1000, np.float32)
    assert "1000 is too much" in refused(lambda: loaded.run({"x": thousand})).what
    np.testing.assert_array_equal(loaded.run({"x": X})["y"], 2 * X)
    wrong = refused(lambda: tenon.compile(double_model(), plugins=[library], isolate_plugins=True, plugin_timeout=0.0))
    assert (wrong.code, wrong.place) == ("bad_usage", "plugin_timeout")


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
