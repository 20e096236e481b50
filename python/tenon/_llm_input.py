# SPDX-License-Identifier: Apache-2.0
"""What callers give a language model: texts, the turns of a chat and the options of an answer, checked before it runs."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import TypedDict

from ._error import TenonError


class Message(TypedDict):
    """One turn of a chat."""

    role: str
    """ "system", "user", "assistant", or what else the model's chat template has."""
    content: str


class AnswerOptions(TypedDict, total=False):
    """How tokens are chosen, and what ends an answer. The standard values are llama.cpp's."""

    temperature: float
    """Divides logits; 0: always the likeliest token. 0.8 where it is not given."""
    top_k: int
    """Keeps the k likeliest tokens; 0: all. 40 where it is not given."""
    top_p: float
    """Keeps the likeliest tokens until their probabilities add up to it. 0.95 where it is not given."""
    min_p: float
    """Keeps tokens at least this fraction as likely as the likeliest. 0.05 where it is not given."""
    repetition_penalty: float
    presence_penalty: float
    frequency_penalty: float
    seed: int | None
    """Equal seeds give equal answers; None: another one each time. 0 .. 2^64 - 1."""
    max_tokens: int
    """Of an answer; 0: until it ends, or the context is full."""
    stop: str | Sequence[str]
    """Texts that end an answer, without being part of it."""
    threads: int
    """At most; 0: one for each CPU that the process may use."""


_BITS = {"top_k": 64, "max_tokens": 64, "threads": 32}
_TURN = '{"role": "user", "content": "Hello"}'


def sound_text(value: object, place: str) -> str:
    """The value, which is a text that can be encoded. Raises TenonError (bad_input)."""
    if not isinstance(value, str):
        raise TenonError("bad_input", place, "this is no text", "str", type(value).__name__, "")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        found = f"U+{ord(value[error.start]):04X} at character {error.start}"
        raise TenonError("bad_input", place, "the text cannot be encoded", "characters of Unicode", found, "") from None
    return value


def sound_texts(value: object, place: str) -> list[str]:
    """A list of texts; of one, that alone. Raises TenonError (bad_input)."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, Sequence):
        raise TenonError("bad_input", place, "this is no list of texts", "a list of str", type(value).__name__, "")
    return [sound_text(item, f"{place}[{k}]") for k, item in enumerate(value)]


def turns(messages: Sequence[Message]) -> list[tuple[str, str]]:
    """Roles and contents. Raises TenonError: bad_input (what is no list of turns, the turn is named); not_supported (what a turn has
    besides them: tool calls, parts).
    """
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Sequence):
        raise TenonError("bad_input", "messages", "this is no list of turns", f"[{_TURN}]", type(messages).__name__, "")
    if not messages:
        raise TenonError("bad_input", "messages", "a chat has one turn or more", f"[{_TURN}]", "none", "")
    return [_turn(message, f"messages[{k}]") for k, message in enumerate(messages)]


def _turn(message: Message, place: str) -> tuple[str, str]:
    if not isinstance(message, Mapping):
        raise TenonError("bad_input", place, "a turn is a dict", _TURN, type(message).__name__, "")
    if missing := [key for key in ("role", "content") if key not in message]:
        found = ", ".join(map(repr, message)) or "none"
        raise TenonError("bad_input", place, f"the turn has no {' and no '.join(map(repr, missing))}", _TURN, f"the keys {found}", "")
    if more := [key for key in message if key not in ("role", "content") and message[key] is not None]:
        named, advice = ", ".join(map(repr, more)), "leave it out, or write it into the content"
        raise TenonError("not_supported", place, f"not supported yet: {named} of a turn", _TURN, named, advice)
    if isinstance(message["content"], list):
        advice = "give the text of its parts as one"
        raise TenonError("not_supported", f"{place}['content']", "not supported yet: a content in parts", "str", "list", advice)
    return sound_text(message["role"], f"{place}['role']"), sound_text(message["content"], f"{place}['content']")


def answer_options(options: AnswerOptions) -> dict[str, object]:
    """The options that are given. Raises TenonError (bad_usage): an option that there is not, with the nearest; one of another type."""
    return {name: _option(name, value) for name, value in options.items()}


def _option(name: str, value: object) -> object:
    known = list(AnswerOptions.__annotations__)
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        raise TenonError("bad_usage", name, "there is no such option", ", ".join(known), name, f"{near[0]}=" if near else "")
    if name == "stop":
        return sound_texts(value, name)
    if name == "seed":
        if value is None or (isinstance(value, Integral) and 0 <= value < 2**64):
            return value
        raise TenonError("bad_usage", name, "this is no seed", "an integer, 0 .. 2^64 - 1, or None", repr(value), "")
    if name in _BITS:
        if isinstance(value, Integral) and abs(value) < 2 ** (_BITS[name] - 1):
            return int(value)
        raise TenonError("bad_usage", name, "the option is an integer", f"an int of {_BITS[name]} bits", repr(value), "")
    if isinstance(value, Real):
        return float(value)
    raise TenonError("bad_usage", name, "the option is a number", "a float", repr(value), "")
