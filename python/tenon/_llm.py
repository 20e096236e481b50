# SPDX-License-Identifier: Apache-2.0
"""Language models: a GGUF file, a Hugging Face folder, an ONNX decoder or an engine that was built from one answers in text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal, overload

from ._build_config import BuildConfig, source_of
from ._llm_input import AnswerOptions, Message, answer_options, sound_text, turns
from ._tenon import _LanguageModel, _LanguageSession

if TYPE_CHECKING:
    from typing_extensions import Unpack


class LLM:
    """A language model and one cache: what a prompt has in common with the tokens before it is not computed again.

    >>> llm = tenon.LLM("model.gguf")
    >>> for text in llm.chat([{"role": "user", "content": "Hello"}], stream=True):
    ...     print(text, end="", flush=True)

    One thread at a time; an answer that begins ends the one that is under way.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        context: int = 0,
        lora: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
        weights: Literal["keep", "int8", "int4", "bf16", "f32"] = "keep",
        kv: Literal["f32", "f16", "bf16", "int8", "fp8"] = "f32",
        activations: Literal["f32", "bf16", "i8"] = "f32",
        window: int = 0,
        sinks: int = 0,
        build_config: BuildConfig | str | os.PathLike[str] | None = None,
        states: str | Sequence[str] = (),
    ) -> None:
        """model: an engine, a GGUF file, a Hugging Face folder or an ONNX decoder; all but the first are built once, into
        $XDG_CACHE_HOME/tenon/engines, with these options of tenon.compile. context: tokens that the cache has room for; 0: those of the
        model. lora: adapters that are merged into the weights, "FILE" or "FILE=0.5". weights: how the matrices of products are stored.
        kv: how the states of keys and values are. activations: what products with matrices in blocks round their other operand to.
        window: how many of the last tokens a token reads; the sequence then has no end. sinks: how many of the first ones it reads beside
        them. build_config: a BuildConfig of TensorRT-LLM, or a JSON file of one.
        states: pairs of an ONNX decoder's cache that its names do not say, "PAST=PRESENT". Raises TenonError.
        """
        adapters = [os.fspath(adapter) for adapter in ([lora] if isinstance(lora, (str, os.PathLike)) else lora)]
        pairs = [states] if isinstance(states, str) else list(states)
        self._model = _LanguageModel(
            os.fspath(model), context, adapters, weights, kv, activations, window, sinks, *source_of(build_config), pairs
        )
        self._session = _LanguageSession(self._model)
        self._answers = 0

    @property
    def context(self) -> int:
        """Tokens of prompt and answer that the cache has room for; 2**63 - 1 where the sequence has no end."""
        return self._model.context

    @property
    def vocabulary(self) -> int:
        """How many logits the model has."""
        return self._model.vocabulary

    def tokenize(self, text: str, *, add_special: bool = True, parse_special: bool = True) -> list[int]:
        """add_special: with what the tokenizer puts around a text. parse_special: special tokens that are written in the text become
        those; False: their letters, as is right for what strangers write.
        """
        return self._model.tokenize(sound_text(text, "text"), add_special, parse_special)

    def detokenize(self, tokens: Sequence[int]) -> str:
        """The text of tokens, special ones left out."""
        return self._model.detokenize(list(tokens))

    def chat_text(self, messages: Sequence[Message]) -> str:
        """What the model's chat template makes of the turns, up to where the answer begins."""
        return self._model.chat_text(turns(messages))

    @overload
    def chat(self, messages: Sequence[Message], *, stream: Literal[False] = False, **options: Unpack[AnswerOptions]) -> str: ...
    @overload
    def chat(self, messages: Sequence[Message], *, stream: Literal[True], **options: Unpack[AnswerOptions]) -> Iterator[str]: ...
    def chat(self, messages: Sequence[Message], *, stream: bool = False, **options: Unpack[AnswerOptions]) -> str | Iterator[str]:
        """Answers the last turn. stream: an iterator of its pieces, in whole characters, as they come. Raises TenonError: bad_input (what
        is no turn; the template refuses a role, or the prompt is longer than the context), bad_usage (options), not_supported (tool calls).
        """
        self._session.begin_chat(turns(messages), **answer_options(options))
        return self._answer(stream)

    @overload
    def generate(self, prompt: str, *, stream: Literal[False] = False, **options: Unpack[AnswerOptions]) -> str: ...
    @overload
    def generate(self, prompt: str, *, stream: Literal[True], **options: Unpack[AnswerOptions]) -> Iterator[str]: ...
    def generate(self, prompt: str, *, stream: bool = False, **options: Unpack[AnswerOptions]) -> str | Iterator[str]:
        """Continues a text. As chat() otherwise."""
        self._session.begin_generate(sound_text(prompt, "prompt"), **answer_options(options))
        return self._answer(stream)

    @property
    def last_answer(self) -> dict[str, object]:
        """What there is of the last answer: text, tokens, ended_by, prompt_tokens, reused_tokens, prompt_seconds, answer_seconds."""
        return self._session.answer()

    def _answer(self, stream: bool) -> str | Iterator[str]:
        self._answers += 1
        pieces = self._pieces(self._answers)
        return pieces if stream else "".join(pieces)

    def _pieces(self, number: int) -> Iterator[str]:
        while number == self._answers and (piece := self._session.next()) is not None:
            if piece:
                yield piece
