# SPDX-License-Identifier: Apache-2.0
"""Models from torch."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import onnx

from .builder import GraphBuilder
from .options import OptimizationOptions


def to_onnx(
    model: Any,
    args: tuple[Any, ...],
    input_names: Sequence[str] | None = None,
    options: OptimizationOptions | None = None,
    target_opset: int | None = None,
    verbose: int = 0,
    **export: Any,
) -> onnx.ModelProto:
    """A torch module as an optimised model; `export` goes to torch.onnx.export. Needs torch."""
    try:
        import torch
    except ImportError as e:
        raise ImportError("to_onnx exports with torch.onnx.export: pip install torch") from e

    bytes_ = io.BytesIO()
    export.setdefault("dynamo", False)  # the other exporter needs the package onnxscript
    if target_opset is not None:
        export["opset_version"] = target_opset
    torch.onnx.export(model, tuple(args), bytes_, input_names=list(input_names) if input_names else None, **export)
    return GraphBuilder(bytes_.getvalue(), optimization_options=options, verbose=verbose).to_onnx()
