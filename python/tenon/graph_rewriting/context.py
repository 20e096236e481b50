# SPDX-License-Identifier: Apache-2.0
"""Which network functionals add their layers to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from .interfaces import DeclaredNetwork

Net = TypeVar("Net", bound=DeclaredNetwork)

_current: ContextVar[Any] = ContextVar("tenon_default_network", default=None)


def default_net() -> Any:
    """The Network of the innermost net_guard of this thread. Raises RuntimeError outside of every guard."""
    network = _current.get()
    if network is None:
        raise RuntimeError("there is no default network here: write `with net_guard(network):` around the code that builds layers")
    return network


default_trtnet = default_net  # there is no other network below it


@contextmanager
def net_guard(network: Net) -> Iterator[Net]:
    """Makes `network` the default one; what was the default before is so again afterwards, whatever happens inside."""
    token = _current.set(network)
    try:
        yield network
    finally:
        _current.reset(token)
