# SPDX-License-Identifier: Apache-2.0
"""Arrays of the element types of ml_dtypes, which NumPy lacks, as inputs, constants and results."""

import subprocess
import sys

import numpy as np
import pytest
import tenon
import tenon_runtime
from tenon.rewriting import Graph

ml_dtypes = pytest.importorskip("ml_dtypes")

NAMES = {
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2": "f8e5m2",
    "float8_e5m2fnuz": "f8e5m2fnuz",
    "float8_e8m0fnu": "f8e8m0",
    "float4_e2m1fn": "f4e2m1",
    "int4": "i4",
    "uint4": "u4",
    "int2": "i2",
    "uint2": "u2",
}

SUB_BYTE = ("float4_e2m1fn", "int4", "uint4", "int2", "uint2")


def values(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Values that the type holds, negative ones among them where it has some."""
    some = [1, 2, 4] if name == "float8_e8m0fnu" else [0, 1, 2, 3] if name.startswith("uint") else [-2, -1, 0, 1]
    return np.resize(np.array(some, np.float32), shape).astype(getattr(ml_dtypes, name))


def engine_of(text: str) -> tenon.Engine:
    return tenon.compile(Graph.parse(text))


def same_and_wide(name: str, rank: int) -> tenon.Engine:
    return engine_of(f"graph main(x: {NAMES[name]}[{','.join('abc'[:rank])}]) {{ y = Identity(x) z = Cast(x, to=1) return y, z }}")


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (7,), ()])
def test_arrays_go_in_and_come_out(name, shape):
    x = values(name, shape)
    results = same_and_wide(name, len(shape)).run({"x": x})
    assert_same(results["y"], x)
    np.testing.assert_array_equal(results["z"], x.astype(np.float32))


@pytest.mark.parametrize("name", NAMES)
def test_strided_arrays_are_read_in_order(name):
    x = values(name, (6, 5)).T[::2]
    np.testing.assert_array_equal(same_and_wide(name, 2).run({"x": x})["z"], x.astype(np.float32))


def test_dense_arrays_are_read_where_they_lie():
    x = values("bfloat16", (4, 5))
    y = np.empty(20, np.uint16).view(x.dtype).reshape(4, 5)
    with pytest.raises(tenon.TenonError) as error:
        engine_of("graph main(x: bf16[a,b]) { y = Neg(x) return y }").run({"x": x}, out={"y": x})
    assert error.value.found == "bytes of an input"
    assert engine_of("graph main(x: bf16[a,b]) { y = Neg(x) return y }").run({"x": x}, out={"y": y})["y"] is y
    assert_same(y, -x)


def test_results_live_longer_than_their_engine():
    x = values("bfloat16", (1000,))
    y = engine_of("graph main(x: bf16[a]) { y = Neg(x) return y }").run({"x": x})["y"]
    assert_same(y, -x)


@pytest.mark.parametrize("name", NAMES)
def test_constants_of_networks_take_arrays(name):
    x = values(name, (3, 5)).T
    graph = Graph()
    constant = graph.add_constant(x)
    assert constant.dtype == NAMES[name]
    graph.add_output(graph.insert("Identity", [constant]).outputs[0], "y")
    graph.add_output(graph.insert("Cast", [constant], {"to": 1}).outputs[0], "z")
    results = tenon.compile(graph).run({})
    assert_same(results["y"], x)
    np.testing.assert_array_equal(results["z"], x.astype(np.float32))


@pytest.mark.parametrize("name", NAMES)
def test_graphs_run_by_reference_on_them(name):
    x = values(name, (2, 3))
    assert_same(Graph.parse(f"graph main(x: {NAMES[name]}[2,3]) {{ y = Identity(x) return y }}").evaluate({"x": x})["y"], x)


@pytest.mark.parametrize("name", NAMES)
def test_sequences_and_optionals_hold_them(name):
    elements = [values(name, (2, 3)), values(name, (5, 1))]
    short = NAMES[name]
    sequence = engine_of(f"graph main(s: seq({short}[a,b])) {{ y = Identity(s) return y }}")
    for found, expected in zip(sequence.run({"s": elements})["y"], elements, strict=True):
        assert_same(found, expected)
    optional = engine_of(f"graph main(o: optional({short}[a,b])) {{ y = Identity(o) return y }}")
    assert_same(optional.run({"o": elements[0]})["y"], elements[0])
    assert optional.run({"o": None})["y"] is None


def test_the_run_side_takes_them(tmp_path):
    engine_of("graph main(x: bf16[a]) { y = Neg(x) return y }").save(tmp_path / "m.tenon")
    x = values("bfloat16", (7,))
    assert_same(tenon_runtime.load(tmp_path / "m.tenon").run({"x": x})["y"], -x)


def test_another_type_than_the_models_is_refused():
    for name, x in (("bfloat16", values("int4", (2,))), ("int4", values("uint4", (2,))), ("bfloat16", np.zeros(2, np.float16))):
        with pytest.raises(tenon.TenonError) as error:
            same_and_wide(name, 1).run({"x": x})
        assert error.value.code == "bad_input" and error.value.place == "input 'x'"


@pytest.mark.parametrize("name", NAMES)
def test_results_are_written_into_given_arrays(name):
    x, engine = values(name, (2, 3)), same_and_wide(name, 2)
    y = np.ones((2, 3), np.float32).astype(x.dtype)
    if name in SUB_BYTE:
        with pytest.raises(tenon.TenonError) as error:
            engine.run({"x": x}, out={"y": y})
        assert error.value.code == "not_supported" and error.value.place == "output 'y'"
        return
    assert engine.run({"x": x}, out={"y": y})["y"] is y
    assert_same(y, x)


def test_arrays_that_cannot_receive_a_result_are_refused():
    x, engine = values("bfloat16", (2, 3)), same_and_wide("bfloat16", 2)
    read_only = values("bfloat16", (2, 3))
    read_only.flags.writeable = False
    others = (values("bfloat16", (3, 2)), values("bfloat16", (3, 2)).T, values("float8_e5m2", (2, 3)), read_only)
    for y in others:
        with pytest.raises(tenon.TenonError) as error:
            engine.run({"x": x}, out={"y": y})
        assert error.value.code == "bad_input" and error.value.place == "output 'y'"


WITHOUT = """
import sys
sys.modules["ml_dtypes"] = None
import numpy as np, tenon
from tenon.rewriting import Graph
x = np.ones(3, np.float32)
for to in ("bf16", "f8e5m2", "i4"):
    graph = Graph.parse(f"graph main(x: f32[a]) {{ y = Cast(x, to={dict(bf16=16, f8e5m2=19, i4=22)[to]}) return y }}")
    try:
        y = tenon.compile(graph).run({"x": x})["y"]
        print(to, type(y).__name__)
    except tenon.TenonError as e:
        print(to, e.code, e.place, e.advice)
"""


def test_without_the_package_bf16_is_a_dlpack_capsule_and_others_are_errors():
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True)
    bf16, f8, i4 = done.stdout.splitlines()
    assert bf16 == "bf16 PyCapsule"
    for line in (f8, i4):
        assert "not_supported output 'y' install the package ml_dtypes" in line
