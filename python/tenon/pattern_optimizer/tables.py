# SPDX-License-Identifier: Apache-2.0
"""What patterns say about themselves, and a small service over the builder."""

from __future__ import annotations

from typing import Any

import onnx

from .builder import GraphBuilder
from .environment import short_name
from .options import OptimizationOptions
from .selection import Pattern


def pattern_table_doc(pattern_list: list[Pattern], as_rst: bool = False) -> str | list[dict[str, Any]]:
    """A row a pattern: name, short_name, priority, doc; `as_rst`: as a table, which needs pandas and tabulate."""
    rows = [
        {
            "name": pattern.name,
            "short_name": short_name(pattern.name),
            "priority": pattern.priority,
            "doc": " ".join((type(pattern).__doc__ or "").split("::")[0].split()),
        }
        for pattern in pattern_list
    ]
    if not as_rst:
        return rows
    import pandas

    return "\n".join(["", pandas.DataFrame(rows).to_markdown(tablefmt="rst"), ""])


def remove_constants_for_initializers(model: onnx.ModelProto, verbose: int = 0) -> onnx.ModelProto:
    """Constant nodes become initializers; nothing else changes."""
    options = OptimizationOptions(patterns=None, constant_folding=False, remove_identity=False, verbose=verbose)
    return GraphBuilder(model, optimization_options=options).to_onnx()
