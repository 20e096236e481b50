# SPDX-License-Identifier: Apache-2.0
"""Tenon compiles neural networks: an ONNX model becomes an engine, an engine runs.

>>> engine = tenon.compile("model.onnx")
>>> engine.run({"x": array})["y"]
"""

from __future__ import annotations

from ._build_config import BuildConfig, PluginConfig
from ._error import TenonError
from ._llm import LLM
from ._log import set_log_level
from ._plugin_test import test_plugin
from ._plugins import Operand, plugin, sized_by_data
from ._profile import Profile, StepTime
from ._tenon import Context, Engine, Entry, Port, SizedByData, State, StopToken, SymbolicSize, ThreadPool, compile, load, partition

__all__ = [
    "BuildConfig",
    "Context",
    "Engine",
    "Entry",
    "LLM",
    "Operand",
    "PluginConfig",
    "Port",
    "Profile",
    "SizedByData",
    "State",
    "StepTime",
    "StopToken",
    "SymbolicSize",
    "ThreadPool",
    "TenonError",
    "compile",
    "load",
    "partition",
    "plugin",
    "set_log_level",
    "sized_by_data",
    "test_plugin",
]
__version__ = "0.1.0"
