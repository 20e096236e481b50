# SPDX-License-Identifier: Apache-2.0
"""Compiles PyTorch modules: ops that Tenon supports run in its engines, the others in PyTorch.

>>> fast = tenon.torch.compile(module.eval(), inputs=[example])
>>> fast(x)
>>> torch.compile(module.eval(), backend="tenon")
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as e:
    raise ImportError("tenon.torch needs PyTorch: pip install 'torch>=2.8'") from e

from .ahead import Compiled, compile
from .capture import Input

__all__ = ["Compiled", "Input", "compile"]
