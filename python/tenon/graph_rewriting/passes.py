# SPDX-License-Identifier: Apache-2.0
"""Rewrites of declared networks that come with Tenon."""

from __future__ import annotations

from typing import Any

from .context import net_guard
from .flayer import FLayerInfoMemo
from .functional import gpt_attention, view
from .layer import Layer
from .managers import RewritePatternManager
from .network import Network
from .patterns import PatternRewriter
from .tensor import Tensor
from .trt import ElementWiseOperation, LayerType

_DEEPEST = 10


class FuseAttentionWithBiasPass(PatternRewriter):
    """gpt_attention(qkv = x + bias) => gpt_attention(qkv = x, qkv_bias = bias), where the bias is constant and one number a column."""

    def __init__(self) -> None:
        super().__init__("fuse_attention_with_bias", root_layer={LayerType.PLUGIN_V2})

    def match_and_rewrite(self, layer: Layer) -> bool:
        found = self._found(layer)
        if found is None:
            return False
        info, x, bias = found
        with net_guard(layer.network):
            inputs = {**info.clone_inputs(), "qkv": x, "qkv_bias": bias if bias.rank() == 1 else view(bias, [-1])}
            info.replace_outputs_uses_with(layer.network, gpt_attention(**inputs))
            layer.mark_as_removed()
        return True

    def _found(self, layer: Layer) -> tuple[Any, Tensor, Tensor] | None:
        """(info, x, bias)"""
        if layer.is_removed() or not is_attention(layer):
            return None
        with net_guard(layer.network):
            info = FLayerInfoMemo.instance().get(layer.name)
        if info is None or info.get_input("qkv_bias") is not None:
            return None
        qkv = info.get_input("qkv")
        parent = qkv.get_parent()
        if parent is None or not is_sum(parent) or len(qkv.get_users()) != 1:
            return None
        constant = [tensor for tensor in parent.get_inputs() if is_constant(tensor)]
        others = [tensor for tensor in parent.get_inputs() if tensor not in constant]
        if len(constant) != 1 or len(others) != 1 or not self._is_bias(constant[0], others[0], qkv):
            return None
        return info, others[0], constant[0]

    @staticmethod
    def _is_bias(bias: Tensor, x: Tensor, qkv: Tensor) -> bool:
        """One number a column, and x has the shape of the sum already."""
        width = qkv.shape[-1]
        columns = bias.shape[-1:] == (width,) and all(size == 1 for size in bias.shape[:-1]) and bias.rank() <= qkv.rank()
        return columns and x.value.shape == qkv.value.shape


def is_attention(layer: Layer) -> bool:
    if layer.type != LayerType.PLUGIN_V2:
        return False
    plugin = layer.as_layer().plugin
    return plugin.plugin_namespace == "tensorrt_llm" and plugin.plugin_type == "GPTAttention"


def is_sum(layer: Layer) -> bool:
    return layer.type == LayerType.ELEMENTWISE and layer.as_layer().op == ElementWiseOperation.SUM


def is_constant(tensor: Tensor, depth: int = 0) -> bool:
    """Made from constants alone, in at most 10 layers."""
    parent = tensor.get_parent()
    if parent is None or depth > _DEEPEST:
        return False
    if parent.type == LayerType.CONSTANT:
        return True
    inputs = parent.get_inputs()
    return bool(inputs) and all(is_constant(operand, depth + 1) for operand in inputs)


def optimize(net: Network) -> dict[str, Any]:
    """Runs the rewrites of this file. Returns the engine's statistics."""
    patterns = RewritePatternManager()
    patterns.add("fuse_attention_with_bias", FuseAttentionWithBiasPass())
    return patterns.rewrite(net)
