# SPDX-License-Identifier: Apache-2.0
"""Recurrent layers and cells as ONNX's LSTM, GRU and RNN."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from .table import Unsupported, converts


@dataclasses.dataclass(frozen=True)
class Kind:
    """gates: for each of ONNX's, its number among PyTorch's."""

    op: str
    gates: tuple[int, ...]
    states: int = 1
    attributes: tuple[tuple[str, Any], ...] = ()


LSTM = Kind("LSTM", (0, 3, 1, 2), states=2)  # input, forget, cell, output to input, output, forget, cell
GRU = Kind("GRU", (1, 0, 2), attributes=(("linear_before_reset", 1),))  # reset, update, new to update, reset, new
TANH, RELU = (Kind("RNN", (0,), attributes=(("activations", [name]),)) for name in ("Tanh", "Relu"))


def _in_onnx_order(b: Any, kind: Kind, value: Any, hidden: int) -> Any:
    """Rows of gates, `hidden` for each."""
    if len(kind.gates) == 1:
        return value
    return b.op("Concat", [b.sliced(value, 0, g * hidden, (g + 1) * hidden, 1) for g in kind.gates], {"axis": 0})


def _stacked(b: Any, parts: Sequence[Any]) -> Any:
    rows = [b.op("Unsqueeze", [p, b.ints([0])]) for p in parts]
    return rows[0] if len(rows) == 1 else b.op("Concat", rows, {"axis": 0})


def _layer(b: Any, kind: Kind, x: Any, states: Sequence[Any], weights: Sequence[Sequence[Any]], direction: str) -> Sequence[Any]:
    """Y [time, directions, batch, hidden], and of each state its last value, [directions, batch, hidden].

    x: [time, batch, size]; states: [directions, batch, hidden]; weights: of each direction those of the input and of the state, and
    their biases or none."""
    rows, hidden = b.shape_of(weights[0][1])
    if not isinstance(hidden, int) or rows != len(kind.gates) * hidden:
        raise Unsupported("not supported yet: a recurrent layer with a projection, or of symbolic width")
    ordered = [[_in_onnx_order(b, kind, b.tensor(w), hidden) for w in of_direction] for of_direction in weights]
    inputs = [x, _stacked(b, [w[0] for w in ordered]), _stacked(b, [w[1] for w in ordered])]
    has_bias = len(ordered[0]) > 2
    inputs.append(_stacked(b, [b.op("Concat", w[2:], {"axis": 0}) for w in ordered]) if has_bias else None)
    attributes = {"hidden_size": hidden, "direction": direction}
    for name, value in kind.attributes:
        attributes[name] = value * len(weights) if isinstance(value, list) else value
    return b.ops(kind.op, [*inputs, None, *states], attributes, outputs=1 + kind.states)


def _network(
    b: Any, kind: Kind, x: Any, initial: Sequence[Any], weights: Any, has_bias: bool, layers: int, both_ways: bool, batch_first: bool
) -> Any:
    """output, and of each state [layers * directions, batch, hidden]."""
    directions, of_each = 1 + both_ways, 4 if has_bias else 2
    if len(weights) != layers * directions * of_each:
        raise Unsupported("not supported yet: a recurrent layer with a projection")
    value = b.tensor(x)
    if batch_first:
        value = b.op("Transpose", [value], {"perm": [1, 0, 2]})
    time, batch = (b.shape_of(x)[k] for k in ((1, 0) if batch_first else (0, 1)))
    last: list[list[Any]] = [[] for _ in initial]
    for layer in range(layers):
        first = layer * directions
        states = [b.tensor(s) for s in initial]
        if layers > 1:
            states = [b.sliced(s, 0, first, first + directions, 1) for s in states]
        own = [weights[(first + d) * of_each : (first + d + 1) * of_each] for d in range(directions)]
        made, *ends = _layer(b, kind, value, states, own, "bidirectional" if both_ways else "forward")
        for all_ends, end in zip(last, ends, strict=True):
            all_ends.append(end)
        hidden = b.shape_of(own[0][1])[1]
        turned = b.op("Transpose", [made], {"perm": [0, 2, 1, 3]})
        value = b.reshaped(turned, [time, batch, directions * hidden])
    if batch_first:
        value = b.op("Transpose", [value], {"perm": [1, 0, 2]})
    return value, *(ends[0] if len(ends) == 1 else b.op("Concat", ends, {"axis": 0}) for ends in last)


def _enter(name: str, kind: Kind) -> None:
    @converts(f"{name}.input")
    def network(
        b: Any, x: Any, initial: Any, weights: Any, has_bias: bool, layers: int, dropout: float, train: bool, both_ways: bool,
        batch_first: bool,
    ) -> Any:  # fmt: skip
        if dropout and train:
            raise Unsupported("it is random")
        states = initial if kind.states > 1 else [initial]
        return _network(b, kind, x, states, weights, has_bias, layers, both_ways, batch_first)

    @converts(f"{name}_cell.default")
    def cell(b: Any, x: Any, initial: Any, of_input: Any, of_state: Any, input_bias: Any, state_bias: Any) -> Any:
        states = initial if kind.states > 1 else [initial]
        weights = [w for w in (of_input, of_state, input_bias, state_bias) if w is not None]
        if len(weights) == 3:
            raise Unsupported("not supported yet: a cell with one bias")
        one = [b.op("Unsqueeze", [b.tensor(v), b.ints([0])]) for v in (x, *states)]
        _, *ends = _layer(b, kind, one[0], one[1:], [weights], "forward")
        made = tuple(b.op("Squeeze", [end, b.ints([0])]) for end in ends)
        return made if kind.states > 1 else made[0]


for _name, _kind in {"lstm": LSTM, "gru": GRU, "rnn_tanh": TANH, "rnn_relu": RELU}.items():
    _enter(_name, _kind)


@converts("mkldnn_rnn_layer.default")
def layer_of_library(
    b: Any, x: Any, of_input: Any, of_state: Any, input_bias: Any, state_bias: Any, h: Any, c: Any, reverse: bool, batch_sizes: Any,
    mode: int, hidden: int, layers: int, has_bias: bool, both_ways: bool, batch_first: bool, train: bool,
) -> Any:  # fmt: skip
    """What PyTorch makes of one direction of one layer of an LSTM."""
    if mode != 2 or layers != 1 or both_ways or batch_first or batch_sizes or train:
        raise Unsupported("not supported yet: a layer of oneDNN that is no LSTM in one direction")
    weights = [of_input, of_state, input_bias, state_bias] if has_bias else [of_input, of_state]
    made, *ends = _layer(b, LSTM, b.tensor(x), [b.tensor(h), b.tensor(c)], [weights], "reverse" if reverse else "forward")
    return b.op("Squeeze", [made, b.ints([1])]), *ends, None
