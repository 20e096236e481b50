# SPDX-License-Identifier: Apache-2.0
"""Segments as one registered operator, so that torch.export and torch.compile take them as they are: tenon::segment."""

from __future__ import annotations

import ast
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.weak import WeakTensorKeyDictionary

from .. import TenonError
from .._tenon import Engine, load

_SCHEMA = "segment(Tensor engine, str signature, Tensor[] inputs, SymInt[] sizes) -> Tensor[]"
_LIBRARY = torch.library.Library("tenon", "DEF")
_LIBRARY.define(_SCHEMA, tags=(torch.Tag.pt2_compliant_tag,))

_engines = WeakTensorKeyDictionary()  # by the tensor that holds their file


def bytes_of(engine: Engine) -> torch.Tensor:
    """The engine's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "segment.tenon"
        engine.save(path)
        return torch.frombuffer(bytearray(path.read_bytes()), dtype=torch.uint8)


def remember(file: torch.Tensor, engine: Engine) -> None:
    _engines[file] = engine


def _engine_in(file: torch.Tensor) -> Engine:
    if file not in _engines:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "segment.tenon"
            path.write_bytes(file.contiguous().numpy().tobytes())
            _engines[file] = load(path)
    return _engines[file]


def run(engine: Engine, inputs: list[torch.Tensor], sizes: list[int]) -> list[torch.Tensor]:
    """Tensors are read where they lie; results own their memory."""
    given: dict[str, Any] = {f"x{k}": _readable(t) for k, t in enumerate(inputs)}
    if sizes:
        for port, size in zip(engine.inputs[len(inputs) :], sizes, strict=True):  # a length, or a number
            given[port.name] = np.empty(size, bool) if port.dtype == "bool" else np.array([size])
    made = engine.run(given)
    return [_tensor(y) for y in made.values()]


def _tensor(result: Any) -> torch.Tensor:
    """bfloat16 is an array of ml_dtypes, whose bytes PyTorch takes, or a DLPack capsule where that package is not installed."""
    if type(result) is not np.ndarray:
        return torch.from_dlpack(result)
    if result.dtype.name == "bfloat16":
        return torch.from_numpy(result.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(result)


def _readable(tensor: torch.Tensor) -> Any:
    """An array at its memory, where it is dense. NumPy's is made in a tenth of the time of a DLPack tensor; bfloat16 it does not have."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    if not tensor.is_contiguous():
        tensor = tensor.contiguous()
    return tensor if tensor.dtype is torch.bfloat16 else tensor.numpy()


def _run_on_cpu(file: torch.Tensor, signature: str, inputs: list[torch.Tensor], sizes: list[int]) -> list[torch.Tensor]:
    return run(_engine_in(file), inputs, sizes)


_CALLS = {"Max": max, "Min": min, "FloorDiv": lambda a, b: a // b, "CleanDiv": lambda a, b: a // b, "Mod": lambda a, b: a % b,
          "PythonMod": lambda a, b: a % b}  # fmt: skip
_OPERATORS = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b, ast.FloorDiv: lambda a, b: a // b,
              ast.Mod: lambda a, b: a % b, ast.Pow: lambda a, b: math.prod([a] * b)}  # fmt: skip


def evaluated(text: str, known: dict[str, Any]) -> Any:
    """Evaluates a size, an expression of a signature's symbols, whose values may be symbolic numbers."""

    def of(tree: ast.expr) -> Any:
        if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
            return tree.value
        if isinstance(tree, ast.Name) and tree.id in known:
            return known[tree.id]
        if isinstance(tree, ast.BinOp) and type(tree.op) in _OPERATORS:
            return _OPERATORS[type(tree.op)](of(tree.left), of(tree.right))
        if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub):
            return -of(tree.operand)
        if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id in _CALLS and not tree.keywords:
            return _CALLS[tree.func.id](*map(of, tree.args))
        raise TenonError("bad_file", "tenon::segment", "a size of the signature is no sum of products of known sizes", "", text, "")

    return of(ast.parse(text, mode="eval").body)


def made_up(signature: str, inputs: list[torch.Tensor], sizes: list[Any]) -> list[torch.Tensor]:
    """The results' types and shapes."""
    report = json.loads(signature)
    known: dict[str, Any] = dict(zip(report["sizes"], sizes, strict=True))
    for tensor, texts in zip(inputs, report["inputs"], strict=True):
        for size, text in zip(tensor.shape, texts, strict=True):
            if text.isidentifier():
                known.setdefault(text, size)
    return [
        torch.empty([evaluated(text, known) for text in y["shape"]], dtype=getattr(torch, y["dtype"]), device="cpu")
        for y in report["outputs"]
    ]


def _fake(file: torch.Tensor, signature: str, inputs: list[torch.Tensor], sizes: list[Any]) -> list[torch.Tensor]:
    return made_up(signature, inputs, sizes)


_LIBRARY.impl("segment", _run_on_cpu, "CPU")
torch.library.register_fake("tenon::segment", _fake, lib=_LIBRARY)
