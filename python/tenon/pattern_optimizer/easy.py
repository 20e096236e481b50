# SPDX-License-Identifier: Apache-2.0
"""Patterns declared as two functions that call the builder: one builds the pattern, one its replacement."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from ..rewriting import Graph, Match, Node, Rewriter, Rule, Value, visits
from .bridge import Bridge
from .building import Building
from .graph_queries import GraphQueries
from .nodes import name_of
from .pattern import MatchResult, PatternOptimization
from .view import PatternView


class PatternBuilder(Building):
    """Builds one side of a pattern: nothing is known of its inputs, so nothing is inferred."""

    infer = False


class RewriteBuilder(Building):
    """Builds the replacement into the graph that is rewritten."""

    def __init__(self, graph: Graph, rewriter: Rewriter) -> None:
        super().__init__(graph)
        self.rewriter = rewriter
        self.made: list[Node] = []

    def _insert(self, op_type: str, operands: list[Value | None], attributes: dict[str, Any], outputs: int, domain: str) -> list[Value]:
        values = self.rewriter.op(op_type, operands, attributes, outputs=outputs, domain=domain)
        self.made.append(values[0].producer)
        return values

    def _constant(self, array: np.ndarray, name: str = "") -> Value:
        return self.rewriter.constant(array, name=name)


def _as_list(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


class EasyPatternOptimization(PatternOptimization):
    """`match_pattern` and `apply_pattern` become an equation of the engine.

    So it matches as an equation does: operands of commutative operators come in any order, constants compare by value (a float within
    the rounding of its type, whatever float type the model has), domains and attributes compare, an attribute that is left out means its
    default, on both sides. A result inside the match that anything else uses, the graph's caller included, keeps the match from being
    rewritten. A parameter annotated with the name of an ONNX element type ("FLOAT16") takes only such results.
    """

    def __init__(self, verbose: int = 0, priority: int = 0, min_opset: int = 1) -> None:
        super().__init__(verbose, priority, min_opset)
        self._params: dict[str, Any] = {}
        self._sides: dict[Any, PatternView] = {}

    # --- what a pattern says -------------------------------------------------------------------------------

    def match_pattern(self, g: Building, *args: str, **kwargs: str) -> str | Sequence[str]:
        raise NotImplementedError(f"{self.name} has no method match_pattern")

    def apply_pattern(self, g: Building, *args: str, **kwargs: str) -> str | Sequence[str]:
        raise NotImplementedError(f"{self.name} has no method apply_pattern")

    def validate_mapping(
        self, g: PatternView, deleted_nodes: Sequence[onnx.NodeProto], pattern_nodes: Sequence[onnx.NodeProto] | None = None
    ) -> bool:
        """Called when all else matches. deleted_nodes[k] matches pattern_nodes[k]."""
        return True

    def validate_attribute_mapping(
        self, g: PatternView, deleted_nodes: Sequence[onnx.NodeProto], pattern_nodes: Sequence[onnx.NodeProto] | None = None
    ) -> bool:
        """A pattern that defines this compares attributes itself; the engine then does not."""
        return True

    def post_apply_pattern(self, g: PatternView, *nodes: onnx.NodeProto) -> None:
        """Called with the new nodes."""

    def add_validate_param(self, name: str, value: Any) -> None:
        """Stores a value in validate_mapping for apply_pattern."""
        self._params[name] = value

    def get_validate_param(self, name: str) -> Any:
        return self._params[name]

    # --- what the engine makes of it -----------------------------------------------------------------------

    def match(self, g: PatternView, node: onnx.NodeProto, matched: list[MatchResult]) -> MatchResult | None:
        raise TypeError(f"{self.name} is declared: the engine matches it")

    def apply(self, g: PatternView, *nodes: Any) -> Any:
        raise TypeError(f"{self.name} is declared: the engine applies it")

    def _overrides(self, name: str) -> bool:
        return getattr(type(self), name) is not getattr(EasyPatternOptimization, name)

    def _parameters(self) -> dict[str, int]:
        """Name to element type (0: any) of each input."""
        out = {}
        for name, parameter in inspect.signature(self.match_pattern).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                raise TypeError(f"{self.name}.match_pattern: *{name} does not say how many inputs the pattern has")
            out[name] = self._element_type(parameter.annotation)
        out.pop(next(iter(out)))  # the builder
        return out

    @staticmethod
    def _element_type(annotation: Any) -> int:
        text = annotation.strip("'\"") if isinstance(annotation, str) else annotation
        if isinstance(text, int):
            return text
        return onnx.TensorProto.DataType.Value(text) if text in onnx.TensorProto.DataType.keys() else 0

    def _side(self, side: str, parameters: dict[str, int]) -> Graph:
        function = {"match": self.match_pattern, "apply": self.apply_pattern}[side]
        builder = PatternBuilder(Graph(keep_unknown=True))
        names = [name_of(builder.graph.add_input(p)) for p in parameters]
        for output in _as_list(function(builder, *names)):
            builder.graph.add_output(builder._value(output))
        return builder.graph

    def _built(self, side: str, g: PatternView) -> PatternView:
        key = side, tuple(sorted(g.opsets.items()))
        if key not in self._sides:
            self._sides[key] = type(g)(self._side(side, self._parameters()))
        return self._sides[key]

    def _get_match_pattern(self, g: PatternView) -> PatternView:
        return self._built("match", g)

    def _get_apply_pattern(self, g: PatternView) -> PatternView:
        return self._built("apply", g)

    def display_pattern(self, g: PatternView, function: Any) -> str:
        """What match_pattern or apply_pattern builds, a line a node."""
        view = self._built("match" if function == self.match_pattern else "apply", g)
        return "\n".join([f"{function.__name__}({', '.join(view.input_names)}) -> {', '.join(view.output_names)}", view.pretty_text()])

    def rule(self, bridge: Bridge) -> Rule:
        parameters = self._parameters()
        match = self._side("match", parameters)
        own_attributes = self._overrides("validate_attribute_mapping")
        # What apply_pattern builds may depend on what validate_mapping found: then it is called once a match.
        dynamic = self._overrides("validate_mapping") or self._overrides("post_apply_pattern")
        checks = dynamic or own_attributes or any(parameters.values())
        declared = Declared(self, bridge, parameters, match)
        return Rule.graphs(
            match,
            None if dynamic else self._side("apply", parameters),
            name=self.name,
            docs=(type(self).__doc__ or "").strip().split("\n")[0],
            numerics=getattr(self, "numerics", "exact"),
            benefit=getattr(self, "benefit", 1),
            attributes=not own_attributes,
            check=declared.check if checks else None,
            make=declared.make if dynamic else None,
        )


class Declared:
    """The hooks of one declared pattern during one optimisation."""

    def __init__(self, pattern: EasyPatternOptimization, bridge: Bridge, parameters: dict[str, int], match: Graph) -> None:
        self.pattern = pattern
        self.bridge = bridge
        self.parameters = parameters
        self.pattern_view = GraphQueries(match)
        self.visits = visits(match)

    def check(self, match: Match, values: dict[str, Value]) -> bool:
        if any(wanted and values[name].onnx_dtype != wanted for name, wanted in self.parameters.items() if name in values):
            return False
        found = dict(zip(self.visits, match.nodes, strict=True))
        pattern_nodes = [n for n in self.pattern_view.graph.nodes if n in found]
        view = self.bridge.views.of(match.graph)
        deleted = [view.scene.object_of(found[n]) for n in pattern_nodes]
        shown = [self.pattern_view.scene.object_of(n) for n in pattern_nodes]
        self.pattern._params.clear()
        return self.pattern.validate_attribute_mapping(view, deleted, shown) and self.pattern.validate_mapping(view, deleted, shown)

    def make(self, match: Match, rewriter: Rewriter, values: dict[str, Value], roots: list[Value]) -> bool:
        builder = RewriteBuilder(match.graph, rewriter)
        outputs = _as_list(self.pattern.apply_pattern(builder, *[name_of(values.get(p)) for p in self.parameters]))
        if len(outputs) != len(roots):
            raise ValueError(f"apply_pattern returned {len(outputs)} results, match_pattern {len(roots)}")
        for root, output in zip(roots, outputs, strict=True):
            rewriter.replace(root, builder._value(output))
        view = self.bridge.views.of(match.graph)
        with view.changing(rewriter):
            self.pattern.post_apply_pattern(view, *[view.scene.object_of(n) for n in builder.made])
        return True
