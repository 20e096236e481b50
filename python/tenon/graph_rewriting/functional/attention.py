# SPDX-License-Identifier: Apache-2.0
"""gpt_attention: one opaque layer, whose definition in plain ops is Tenon's op tenon::GPTAttention."""

from __future__ import annotations

from typing import Any

from ..flayer import record_signature
from ..tensor import Tensor


@record_signature
def gpt_attention(
    *,
    qkv: Tensor,
    past_key_value: Tensor | None = None,
    context_lengths: Tensor | None = None,
    num_heads: int,
    num_kv_heads: int | None = None,
    hidden_size_per_head: int,
    q_scaling: float = 1.0,
    qkv_bias: Tensor | None = None,
    **others: Any,
) -> tuple[Tensor, Tensor]:
    """Causal self-attention of qkv [batch, tokens, (num_heads + 2 * num_kv_heads) * hidden_size_per_head]: Q before K before V, to each of
    which `qkv_bias` is added. The softmax sees q . k / (q_scaling * sqrt(hidden_size_per_head)).
    With context_lengths [sequences] and a batch of 1 the padding is removed: the sequences are concatenated, and no token sees
    another sequence. Returns (output, present_key_value [batch, 2, num_kv_heads, past + tokens, hidden_size_per_head]).
    Raises NotImplementedError for any other argument that is not None."""
    for name, value in others.items():
        if value is not None:
            raise NotImplementedError(f"not supported yet: {name}")
    batch, sequences = qkv.shape[0], context_lengths.shape[0] if context_lengths is not None else -1
    attributes = {
        "num_heads": num_heads,
        "num_kv_heads": num_heads if num_kv_heads is None else num_kv_heads,
        "head_size": hidden_size_per_head,
        "q_scaling": float(q_scaling),
        "packed": int(context_lengths is not None and batch == 1 and sequences != 1),
    }
    operands = [tensor.value if tensor is not None else None for tensor in (qkv, context_lengths, past_key_value, qkv_bias)]
    while operands[-1] is None:
        operands.pop()
    output, present = qkv.network.insert("GPTAttention", operands, attributes, outputs=2, domain="tenon", kind="PLUGIN_V2_GPTAttention")
    return output, present
