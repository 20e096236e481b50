# SPDX-License-Identifier: Apache-2.0
"""What a pickled engine names."""

from __future__ import annotations

from typing import Any

from . import _tenon_runtime


def restore(file: bytes, options: dict[str, Any]) -> _tenon_runtime.Engine:
    """The engine of an engine file, loaded with options of load."""
    return _tenon_runtime._load_bytes(file, **options)
