# SPDX-License-Identifier: Apache-2.0
"""Keyword arguments of compile and partition follow from the table of compile options, include/tenon/compile_options.h."""

import ast
from pathlib import Path

import pytest
import tenon

MODEL = Path(__file__).resolve().parents[2] / "examples/mlp.onnx"


def keys() -> dict[str, list[str]]:
    """Of each class of the stub that the build writes."""
    body = ast.parse(Path(tenon.__file__).with_name("_options.pyi").read_text(encoding="utf-8")).body
    return {n.name: [k.target.id for k in n.body if isinstance(k, ast.AnnAssign)] for n in body if isinstance(n, ast.ClassDef)}


@pytest.mark.parametrize("function", ["compile", "partition"])
def test_every_option_is_in_signature_and_help(function):
    named = keys()["PartitionOptions"] + (keys()["CompileOptions"] if function == "compile" else [])
    assert {"opt", "precision", "shapes", "custom_ops"} <= set(named) and ("embed_plugins" in named) == (function == "compile")
    (signature,) = (line[0] for line in getattr(tenon, function).__nb_signature__)
    for name in named:
        assert f", {name}: " in signature
        assert f"\n{name}: " in getattr(tenon, function).__doc__


def test_unknown_options_are_refused_with_the_nearest():
    with pytest.raises(TypeError, match=r"compile\(\) got an unexpected keyword argument 'precison'; did you mean 'precision'\?"):
        tenon.compile(MODEL, precison="f32")
    with pytest.raises(TypeError, match=r"partition\(\) got an unexpected keyword argument 'embed_plugins'$"):
        tenon.partition(MODEL, embed_plugins=True)


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("opt", "3", "int, found str"),
        ("winograd", 1, "bool, found int"),
        ("backends", "cpu", "Sequence[str], found str"),
        ("precision", 32, 'Literal["f32", "bf16"], found int'),
        ("pins", ["x"], "Mapping[str, str], found list"),
        ("plugin_memory", -1, "int, found int"),
        ("external_data", 3, "str | PathLike[str] | None, found int"),
    ],
)
def test_values_of_other_types_name_the_option(name, value, expected):
    with pytest.raises(TypeError) as raised:
        tenon.compile(MODEL, **{name: value})
    assert str(raised.value) == f"compile(): {name} must be {expected}"


@pytest.mark.parametrize(
    ("name", "value", "what", "expected"),
    [
        ("opt", 4, "there is no such level", "0 to 3"),
        ("threads", -1, "code cannot be generated on a negative number of threads", "0 or more"),
        ("min_block_size", 0, "a segment has at least one node", "1 to 4294967295"),
        ("assign", "luck", "there is no such way to share a graph out", "priority or cost"),
        ("segmenter", "most", "there is no such way to cut a graph", "fewest or walk"),
        ("precision", "bf8", "there is no such precision", "f32 or bf16"),
        ("activations", "int8", "there are no such activations", "f32, bf16 or i8"),
        ("narrow", {"f65": "f32"}, "there is no such element type", '{"f64": "f32", "i64": "i32"}'),
    ],
)
def test_values_that_an_option_does_not_have_name_it(name, value, what, expected):
    for use in (tenon.compile, tenon.partition):
        with pytest.raises(tenon.TenonError) as raised:
            use(MODEL, **{name: value})
        error = raised.value
        assert (error.code, error.place, error.what, error.expected) == ("bad_usage", name, what, expected)


def test_options_that_may_be_none_are_the_default():
    assert tenon.compile(MODEL, external_data=None, min_block_size=None).inputs


def test_targets_are_those_of_backends_that_generate_code(tmp_path):
    with pytest.raises(tenon.TenonError, match="there is no such target"):
        tenon.compile(MODEL, targets=["x86_avx1"])
    with pytest.raises(tenon.TenonError, match="no backend of this build that generates code has this name"):
        tenon.compile(MODEL, targets=["reference=x86_avx2"])
    with pytest.raises(tenon.TenonError, match="this backend has a target already"):
        tenon.compile(MODEL, targets=["x86_avx2", "cpu=x86_avx2"])
    tenon.compile(MODEL, targets=["cpu=x86_avx2"]).save(tmp_path / "m.tenon")
    assert b"AVX2\navx2 fma f16c bmi2" in (tmp_path / "m.tenon").read_bytes()
