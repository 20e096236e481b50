# SPDX-License-Identifier: Apache-2.0
"""The arguments of a functional, kept with the layer that it made."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

from .context import default_net
from .interfaces import DeclaredNetwork
from .kinds import creator_of
from .tensor import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])


def _mapped(argument: Any, change: Callable[[Tensor], Any]) -> Any:
    """The same structure of lists, tuples and dicts with every tensor changed."""
    if isinstance(argument, Tensor):
        return change(argument)
    if isinstance(argument, (list, tuple)):
        items = [_mapped(item, change) for item in argument]
        return type(argument)(*items) if hasattr(argument, "_fields") else type(argument)(items)
    if isinstance(argument, dict):
        return {key: _mapped(item, change) for key, item in argument.items()}
    return argument


def _pairs(old: Any, new: Any, place: str) -> list[tuple[Tensor, Tensor]]:
    """Tensors at equal places of two structures. Raises TypeError or ValueError where the structures differ."""
    if type(old) is not type(new):
        raise TypeError(f"{place} was of type {type(old).__name__}, and {type(new).__name__} cannot replace it")
    if isinstance(old, Tensor):
        return [(old, new)]
    if not isinstance(old, (list, tuple, dict)):
        return []
    if len(old) != len(new) or (isinstance(old, dict) and old.keys() != new.keys()):
        raise ValueError(f"{place} has {len(old)} parts, and {len(new)} cannot replace them")
    keys = old.keys() if isinstance(old, dict) else range(len(old))
    return [pair for key in keys for pair in _pairs(old[key], new[key], f"{place}[{key!r}]")]


@dataclass(eq=False)
class FLayerInfo:
    """The record of one call of a functional. raw_inputs: its arguments by name, defaults included; edits through Tensor and FLayerInfo
    update them. raw_outputs: what it returned. signature: the arguments with the type Tensor in place of every tensor."""

    layer_kind: str
    raw_inputs: dict[str, Any]
    raw_outputs: Any = field(default=None, init=False)
    layer_name: str = field(default="", init=False)
    signature: tuple[str, dict[str, Any]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.signature = (self.layer_kind, _mapped(self.raw_inputs, lambda _: Tensor))

    def get_input(self, name: str) -> Any:
        """Raises KeyError."""
        return self.raw_inputs[name]

    def clone_inputs(self) -> dict[str, Any]:
        """A shallow copy: another dict with the same tensors."""
        return copy(self.raw_inputs)

    def set_outputs(self, outputs: Any) -> None:
        self.raw_outputs = outputs

    def replace_input_with(self, src: Tensor, dst: Tensor) -> None:
        """`dst` wherever `src` is in the arguments. The layer itself stays as it is."""
        for name, argument in self.raw_inputs.items():
            self.raw_inputs[name] = _mapped(argument, lambda tensor: dst if tensor == src else tensor)

    def replace_outputs_uses_with(self, net: DeclaredNetwork, new_outs: Any) -> None:
        """Every use of an output, the network's own outputs too, becomes one of the output at the same place of `new_outs`, which takes its
        name; where the element types differ, a cast is between. Raises TypeError or ValueError where the structures differ."""
        for old, new in _pairs(self.raw_outputs, new_outs, self.layer_kind):
            _replace_output(net, old, new)

    replace_output_uses_with = replace_outputs_uses_with

    def __repr__(self) -> str:
        return f"<FLayer {self.signature}>"


def _replace_output(net: DeclaredNetwork, old: Tensor, new: Tensor) -> None:
    if new.dtype != old.dtype:
        new = new.cast(old.dtype)
    slots = [slot for node, slot in old.value.uses if node is None]
    old.replace_all_uses_with(new)
    name = old.name
    old.name = name + "_deprecated"
    new.name = name
    for slot in slots:
        net.graph.set_output(slot, new.value)


class FLayerInfoMemo:
    """The records (FLayerInfo) of one network, by the name of the layer."""

    def __init__(self, network: DeclaredNetwork) -> None:
        self.data: dict[str, FLayerInfo] = {}
        self.cur_flayer: FLayerInfo | None = None
        self._network = network

    @staticmethod
    def instance() -> FLayerInfoMemo:
        """The memo of the default network."""
        return default_net().flayer_memo

    def create(self, fn: Callable[..., Any], *args: Any, **kwargs: Any) -> FLayerInfo:
        return FLayerInfo(fn.__name__, self.get_function_arg_dict(fn, *args, **kwargs))

    def add(self, layer_name: str, info: FLayerInfo) -> None:
        """Raises ValueError where the layer has an info already."""
        if layer_name in self.data:
            raise ValueError(f"layer {layer_name} has an FLayerInfo already")
        self.data[layer_name] = info
        self._network.undo_log.record(lambda: self.data.pop(layer_name, None))

    def get(self, layer_name: str) -> FLayerInfo | None:
        """The recorded call that made the layer; for a layer of a plugin without a record one with its current operands and fields, by
        name. None for other layers, and for erased ones."""
        layer = self._network.get_layer_by_name(layer_name)
        info = self.data.get(layer_name)
        if layer is None or info is None:
            return None if layer is None or layer.is_removed() else _info_of(layer)
        before = dict(info.raw_inputs)
        self._network.undo_log.record(lambda: _restore(info, before))
        return info

    def remove(self, layer_name: str) -> None:
        info = self.data.pop(layer_name, None)
        if info is not None:
            self._network.undo_log.record(lambda: self.data.__setitem__(layer_name, info))

    def cleanup(self) -> None:
        """Drops the records of erased layers."""
        for name in [name for name in self.data if self._network.get_layer_by_name(name) is None]:
            self.remove(name)

    def layer_made(self, name: str) -> None:
        if self.cur_flayer is not None:
            self.cur_flayer.layer_name = name

    @staticmethod
    def get_function_arg_dict(f: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
        """The arguments by name, defaults too, such that f(**arguments) is the same call again."""
        signature = inspect.signature(f)
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        out: dict[str, Any] = {}
        for name, value in bound.arguments.items():
            if signature.parameters[name].kind is inspect.Parameter.VAR_KEYWORD:
                out.update(value)
            elif name != "self":
                out[name] = value
        return out


def _info_of(layer: Any) -> FLayerInfo | None:
    creator = creator_of(layer.node)
    if creator is None:
        return None
    operands = [None if value is None else Tensor(value=value, network=layer.network) for value in layer.node.inputs]
    outputs = tuple(layer.get_outputs())
    info = FLayerInfo(creator.name, creator.arguments(operands, layer.attributes))
    info.layer_name = layer.name
    info.set_outputs(outputs[0] if len(outputs) == 1 else outputs)
    return info


def _restore(info: FLayerInfo, inputs: dict[str, Any]) -> None:
    info.raw_inputs = inputs


def record_signature(f: Function) -> Function:
    """Decorates a functional whose calls patterns match: the last layer that it makes gets an FLayerInfo.
    Calls of recorded functionals do not nest, and each makes a layer: RuntimeError else. Where it raises, nothing is recorded."""

    @wraps(f)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        memo = FLayerInfoMemo.instance()
        outer = memo.cur_flayer
        if outer is not None:
            raise RuntimeError(f"{f.__name__} is called inside {outer.layer_kind}, and both are recorded: recording does not nest")
        info = memo.cur_flayer = memo.create(f, *args, **kwargs)
        try:
            outputs = f(*args, **kwargs)
        finally:
            memo.cur_flayer = None
        if not info.layer_name:
            raise RuntimeError(f"{f.__name__} is recorded and has made no layer")
        info.set_outputs(outputs)
        memo.add(info.layer_name, info)
        return outputs

    return wrapper  # type: ignore[return-value]
