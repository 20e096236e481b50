# SPDX-License-Identifier: Apache-2.0
"""MatMuls of one operand as a single one."""

from __future__ import annotations

from typing import Any

import onnx

from ..view import PatternView
from .base import CataloguePattern, Found, is_op, only_user
from .functions import FUNCTIONS, function_builder, keep_function

Chain = tuple[onnx.NodeProto, onnx.NodeProto, onnx.NodeProto]


class FunctionPackedMatMulPattern(CataloguePattern):
    """Transpose(Reshape(x @ w_k, s), p) for k < n -> PackedMatMulReshapeTranspose<n>_<p>(x, w_0, ..., s), which multiplies once"""

    roots = frozenset({"MatMul"})
    processor = ""

    def find(self, g: PatternView, node: onnx.NodeProto) -> Found:
        if g.main_opset < 18:
            return "Split into equal parts needs opset 18"
        own = self.chain(g, node)
        if own is None:
            return "no constant weights of rank 2 at least, or no Reshape and Transpose alone after it"
        chains = [self.chain(g, user) for user in g.next_nodes(node.input[0])]
        alike = [chain for chain in chains if chain is not None and self.kind(g, chain) == self.kind(g, own)]
        if len(alike) < 2:
            return "no other like it"
        return [step for steps in zip(*alike, strict=True) for step in steps]

    @staticmethod
    def chain(g: PatternView, matmul: onnx.NodeProto) -> Chain | None:
        """MatMul, Reshape, Transpose."""
        if not is_op(matmul, "MatMul") or not g.is_constant(matmul.input[1]) or g.get_rank(matmul.input[1]) < 2:
            return None
        reshape = only_user(g, matmul.output[0])
        if not is_op(reshape, "Reshape") or g.get_attribute_with_default(reshape, "allowzero", 0):
            return None
        transpose = only_user(g, reshape.output[0])
        return (matmul, reshape, transpose) if is_op(transpose, "Transpose") and _perm(g, transpose) else None

    @staticmethod
    def kind(g: PatternView, chain: Chain) -> tuple[Any, ...]:
        """Equal for those that go together."""
        matmul, reshape, transpose = chain
        return matmul.input[0], g.get_shape(matmul.input[1]), reshape.input[1], _perm(g, transpose)

    def apply(self, g: PatternView, *nodes: onnx.NodeProto) -> list[onnx.NodeProto]:
        count = len(nodes) // 3
        matmuls, reshapes, transposes = nodes[:count], nodes[count : 2 * count], nodes[2 * count :]
        perm = _perm(g, transposes[0])
        name = f"PackedMatMulReshapeTranspose{count}_{'_'.join(map(str, perm))}"
        if not g.builder.has_local_function(name, domain=FUNCTIONS):
            _add_function(g.builder, name, count, perm)
        inputs = [matmuls[0].input[0], *(n.input[1] for n in matmuls), reshapes[0].input[1]]
        label = f"{self.name}--{matmuls[0].name}"
        return [g.make_node(name, inputs, [n.output[0] for n in transposes], name=label, domain=FUNCTIONS)]


def _perm(g: PatternView, transpose: onnx.NodeProto) -> tuple[int, ...]:
    return tuple(g.get_attribute_with_default(transpose, "perm", ()))


def _add_function(model: Any, name: str, count: int, perm: tuple[int, ...]) -> None:
    weights = [f"w{k}" for k in range(count)]
    g = function_builder(model, ["x", *weights, "shape"])
    packed = g.op.MatMul("x", g.op.Concat(*weights, axis=-1))
    parts = g.op.Split(packed, axis=-1, num_outputs=count, outputs=[f"p{k}" for k in range(count)])
    for part in parts:
        g.make_tensor_output(g.op.Transpose(g.op.Reshape(part, "shape"), perm=list(perm)))
    keep_function(model, g, name)
