# SPDX-License-Identifier: Apache-2.0
"""Networks that the tests of graph rewriting share."""

from __future__ import annotations

from typing import Any

import numpy as np
from tenon.graph_rewriting import Network, Tensor, functional, gpt_attention, net_guard, trt

BATCH, TOKENS, HEADS, HEAD_SIZE = 2, 4, 2, 4
WIDTH = HEADS * HEAD_SIZE


def weights(dtype: str = "float32", kv_heads: int = HEADS) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(7)
    columns = (HEADS + 2 * kv_heads) * HEAD_SIZE
    return random.standard_normal((WIDTH, columns)).astype(dtype), random.standard_normal(columns).astype(dtype)


def attention_network(
    bias_shape: tuple[int, ...] | None = None, dtype: trt.DataType = trt.float32, lengths: bool = False, **options: Any
) -> Network:
    """input -> a linear layer (product, sum with its bias) -> gpt_attention -> output, present_key_value."""
    weight, bias = weights("float16" if dtype == trt.float16 else "float32")
    network = Network()
    with net_guard(network):
        x = Tensor(name="input", dtype=dtype, shape=(BATCH, TOKENS, WIDTH))
        product = functional.matmul(x, functional.constant(weight))
        qkv = product + functional.constant(bias.reshape(bias_shape or bias.shape))
        if lengths:
            options["context_lengths"] = Tensor(name="context_lengths", dtype=trt.int32, shape=(BATCH,))
        output, present = gpt_attention(qkv=qkv, num_heads=HEADS, hidden_size_per_head=HEAD_SIZE, **options)
        output.mark_output("output")
        present.mark_output("present_key_value")
    return network


def some_input(dtype: str = "float32") -> dict[str, np.ndarray]:
    return {"input": np.random.default_rng(3).standard_normal((BATCH, TOKENS, WIDTH)).astype(dtype)}


def names_of(network: Network) -> list[str]:
    return [layer.name for layer in network.get_layers()]


def ops_of(network: Network) -> list[str]:
    return [layer.op_type for layer in network.get_layers()]


def attention_by_numpy(qkv: np.ndarray, heads: int = HEADS, kv_heads: int = HEADS, scaling: float = 1.0) -> np.ndarray:
    """One sequence [tokens, columns] at a time, written down as slowly as possible."""
    tokens = qkv.shape[0]
    q, k, v = np.split(qkv, [heads * HEAD_SIZE, (heads + kv_heads) * HEAD_SIZE], axis=1)
    out = np.zeros((tokens, heads * HEAD_SIZE))
    for head in range(heads):
        columns = slice(head * HEAD_SIZE, (head + 1) * HEAD_SIZE)
        shared = head // (heads // kv_heads)
        kv_columns = slice(shared * HEAD_SIZE, (shared + 1) * HEAD_SIZE)
        for token in range(tokens):
            scores = k[: token + 1, kv_columns] @ q[token, columns] / (scaling * np.sqrt(HEAD_SIZE))
            weight = np.exp(scores - scores.max())
            out[token, columns] = (weight / weight.sum()) @ v[: token + 1, kv_columns]
    return out


def small(build, shape=(2, 3)) -> Network:
    """A network of one input x whose outputs `build(x)` gives."""
    network = Network()
    with net_guard(network):
        made = build(Tensor(name="x", dtype=trt.float32, shape=shape))
        for k, tensor in enumerate(made if isinstance(made, (list, tuple)) else [made]):
            tensor.mark_output(f"y{k}")
    return network
