# SPDX-License-Identifier: Apache-2.0
"""What an optimisation does in addition to its patterns, and its limits."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Any

from .environment import Environment
from .pattern import EnginePattern
from .selection import Pattern, Patterns, get_pattern_list

PASSES = ("remove_identity", "remove_unused", "constant_folding", "patterns", "remove_duplicated_initializer", "order")


class InferShapesOptions(IntEnum):
    """Kept for code that passes them on: all types and shapes that can be known are known."""

    NONE = 0
    NEW = 1
    ONNX = 2
    DATA_PROP = 4
    BUILDER = 8


class OptimizationOptions:
    """patterns: see get_pattern_list; "default" where nothing is said, None for no pattern.

    remove_unused: nodes that nobody uses go (with patterns always). remove_identity: Identity nodes go. constant_folding: True, False, or
    the names of the operators that fold; constant_size: elements of a folded result at most. remove_duplicated_shape,
    remove_duplicated_initializer: equal Shape nodes and equal initializers become one.
    recursive: also in bodies. max_iter: iterations at most, -1 for no limit of your own. stop_after: rewrites at most, -1 for no limit.
    verifies: check every invariant of the graph after each rewrite (slow). dump_applied_patterns: a folder, as DUMPPATTERNS.
    passes: which of PASSES are done at all; they come in the order of the engine. processor: kept, the same rules run for all.
    allowed: "exact", "reassociating" or "approximate"; None: reassociating, and what approximates where its own name was given.
    verbose: 1 prints what is done, 10 also why patterns do not match.
    """

    def __init__(
        self,
        remove_unused: bool = True,
        constant_folding: bool | Iterable[str] = True,
        constant_size: int = 1024,
        constant_fusing: bool = True,
        remove_identity: bool = True,
        remove_duplicated_initializer: bool = True,
        remove_duplicated_shape: bool = True,
        patterns: Patterns = "default",
        max_iter: int = -1,
        recursive: bool = True,
        stop_after: int = -1,
        verbose: int = 0,
        verifies: bool = False,
        dump_applied_patterns: str | None = None,
        processor: str = "CPU",
        order: Any = None,
        passes: Iterable[str] | None = None,
        allowed: str | None = None,
    ) -> None:
        self.passes = PASSES if passes is None else tuple(passes)
        unknown = set(self.passes) - set(PASSES)
        if unknown:
            raise ValueError(f"unknown passes {sorted(unknown)}: expected some of {', '.join(PASSES)}")
        env = Environment.read()
        self.verbose = max(verbose, env.verbose)
        self.patterns: list[Pattern] = get_pattern_list(patterns, verbose=verbose) if "patterns" in self.passes else []
        if self.patterns and not remove_unused:
            raise ValueError("with patterns, nodes that nobody uses are always removed: remove_unused=False needs patterns=None")
        self.remove_unused = remove_unused
        if "constant_folding" not in self.passes:
            constant_folding = False
        self.constant_folding = constant_folding if isinstance(constant_folding, bool) else set(constant_folding)
        self.constant_size = constant_size
        self.constant_fusing = constant_fusing
        self.remove_identity = remove_identity and "remove_identity" in self.passes
        self.remove_duplicated_initializer = remove_duplicated_initializer and "remove_duplicated_initializer" in self.passes
        self.remove_duplicated_shape = remove_duplicated_shape
        self.max_iter = max_iter
        self.recursive = recursive
        self.stop_after = stop_after
        self.verifies = verifies
        self.dump_applied_patterns = dump_applied_patterns
        self.processor = processor
        self.order = order
        self.allowed = allowed

    def __repr__(self) -> str:
        named = [f"{p.name}({', '.join(r.name for r in p.rules)})" if isinstance(p, EnginePattern) else p.name for p in self.patterns]
        return f"OptimizationOptions(patterns=[{', '.join(named)}])"
