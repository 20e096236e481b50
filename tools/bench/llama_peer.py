# SPDX-License-Identifier: Apache-2.0
"""A GGUF file as llama.cpp runs it, through the C interface that llama-cpp-python binds.

Inputs, [batch, count]: `tokens` run behind `past`, one of each sequence at a time where `decodes` is 1, else at most 512 of all sequences
at once; `context` is the room of the cache, in tokens of a sequence. All else is as llama.cpp has it: a cache of f16, flash attention where
it takes it. With `wants_logits` those of each run are kept, of the last sequence.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import llama_cpp
import numpy as np

CHUNK = 512
ALL = -1  # sequences; also the end of a range of positions


class Batches:
    """A llama_batch for so many sequences, whose arrays NumPy writes."""

    def __init__(self, sequences: int) -> None:
        self.count = sequences
        self.batch = llama_cpp.llama_batch_init(max(CHUNK, sequences), 0, 1)
        size = (max(CHUNK, sequences),)
        self.tokens, self.positions, self.counts, self.wanted = (
            np.ctypeslib.as_array(each, size) for each in (self.batch.token, self.batch.pos, self.batch.n_seq_id, self.batch.logits)
        )
        self.counts[:] = 1
        self.each = 0

    def of(self, tokens: np.ndarray, begin: int) -> object:
        """The next tokens of each sequence, [batch, count], at the positions begin, begin + 1, ..."""
        each, n = tokens.shape[1], tokens.size
        if each != self.each:
            for k in range(n):
                self.batch.seq_id[k][0] = k // each
            self.wanted[:n] = np.arange(n) % each == each - 1
            self.each = each
        self.tokens[:n] = tokens.reshape(-1)
        self.positions[:n].reshape(tokens.shape)[:] = np.arange(begin, begin + each)
        self.batch.n_tokens = n
        return self.batch

    def free(self) -> None:
        llama_cpp.llama_batch_free(self.batch)


class Llama:
    """A model and its context, which is made anew for another number of sequences. Calling it runs the tokens; prepare() makes what comes
    before them that of the inputs."""

    def __init__(self, path: str, feeds: dict[str, np.ndarray], threads: int) -> None:
        self.feeds = feeds
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            raise ValueError(f"llama.cpp cannot read {path}")
        self.vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        self.threads = threads
        self.context = None
        self.make_context(len(feeds["tokens"]))

    def make_context(self, sequences: int) -> None:
        if self.context:
            llama_cpp.llama_free(self.context)
            self.batches.free()
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = int(self.feeds["context"][0]) * sequences, max(CHUNK, sequences), CHUNK
        params.n_seq_max = sequences
        params.n_threads = params.n_threads_batch = self.threads
        self.context = llama_cpp.llama_init_from_model(self.model, params)
        if not self.context:
            raise ValueError(f"llama.cpp makes no context of {params.n_ctx} tokens")
        self.memory = llama_cpp.llama_get_memory(self.context)
        self.batches = Batches(sequences)
        self.cached = np.zeros((sequences, 0), np.int64)

    def run(self, tokens: np.ndarray, begin: int) -> None:
        if (code := llama_cpp.llama_decode(self.context, self.batches.of(tokens, begin))) != 0:
            raise ValueError(f"llama_decode returns {code}")

    def logits(self) -> np.ndarray:
        """Of the last token that ran."""
        pointer = llama_cpp.llama_get_logits_ith(self.context, -1)
        return np.ctypeslib.as_array(pointer, (self.vocabulary,))

    def prepare(self) -> None:
        past = self.feeds["past"]
        sequences, length = past.shape
        if sequences != self.batches.count:
            self.make_context(sequences)
        if length == 0 or not np.array_equal(self.cached, past):
            llama_cpp.llama_memory_clear(self.memory, False)
            step = max(1, CHUNK // sequences)
            for begin in range(0, length, step):
                self.run(past[:, begin : begin + step], begin)
            self.cached = past
        llama_cpp.llama_memory_seq_rm(self.memory, ALL, length, ALL)

    def __call__(self) -> list[np.ndarray]:
        tokens, first = self.feeds["tokens"], self.feeds["past"].shape[1]
        step = 1 if self.feeds["decodes"][0] else max(1, CHUNK // len(tokens))
        kept = []
        for begin in range(0, tokens.shape[1], step):
            self.run(tokens[:, begin : begin + step], first + begin)
            last = self.logits()
            if self.feeds["wants_logits"][0]:
                kept.append(last.copy())
        return [np.stack(kept)] if kept else []


@llama_cpp.llama_log_callback
def log_nothing(level: int, text: bytes, data: ctypes.c_void_p) -> None:
    pass


def load(path: str, feeds: dict[str, np.ndarray], threads: int) -> tuple[Callable[[], list[np.ndarray]], str]:
    llama_cpp.llama_log_set(log_nothing, None)
    return Llama(path, feeds, threads), llama_cpp.__version__
