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
    past_lengths: Tensor | None = None,
    page_table: Tensor | None = None,
    tokens_per_block: int = 0,
    window: Tensor | None = None,
    mask_type: int = 1,
    position_embedding_type: int = 0,
    rotary_embedding_dim: int = 0,
    rotary_embedding_base: float = 10000.0,
    rotary_embedding_scale_type: int = 0,
    rotary_embedding_scale: float = 1.0,
    attn_logit_softcapping_scale: float = 0.0,
    logn_scaling: Tensor | None = None,
    **others: Any,
) -> tuple[Tensor, Tensor]:
    """Self-attention of qkv [batch, tokens, (num_heads + 2 * num_kv_heads) * hidden_size_per_head]: Q before K before V, to each of
    which `qkv_bias` is added. The softmax sees q . k / (q_scaling * sqrt(hidden_size_per_head)), with c = attn_logit_softcapping_scale
    above 0 these scores s as c * tanh(s / c). mask_type: 0 padding, 1 causal, 2 causal among the last `window` (i32[1]) keys.
    With context_lengths [sequences] and a batch of 1 the padding is removed: the sequences are concatenated, and no token sees
    another sequence. past_lengths [sequences] gives each its own past, in past_key_value [sequences, 2, num_kv_heads, rows,
    hidden_size_per_head] or, with page_table [sequences, pages of one], [pages, 2, num_kv_heads, tokens_per_block, hidden_size_per_head].
    position_embedding_type: 0 none, 1 rope_gptj, 2 rope_gpt_neox, over rotary_embedding_dim elements of a head; scale type 1: positions
    are divided by rotary_embedding_scale. logn_scaling: f32, element t multiplies the query at position t.
    Returns (output, present_key_value): [batch, 2, num_kv_heads, past + tokens, hidden_size_per_head], with past_lengths the shape of
    past_key_value. Raises NotImplementedError for any other argument that is not None, ValueError for a mask_type without its operand."""
    for name, value in others.items():
        if value is not None:
            raise NotImplementedError(f"not supported yet: {name}")
    if mask_type not in (0, 1, 2):
        raise NotImplementedError(f"not supported yet: mask_type {mask_type}; masks are 0 (padding), 1 (causal) and 2 (sliding window)")
    if (mask_type == 2) != (window is not None):
        raise ValueError(
            f"mask_type 2 needs window, others take none; found mask_type {mask_type} {'without' if window is None else 'with'} window"
        )
    batch, sequences = qkv.shape[0], context_lengths.shape[0] if context_lengths is not None else -1
    is_packed = past_lengths is not None or (context_lengths is not None and batch == 1 and sequences != 1)
    if mask_type == 0 and not is_packed:
        raise NotImplementedError("not supported yet: mask_type 0 (padding) in a batch: give context_lengths and remove the padding")
    attributes: dict[str, int | float] = {
        "num_heads": num_heads,
        "num_kv_heads": num_heads if num_kv_heads is None else num_kv_heads,
        "head_size": hidden_size_per_head,
        "q_scaling": float(q_scaling),
        "packed": int(is_packed),
    }
    if mask_type == 0:
        attributes["causal"] = 0
    if attn_logit_softcapping_scale != 0:
        attributes["attn_logit_softcapping_scale"] = float(attn_logit_softcapping_scale)
    if page_table is not None:
        attributes["tokens_per_block"] = tokens_per_block
    if position_embedding_type != 0:
        attributes |= {
            "position_embedding_type": int(position_embedding_type),
            "rotary_embedding_dim": rotary_embedding_dim,
            "rotary_embedding_base": float(rotary_embedding_base),
            "rotary_embedding_scale_type": int(rotary_embedding_scale_type),
            "rotary_embedding_scale": float(rotary_embedding_scale),
        }
    tensors = (qkv, context_lengths, past_key_value, qkv_bias, past_lengths, page_table, window, logn_scaling)
    operands = [tensor.value if tensor is not None else None for tensor in tensors]
    while operands[-1] is None:
        operands.pop()
    output, present = qkv.network.insert("GPTAttention", operands, attributes, outputs=2, domain="tenon", kind="PLUGIN_V2_GPTAttention")
    return output, present
