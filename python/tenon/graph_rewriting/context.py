# SPDX-License-Identifier: Apache-2.0
"""Which network functionals add their layers to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .network import Network

_current: ContextVar[Network | None] = ContextVar("tenon_default_network", default=None)


def default_net() -> Network:
    """The network of the innermost net_guard of this thread. Raises RuntimeError outside of every guard."""
    network = _current.get()
    if network is None:
        raise RuntimeError("there is no default network here: write `with net_guard(network):` around the code that builds layers")
    return network


@contextmanager
def net_guard(network: Network) -> Iterator[Network]:
    """Makes `network` the default one; what was the default before is so again afterwards, whatever happens inside."""
    token = _current.set(network)
    try:
        yield network
    finally:
        _current.reset(token)
