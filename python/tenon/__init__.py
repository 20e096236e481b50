# SPDX-License-Identifier: Apache-2.0
"""Tenon compiles neural networks: an ONNX model becomes an engine, an engine runs.

>>> engine = tenon.compile("model.onnx")
>>> engine.run({"x": array})["y"]
"""

from __future__ import annotations

from ._error import TenonError
from ._plugins import plugin
from ._tenon import Engine, Port, SymbolicSize, Team, compile, load, partition

__all__ = ["Engine", "Port", "SymbolicSize", "Team", "TenonError", "compile", "load", "partition", "plugin"]
__version__ = "0.1.0"
