# SPDX-License-Identifier: Apache-2.0
"""The environment variables of the pattern optimizer, read when an optimisation starts."""

from __future__ import annotations

import os
from dataclasses import dataclass, field


def short_name(name: str) -> str:
    """NotNotPattern and NotNot are one name."""
    return name.removesuffix("Pattern")


def _number(text: str) -> int:
    return int(text) if text.strip().lstrip("-").isdigit() else 0


def _names(text: str) -> set[str]:
    return {short_name(n.strip()) for n in text.split(",") if n.strip()}


@dataclass
class Environment:
    verbose: int = 0  # LOG_PATTERN_OPTIMIZE
    loud: set[str] = field(default_factory=set)  # PATTERN
    dropped: set[str] = field(default_factory=set)  # DROPPATTERN
    dump: str = ""  # DUMPPATTERNS
    no_remove: str = ""  # PATTERNNOREMOVE
    step: bool = False  # PATTERNSTEP

    @staticmethod
    def read() -> Environment:
        get = os.environ.get
        return Environment(
            verbose=_number(get("LOG_PATTERN_OPTIMIZE", "")),
            loud=_names(get("PATTERN", "")),
            dropped=_names(get("DROPPATTERN", "")),
            dump=get("DUMPPATTERNS", ""),
            no_remove=get("PATTERNNOREMOVE", ""),
            step=get("PATTERNSTEP", "").lower() in ("1", "true"),
        )

    def verbosity(self, names: set[str], given: int) -> int:
        """The verbosity of a pattern with these names: the highest of those given."""
        short = {short_name(n) for n in names}
        own = [_number(os.environ.get(n, "")) for name in short for n in (name, f"{name}Pattern")]
        return max([given, self.verbose, *own, 10 if short & self.loud else 0])
