# SPDX-License-Identifier: Apache-2.0
"""The options of a compilation, and checks of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from .. import TenonError
from .._tenon import _torch_options
from .constraints import Constraints


@dataclasses.dataclass
class Choice:
    backends: Sequence[str] = ()
    min_block_size: int | None = None
    torch_executed_ops: Sequence[Any] = ()
    torch_executed_modules: Sequence[str] = ()
    pins: Mapping[str, str] = dataclasses.field(default_factory=dict)
    require_full: bool = False
    atomic_groups: Sequence[Sequence[Any]] = ()
    memory_limit: int | None = None
    truncate_double: bool = False
    truncate_long_and_double: bool = False
    backend_libraries: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    share_weights: bool = False
    engine_options: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    """Options that are passed on to tenon.compile unchanged: see tenon._options.EngineOptions."""
    measure: bool = True
    of_pieces: bool = False
    """Whether the program is one of several pieces of a model: ops or modules that an option names may be in another piece."""

    def __post_init__(self) -> None:
        for name in ("backends", "torch_executed_ops", "torch_executed_modules"):
            given = getattr(self, name)
            if isinstance(given, str):
                raise TenonError("bad_usage", name, "this is no list", "a list of names", repr(given), f"{name}=[{given!r}]")
        for name, expected in (("pins", "backends by nodes or modules"), ("backend_libraries", "files by backends")):
            given = getattr(self, name)
            if not isinstance(given, Mapping):
                raise TenonError("bad_usage", name, "this is no mapping", expected, repr(given), "")
        self.backends = list(self.backends)
        for name in ("min_block_size", "memory_limit"):
            given = getattr(self, name)
            if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
                raise TenonError("bad_usage", name, "a segment needs some", "a number from 1", repr(given), "")
        for name in self.engine_options:
            if name not in _torch_options:
                raise TypeError(f"compile() got an unexpected keyword argument '{name}'")
        precision = self.engine_options.get("precision", "f32")
        if self.share_weights and precision != "f32":
            raise TenonError(
                "bad_usage", "share_weights", "weights that are read where they lie are not rounded", "precision f32", precision,
                "leave share_weights out",
            )  # fmt: skip
        self.constraints = Constraints(self.torch_executed_ops, self.torch_executed_modules, self.pins)
        self.constraints.check_backends(self.backends)

    @property
    def measures(self) -> bool:
        """Whether measured times decide between Tenon and PyTorch: not where an option decides."""
        return self.measure and self.min_block_size is None and not self.require_full and not self.constraints.pin_to_tenon

    @property
    def engine(self) -> dict[str, Any]:
        """The options of tenon.compile for each segment."""
        narrow = {"f64": "f32"} if self.truncate_double or self.truncate_long_and_double else {}
        if self.truncate_long_and_double:
            narrow["i64"] = "i32"
        return {
            "backends": self.backends,
            "backend_libraries": dict(self.backend_libraries),
            "narrow": narrow if len(self.backends) > 1 else {},
            **self.engine_options,
        }
