# SPDX-License-Identifier: Apache-2.0
"""A GGUF file as llama.cpp runs it, through the C interface that llama-cpp-python binds.

Inputs: `tokens` run behind `past`, one at a time where `decodes` is 1, else 512 at once; `context` is the room of the cache in tokens.
All else is as llama.cpp has it: a cache of f16, flash attention where it takes it. With `wants_logits` those of each run are kept.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import llama_cpp
import numpy as np

CHUNK = 512
ALL = -1  # sequences; also the end of a range of positions


class Llama:
    """A model and its context. Calling it runs the tokens; prepare() makes what comes before them that of the inputs."""

    def __init__(self, path: str, feeds: dict[str, np.ndarray], threads: int) -> None:
        self.feeds = feeds
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            raise ValueError(f"llama.cpp cannot read {path}")
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = int(feeds["context"][0]), CHUNK, CHUNK
        params.n_threads = params.n_threads_batch = threads
        self.context = llama_cpp.llama_init_from_model(self.model, params)
        if not self.context:
            raise ValueError(f"llama.cpp makes no context of {params.n_ctx} tokens")
        self.memory = llama_cpp.llama_get_memory(self.context)
        self.vocabulary = llama_cpp.llama_vocab_n_tokens(llama_cpp.llama_model_get_vocab(self.model))
        self.cached: list[int] = []

    def run(self, tokens: list[int]) -> None:
        batch = llama_cpp.llama_batch_get_one((ctypes.c_int32 * len(tokens))(*tokens), len(tokens))
        if (code := llama_cpp.llama_decode(self.context, batch)) != 0:
            raise ValueError(f"llama_decode returns {code}")
        self.cached += tokens

    def logits(self) -> np.ndarray:
        """Of the last token that ran."""
        pointer = llama_cpp.llama_get_logits_ith(self.context, -1)
        return np.ctypeslib.as_array(pointer, (self.vocabulary,))

    def prepare(self) -> None:
        past = self.feeds["past"].tolist()
        if not past or self.cached[: len(past)] != past:
            llama_cpp.llama_memory_clear(self.memory, False)
            self.cached = []
            for begin in range(0, len(past), CHUNK):
                self.run(past[begin : begin + CHUNK])
        llama_cpp.llama_memory_seq_rm(self.memory, ALL, len(past), ALL)
        self.cached = self.cached[: len(past)]

    def __call__(self) -> list[np.ndarray]:
        tokens, step = self.feeds["tokens"].tolist(), 1 if self.feeds["decodes"][0] else CHUNK
        kept = []
        for begin in range(0, len(tokens), step):
            self.run(tokens[begin : begin + step])
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
