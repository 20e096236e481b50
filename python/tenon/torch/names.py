# SPDX-License-Identifier: Apache-2.0
"""Names of ops, nodes and modules."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any

from torch.fx import Node

from .. import TenonError


def op_name(op: Any) -> str:
    """ "aten::add" or "aten::add.Tensor", from such texts ("aten.add", "torch.ops.aten.add.Tensor") and from the ops themselves."""
    if not isinstance(op, str):
        schema = getattr(op, "_schema", None)
        if schema is not None:
            return f"{schema.name}.{schema.overload_name or 'default'}"
        op = getattr(op, "_qualified_op_name", str(op))
    text = op.removeprefix("torch.ops.")
    if "::" not in text:
        namespace, _, rest = text.partition(".")
        text = f"{namespace}::{rest}" if rest else f"aten::{namespace}"
    return text


def modules_of(node: Node) -> list[tuple[str, str]]:
    """Path and class of each module that the node is in, the outermost first."""
    out = []
    for path, kind in (node.meta.get("nn_module_stack") or {}).values():
        path = re.sub(r"\._modules\['([^']*)'\]|\['([^']*)'\]", lambda m: "." + (m[1] or m[2]), path)
        path = re.sub(r"^(L|self|\.|L\.self)+\.?", "", path) if path.startswith(("L", "self", ".")) else path
        out.append((path, kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"))
    return out


# What PyTorch makes of whole ops where it takes programs down to its core ops; users who know those mean these.
_WHOLE = {
    "aten::convolution": ("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
    "aten::addmm": ("linear",),
    "aten::mm": ("linear", "matmul"),
    "aten::bmm": ("matmul",),
    "aten::max_pool2d_with_indices": ("max_pool2d",),
    "aten::_native_batch_norm_legit_no_training": ("batch_norm",),
    "aten::native_layer_norm": ("layer_norm",),
    "aten::_softmax": ("softmax",),
}


def is_op(node: Node, op: Any) -> bool:
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return False
    name = op_name(op)
    exactly = name in (schema.name, f"{schema.name}.{schema.overload_name or 'default'}")
    return exactly or schema.name.removeprefix("aten::") in _WHOLE.get(name.removesuffix(".default"), ())


def module_depth(node: Node, wanted: str) -> int:
    """How many components the path of the innermost enclosing module that is named, by path or by class, has; 0: none is named."""
    path = wanted.strip("/").replace("/", ".")
    stack = modules_of(node)
    if any(inner == path or inner.startswith(path + ".") for inner, _ in stack):
        return path.count(".") + 1
    return max((inner.count(".") + 1 for inner, kind in stack if wanted in (kind, kind.rpartition(".")[2])), default=0)


def refuse(place: str, what: str, found: Any, known: Iterable[str]) -> TenonError:
    near = difflib.get_close_matches(str(found), sorted(known), 1, 0.5)
    return TenonError(
        "bad_usage", place, what, "", str(found), f"did you mean '{near[0]}'?" if near else "dryrun=True prints ops and modules"
    )
