# SPDX-License-Identifier: Apache-2.0
"""Loads the engine files that Tenon writes, and runs them; has no compiler inside.

>>> engine = tenon_runtime.load("model.tenon")
>>> engine.run({"x": array})["y"]
"""

from __future__ import annotations

from ._error import TenonError
from ._log import set_log_level
from ._profile import Profile, StepTime
from ._tenon_runtime import Context, Engine, Entry, Port, State, StopToken, ThreadPool, load

__all__ = [
    "Context",
    "Engine",
    "Entry",
    "Port",
    "Profile",
    "State",
    "StepTime",
    "StopToken",
    "ThreadPool",
    "TenonError",
    "load",
    "set_log_level",
]
__version__ = "0.1.0"
