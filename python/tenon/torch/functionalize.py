# SPDX-License-Identifier: Apache-2.0
"""Makes an exported program functional, with the ops that it has."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from unittest import mock

import torch
from torch._export import utils
from torch.export import ExportedProgram, exported_program
from torch.fx import GraphModule

_LISTS_ALL = "_collect_all_valid_cia_ops"
_IS_KEPT = "_is_preservable_cia_op"


def functional(program: ExportedProgram) -> ExportedProgram:
    """Without writes but those to buffers and inputs, which are at the end. Ops that PyTorch implements by others stay whole."""
    with _keeps_ops_of(program):
        return program.run_decompositions({})


@contextlib.contextmanager
def _keeps_ops_of(program: ExportedProgram) -> Iterator[None]:
    """PyTorch has some 1000 ops implemented by others, and overrides each of them before it traces a program, to keep it whole: 0.3 s,
    where tracing a layer takes 0.05 s. It overrides those that may occur here alone. A version of PyTorch without these functions overrides
    all. Source: torch/export/exported_program.py, _split_decomp_table_to_cia_and_python_decomp()."""
    if not hasattr(exported_program, _LISTS_ALL) or not hasattr(utils, _IS_KEPT):
        yield
        return
    is_kept = getattr(utils, _IS_KEPT)
    with mock.patch.object(exported_program, _LISTS_ALL, lambda: {op for op in _ops_of(program) if is_kept(op)}):
        yield


def _ops_of(program: ExportedProgram) -> set[torch._ops.OpOverload]:
    """Those of branches too, and those that ops which write call: index_add_ calls index_add."""
    graphs = [m.graph for m in program.graph_module.modules() if isinstance(m, GraphModule)]
    found = {n.target for graph in graphs for n in graph.nodes if isinstance(n.target, torch._ops.OpOverload)}
    for op in list(found):
        packet = getattr(getattr(torch.ops, op.namespace), op._schema.name.split("::")[1].rstrip("_"), None)
        if op._schema.is_mutable and packet is not None:
            found.update(getattr(packet, overload) for overload in packet.overloads())
    return found
