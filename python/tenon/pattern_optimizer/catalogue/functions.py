# SPDX-License-Identifier: Apache-2.0
"""Parts of language models as calls of local functions, so that a model reads more easily. What is computed stays as it is."""

from __future__ import annotations

from typing import Any

from ..building import Building
from ..easy import EasyPatternOptimization
from ..local_functions import FunctionOptions
from ..view import PatternView

FUNCTIONS = "SimplifyingFunction"  # the domain of the functions


def function_builder(model: Any, inputs: list[str]) -> Any:
    """An empty builder with these inputs, of the opset of the model's builder."""
    builder = type(model)(model.main_opset, as_function=True)
    for name in inputs:
        builder.make_tensor_input(name)
    return builder


def keep_function(model: Any, builder: Any, name: str) -> None:
    """What `builder` holds is the function `name` of the model."""
    model.make_local_function(builder, FunctionOptions(export_as_function=True, name=name, domain=FUNCTIONS))


class FunctionPattern(EasyPatternOptimization):
    """f(x, ...) = match_pattern(x, ...): what it says becomes a call of a function that says the same."""

    f_domain = FUNCTIONS

    @classmethod
    def f_name(cls) -> str:
        return cls.__name__.removeprefix("Function").removesuffix("Pattern")

    def apply_pattern(self, g: Building, *operands: str) -> str:
        return g.make_node(self.f_name(), operands, outputs=1, domain=self.f_domain)

    def post_apply_pattern(self, g: PatternView, *nodes: Any) -> None:
        if not g.builder.has_local_function(self.f_name(), domain=self.f_domain):
            self.add_local_functions_to_builder(g.builder)

    def add_local_functions_to_builder(self, model: Any) -> None:
        names = list(self._parameters())
        builder = function_builder(model, names)
        builder.make_tensor_output(self.match_pattern(builder, *names))
        keep_function(model, builder, self.f_name())


class FunctionPowTanhPattern(FunctionPattern):
    """(x * half) * (Tanh((x + x ** three * o_o_four) * o_height) + one) -> PowTanh(x, three, o_o_four, half, o_height, one)"""

    def match_pattern(self, g: Building, x: str, three: str, o_o_four: str, half: str, o_height: str, one: str) -> str:
        inner = g.op.Mul(g.op.Add(x, g.op.Mul(g.op.Pow(x, three), o_o_four)), o_height)
        return g.op.Mul(g.op.Mul(x, half), g.op.Add(g.op.Tanh(inner), one))


class FunctionSplitRotaryMulPattern(FunctionPattern):
    """Concat(r * c2 + Concat(-b, a) * c1, p) -> SplitRotaryMul(x, s1, s2, c1, c2), where r, p = Split(x, s1); a, b = Split(r, s2)"""

    def match_pattern(self, g: Building, x: str, split1: str, split2: str, c1: str, c2: str) -> str:
        rotated, passed = g.op.Split(x, split1, outputs=2, axis=-1)
        a, b = g.op.Split(rotated, split2, outputs=2, axis=-1)
        swapped = g.op.Concat(g.op.Neg(b), a, axis=-1)
        return g.op.Concat(g.op.Add(g.op.Mul(rotated, c2), g.op.Mul(swapped, c1)), passed, axis=-1)
