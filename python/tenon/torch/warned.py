# SPDX-License-Identifier: Apache-2.0
"""Warnings that PyTorch raises about code of its own."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator


@contextlib.contextmanager
def without_leaf_spec_warning() -> Iterator[None]:
    """PyTorch's copies of exported programs make LeafSpec, which warns its callers that it is deprecated."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*LeafSpec", category=FutureWarning)
        yield
