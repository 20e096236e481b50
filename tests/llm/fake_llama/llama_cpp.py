# SPDX-License-Identifier: Apache-2.0
"""In the place of llama-cpp-python, which takes minutes to compile: what tools/bench/llama_peer.py calls. Logits are a line."""

import ctypes

import numpy as np

__version__ = "fake"
VOCABULARY = 32
llama_log_callback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class Params:
    n_ctx = 0


class Cache:
    def __init__(self) -> None:
        self.length = 0


cache = Cache()
logits = np.zeros(VOCABULARY, np.float32)


def llama_batch_get_one(tokens: ctypes.Array, count: int) -> list[int]:
    return list(tokens)[:count]


def llama_decode(context: Params, batch: list[int]) -> int:
    cache.length += len(batch)
    if cache.length > context.n_ctx:
        return 1
    logits[:] = np.arange(VOCABULARY) * 0.1
    return 0


def llama_memory_seq_rm(memory: Cache, sequence: int, begin: int, end: int) -> bool:
    memory.length = min(memory.length, begin)
    return True


def llama_memory_clear(memory: Cache, data: bool) -> None:
    memory.length = 0


def llama_get_logits_ith(context: Params, index: int) -> ctypes.Array:
    return logits.ctypes.data_as(ctypes.POINTER(ctypes.c_float))


def llama_init_from_model(model: str, params: Params) -> Params:
    return params


def llama_model_load_from_file(path: bytes, params: Params) -> str:
    return path.decode()


def llama_get_memory(context: Params) -> Cache:
    return cache


def llama_vocab_n_tokens(vocabulary: int) -> int:
    return vocabulary


def llama_model_get_vocab(model: str) -> int:
    return VOCABULARY


def llama_log_set(callback: object, data: object) -> None:
    pass


def llama_backend_init() -> None:
    pass


llama_model_default_params = llama_context_default_params = Params
