# SPDX-License-Identifier: Apache-2.0
"""What the original's tests import: from the original (`own`), or from Tenon under the original's names (`a` and `b`)."""

from __future__ import annotations

import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

ALIAS = "yobx_on_tenon"  # the original's package as run B sees it
PATTERN_PACKAGES = ("patterns", "patterns_ort", "patterns_exp", "patterns_ml", "patterns_fix", "patterns_investigation")

ADJACENT = ("repeated_optim", "unfused")  # what the original builds on its own interface


def _module(name: str, members: dict[str, Any]) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__dict__.update(members)
    return module


def _export(graph_builder: type, options_type: type) -> Any:
    """The original's exporter makes the model, Tenon optimises it."""

    def to_onnx(model: Any, args: Any, *, options: Any = None, filename: str = "", **rest: Any) -> Any:
        from yobx.torch import to_onnx as original
        from yobx.xbuilder import OptimizationOptions

        exported = original(model, args, options=OptimizationOptions(patterns=None), **rest)
        proto = exported.get_proto() if hasattr(exported, "get_proto") else exported
        made = graph_builder(proto, optimization_options=options or options_type()).to_onnx()
        if filename:
            Path(filename).write_bytes(made.SerializeToString())
        return made

    return to_onnx


class _Named(types.ModuleType):
    """Run A: a class of the original's catalogue means the rules that cover it."""

    def __init__(self, name: str, tenon: Any) -> None:
        super().__init__(name)
        self._tenon = tenon

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith("get_") and name.endswith("_patterns"):
            chosen = name.removeprefix("get_").removesuffix("_patterns")
            return lambda verbose=0: self._tenon.get_pattern_list(chosen, verbose=verbose)
        if name.endswith("Pattern"):
            kinds = self._tenon.catalogue.named(name)
            return kinds[0] if kinds else lambda verbose=0, priority=1, **_: self._tenon.get_pattern(name, verbose=verbose)
        raise AttributeError(f"{self.__name__} has no {name} on Tenon")


def _names_of_tenon() -> dict[str, types.ModuleType]:
    import tenon.pattern_optimizer as tenon

    every = {name: getattr(tenon, name) for name in tenon.__all__}
    found = {
        f"xbuilder{part}": _module(f"xbuilder{part}", every)
        for part in ("", ".graph_builder", ".optimization_options", ".infer_shapes_options")
    }
    found |= {f"xoptim{part}": _module(f"xoptim{part}", every) for part in ("", ".patterns_api", ".graph_builder_optim")}
    found["helpers.onnx_helper"] = _module("onnx_helper", {"pretty_onnx": tenon.pretty_onnx})
    found["torch"] = _module("torch", {"to_onnx": _export(tenon.GraphBuilder, tenon.OptimizationOptions)})
    return found


class _Alias(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Run B: the original's sources of patterns, executed untouched where their relative imports find Tenon."""

    def __init__(self, folder: Path, given: dict[str, types.ModuleType]) -> None:
        self.folder = folder
        self.given = given

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != ALIAS and not name.startswith(f"{ALIAS}."):
            return None
        inner = name.removeprefix(ALIAS).removeprefix(".")
        parts = inner.split(".")
        if parts[0] == "xoptim" and inner not in self.given and (len(parts) == 1 or parts[1] in (*PATTERN_PACKAGES, *ADJACENT)):
            place = self.folder.joinpath("yobx", *parts)
            file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
            packages = [str(place)] if place.is_dir() else None
            return importlib.util.spec_from_file_location(name, file, submodule_search_locations=packages)
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        inner = spec.name.removeprefix(ALIAS).removeprefix(".")
        if inner in self.given:
            return self.given[inner]
        real = importlib.import_module(f"yobx.{inner}" if inner else "yobx")
        return _module(spec.name, dict(vars(real)))

    def exec_module(self, module: types.ModuleType) -> None:
        pass


def _load_aliased(folder: Path, given: dict[str, types.ModuleType]) -> None:
    interface = {name: module for name, module in given.items() if name.split(".")[0] in ("xbuilder", "xoptim")}
    sys.meta_path.insert(0, _Alias(folder, interface))


def _next_to(names: tuple[str, ...]) -> dict[str, types.ModuleType]:
    return {f"xoptim.{name}": importlib.import_module(f"{ALIAS}.xoptim.{name}") for name in names}


def routes_a(folder: Path) -> dict[str, types.ModuleType]:
    """Names of the catalogue mean Tenon's rules."""
    import tenon.pattern_optimizer as tenon

    found = _names_of_tenon()
    found |= {f"xoptim.{package}": _Named(package, tenon) for package in PATTERN_PACKAGES}
    _load_aliased(folder, found)
    return found | _next_to(ADJACENT)


def routes_b(folder: Path) -> dict[str, types.ModuleType]:
    """Names of the catalogue mean the original's own classes, which stand on Tenon's base classes."""
    import tenon.pattern_optimizer as tenon

    given = _names_of_tenon()
    del given["xoptim"]
    _load_aliased(folder, given)
    catalogue = importlib.import_module(f"{ALIAS}.xoptim")

    class OptimizationOptions(tenon.OptimizationOptions):
        def __init__(self, patterns: Any = "default", verbose: int = 0, **rest: Any) -> None:
            if isinstance(patterns, str):
                patterns = catalogue.get_pattern_list(patterns, verbose=verbose)
            elif patterns is not None:
                patterns = [catalogue.get_pattern(p, verbose=verbose) for p in patterns]
            super().__init__(patterns=patterns, verbose=verbose, **rest)

    class GraphBuilder(tenon.GraphBuilder):
        def __init__(self, *args: Any, optimization_options: Any = None, **rest: Any) -> None:
            super().__init__(*args, optimization_options=optimization_options or OptimizationOptions(), **rest)

    own = {"GraphBuilder": GraphBuilder, "OptimizationOptions": OptimizationOptions}
    for name, module in given.items():
        if name.startswith("xbuilder"):
            module.__dict__.update(own)
    given["torch"].to_onnx = _export(GraphBuilder, OptimizationOptions)
    found = dict(given)
    found["xoptim"] = catalogue
    return found | _next_to((*PATTERN_PACKAGES, *ADJACENT))


class _Both:
    """A module of Tenon's names, and behind it the original's for what Tenon does not claim (doc helpers, unfuse, ...)."""

    def __init__(self, first: types.ModuleType, rest: Any) -> None:
        self._first = first
        self._rest = rest

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(self._first, name)
        except AttributeError:
            if isinstance(self._first, _Named):
                raise
            return getattr(self._rest, name)


def load_tests(file: Path, routes: dict[str, types.ModuleType]) -> types.ModuleType:
    """A file of tests as a module whose own imports go by `routes`; what those modules import themselves does not."""

    def routed(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
        if level or not name.startswith("yobx.") or not fromlist:
            return builtins.__import__(name, globals, locals, fromlist, level)
        inner = name.removeprefix("yobx.")
        package = ".".join(inner.split(".")[:2])
        if inner in routes:
            return _Both(routes[inner], builtins.__import__(name, globals, locals, fromlist, 0))
        if package in routes and package.removeprefix("xoptim.") in PATTERN_PACKAGES:
            named = routes[package]
            return named if isinstance(named, _Named) else importlib.import_module(f"{ALIAS}.{inner}")
        return builtins.__import__(name, globals, locals, fromlist, 0)

    module = _module(f"original_{file.stem}", {"__file__": str(file), "__builtins__": {**vars(builtins), "__import__": routed}})
    sys.modules[module.__name__] = module
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec", dont_inherit=True), module.__dict__)
    return module
