# SPDX-License-Identifier: Apache-2.0
"""What the wheels promise, tried on the build: names, the command, docstrings, the run side alone. ./dev wheel --check tries the wheels."""

import ast
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tenon
import tenon_runtime

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / "examples/mlp.onnx"
STUB = [node for name in ("_tenon", "_engine") for node in ast.parse((ROOT / f"python/tenon/{name}.pyi").read_text(encoding="utf-8")).body]


def documented(body, scope=()):
    """(path of names, text) of what has a docstring."""
    for node in body:
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            if text := ast.get_docstring(node):
                yield (*scope, node.name), text
            if isinstance(node, ast.ClassDef):
                yield from documented(node.body, (*scope, node.name))


def test_every_docstring_of_the_stub_is_there_at_run_time():
    module = importlib.import_module("tenon._tenon")
    tried = 0
    for path, text in documented(STUB):
        found = getattr(module, path[0], None)
        if found is None:  # a protocol, for type checkers
            continue
        for name in path[1:]:
            found = getattr(found, name)
        assert text in (found.__doc__ or ""), ".".join(path)
        tried += 1
    assert tried > 60
    assert "Runs once" in tenon_runtime.Engine.run.__doc__


@pytest.mark.parametrize("package", [tenon, tenon_runtime])
def test_type_checkers_find_what_the_extension_has(package):
    folder = Path(package.__file__).parent
    assert (folder / "py.typed").exists()
    name = f"_{package.__name__}"
    stub = ast.parse((folder / f"{name}.pyi").read_text(encoding="utf-8")).body
    imported = {alias.asname for node in stub if isinstance(node, ast.ImportFrom) for alias in node.names if alias.asname}
    assert {"Engine", "Port", "StopToken", "ThreadPool", "load"} <= imported
    shared = ast.parse((folder / "_engine.pyi").read_text(encoding="utf-8")).body
    defined = {node.name for node in shared if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    module = importlib.import_module(f"{package.__name__}.{name}")
    assert imported <= defined and all(hasattr(module, n) for n in imported)
    (engine,) = (node for node in shared if isinstance(node, ast.ClassDef) and node.name == "Engine")
    members = {node.name for node in engine.body if isinstance(node, ast.FunctionDef)}
    assert members <= set(dir(module.Engine)) and {m for m in vars(module.Engine) if not m.startswith("_")} <= members


def test_the_extension_uses_the_stable_abi():
    for package, name in ((tenon, "tenon._tenon"), (tenon_runtime, "tenon_runtime._tenon_runtime")):
        file = Path(importlib.import_module(name).__file__)
        assert file.name.endswith(".abi3.so") and file.parent == Path(package.__file__).parent


def test_names_of_distribution_and_command():
    tomllib = pytest.importorskip("tomllib")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    runtime = tomllib.loads((ROOT / "python/runtime/pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (project["name"], runtime["name"]) == ("tenon-compiler", "tenon-runtime")
    assert project["version"] == runtime["version"] == tenon.__version__ == tenon_runtime.__version__
    command = (ROOT / "python/wheel/command").read_text(encoding="utf-8")
    assert command.startswith("#!python\n")  # pip writes the environment's Python there


def test_no_text_installs_the_package_tenon():
    files = [
        p
        for suffix in ("md", "py", "cpp", "pyi")
        for folder in ("docs", "python", "src", "examples")
        for p in (ROOT / folder).rglob(f"*.{suffix}")
    ]
    said = re.compile(r"pip3? install [\"']?tenon(?![-_]compiler|[-_]runtime)\b")
    assert [p for p in [ROOT / "README.md", *files] if said.search(p.read_text(encoding="utf-8"))] == []


def test_python_m_tenon_is_the_command_line():
    done = subprocess.run([sys.executable, "-m", "tenon", "inspect", MODEL, "--json"], capture_output=True, text=True)
    assert done.returncode == 0 and "Gemm" in done.stdout, done.stderr
    assert subprocess.run([sys.executable, "-m", "tenon", "no-such-verb"], capture_output=True).returncode == 2


def test_the_command_becomes_the_executable_next_to_the_package(tmp_path):
    (tmp_path / "tenon").mkdir()
    (tmp_path / "tenon/__init__.py").write_text("raise ImportError('the command imports nothing of the package')")
    (tmp_path / "tenon/tenon").symlink_to(ROOT / "build/bin/tenon")
    command = [sys.executable, ROOT / "python/wheel/command", "inspect", MODEL, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 0 and "Gemm" in done.stdout, done.stderr


def test_the_run_side_runs_what_the_compiler_wrote(tmp_path):
    engine = tenon.compile(MODEL)
    engine.save(tmp_path / "m.tenon")
    x = {"x": np.linspace(-1, 1, 48, dtype=np.float32).reshape(3, 16)}
    loaded = tenon_runtime.load(tmp_path / "m.tenon")
    assert isinstance(loaded, tenon_runtime.Engine) and not isinstance(loaded, tenon.Engine)
    np.testing.assert_array_equal(loaded.run(x)["y"], engine.run(x)["y"])
    with pytest.raises(tenon_runtime.TenonError) as error:
        loaded.run({"x": np.zeros((3, 5), np.float32)})
    assert error.value.code == "bad_input" and type(error.value).__module__ == "tenon_runtime"


def test_the_run_side_has_no_compiler():
    file = Path(importlib.import_module("tenon_runtime._tenon_runtime").__file__)
    assert file.stat().st_size < 4_000_000
    assert not any(hasattr(tenon_runtime, name) for name in ("compile", "partition"))
    code = f"import sys; sys.path.insert(0, {str(file.parent.parent)!r}); import tenon_runtime; assert 'tenon' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
