# SPDX-License-Identifier: Apache-2.0
"""In the place of llama-cpp-python, which takes minutes to compile: what tools/bench/llama_peer.py calls. Logits are a line."""

import ctypes

import numpy as np

__version__ = "fake"
VOCABULARY = 32
llama_log_callback = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)


class Params:
    n_ctx = n_seq_max = 0


class Batch:
    def __init__(self, size: int) -> None:
        self.n_tokens = 0
        self.token, self.pos, self.n_seq_id = ((ctypes.c_int32 * size)() for _ in range(3))
        self.seq_id, self.logits = [[0] for _ in range(size)], (ctypes.c_int8 * size)()


class Cache:
    def __init__(self) -> None:
        self.lengths: dict[int, int] = {}


cache = Cache()
logits = np.zeros(VOCABULARY, np.float32)


def llama_batch_init(size: int, embeddings: int, sequences: int) -> Batch:
    return Batch(size)


def llama_batch_free(batch: Batch) -> None:
    pass


def llama_decode(context: Params, batch: Batch) -> int:
    """Fails where a token does not follow its sequence, has no room, or where the last one of a sequence alone does not want logits."""
    wanted = {}
    for k in range(batch.n_tokens):
        sequence = batch.seq_id[k][0]
        length = cache.lengths.get(sequence, 0)
        fits = sequence < context.n_seq_max and length < context.n_ctx // context.n_seq_max
        if not fits or batch.n_seq_id[k] != 1 or batch.pos[k] != length or wanted.get(sequence):
            return 1
        cache.lengths[sequence] = length + 1
        wanted[sequence] = batch.logits[k]
    logits[:] = np.arange(VOCABULARY) * 0.1
    return 0 if len(wanted) == context.n_seq_max and all(wanted.values()) else 1


def llama_memory_seq_rm(memory: Cache, sequence: int, begin: int, end: int) -> bool:
    memory.lengths = {each: min(length, begin) for each, length in memory.lengths.items()}
    return True


def llama_memory_clear(memory: Cache, data: bool) -> None:
    memory.lengths = {}


def llama_get_logits_ith(context: Params, index: int) -> ctypes.Array:
    return logits.ctypes.data_as(ctypes.POINTER(ctypes.c_float))


def llama_init_from_model(model: str, params: Params) -> Params:
    cache.lengths = {}
    return params


def llama_free(context: Params) -> None:
    pass


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
