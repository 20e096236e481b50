# SPDX-License-Identifier: Apache-2.0
"""Declared networks and patterns over their layers, as TensorRT-LLM's graph rewriting has them, on Tenon's engine.

>>> network = Network()
>>> with net_guard(network):
...     x = Tensor(name="x", dtype=trt.float32, shape=(2, 3))
...     (x + x).mark_output("y")
"""

from __future__ import annotations

from . import functional, trt
from .context import default_net, default_trtnet, net_guard
from .flayer import FLayerInfo, FLayerInfoMemo, record_signature
from .functional import gpt_attention
from .layer import Layer
from .managers import AnalysisPatternManager, RewritePatternManager, RewriteWarning
from .network import Network
from .passes import FuseAttentionWithBiasPass, optimize
from .patterns import PatternAnalyzer, PatternRewriter
from .tensor import Tensor

__all__ = [
    "AnalysisPatternManager",
    "FLayerInfo",
    "FLayerInfoMemo",
    "FuseAttentionWithBiasPass",
    "Layer",
    "Network",
    "PatternAnalyzer",
    "PatternRewriter",
    "RewritePatternManager",
    "RewriteWarning",
    "Tensor",
    "default_net",
    "default_trtnet",
    "functional",
    "gpt_attention",
    "net_guard",
    "optimize",
    "record_signature",
    "trt",
]
