# SPDX-License-Identifier: Apache-2.0
"""The function that unpickles engines."""

from __future__ import annotations

from typing import Any

from . import _tenon


def restore(file: bytes, options: dict[str, Any]) -> _tenon.Engine:
    """The engine of an engine file, loaded with options of tenon.load."""
    return _tenon._load_bytes(file, **options)
