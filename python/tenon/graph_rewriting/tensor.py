# SPDX-License-Identifier: Apache-2.0
"""A tensor between layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import TenonError
from ..rewriting import Value
from .context import default_net
from .interfaces import DeclaredNetwork
from .trt import DataType

# Functionals whose first argument is a tensor, by the name of the method that each is; filled by `functional`.
METHODS: dict[str, Callable[..., Any]] = {}


class Tensor:
    """A thin handle: equal where it refers to the same tensor. `Tensor(name=..., dtype=..., shape=...)` adds an input to the default
    network; -1 is a size that is not known, which `dim_range` (an ordered mapping, one entry an axis) may give a name."""

    __slots__ = ("network", "value")

    def __init__(
        self,
        name: str | None = None,
        dtype: DataType | str | None = None,
        shape: Sequence[int | str] | None = None,
        dim_range: Mapping[str, Any] | None = None,
        is_network_input: bool = True,
        *,
        network: DeclaredNetwork | None = None,
        value: Value | None = None,
    ) -> None:
        self.network = network if network is not None else default_net()
        if value is None:
            if not is_network_input:
                raise TypeError("a tensor that is no input of the network is made by a layer, not by Tensor()")
            if name is None or dtype is None or shape is None:
                raise TypeError("an input of the network needs name, dtype and shape")
            names = list(dim_range) if dim_range is not None else [None] * len(shape)
            sizes = [size if isinstance(size, str) or size >= 0 else names[axis] for axis, size in enumerate(shape)]
            value = self.network.graph.add_input(name, DataType(dtype).value, sizes)
        self.value = value

    @property
    def trt_tensor(self) -> Tensor:
        """The tensor itself, which wraps no other."""
        return self

    @property
    def name(self) -> str:
        return self.value.ensure_name() if self.value.alive else ""

    @name.setter
    def name(self, name: str) -> None:
        value, before = self.value, self.name
        value.name = name

        def undo() -> None:
            if value.alive:
                value.name = before

        self.network.undo_log.record(undo)

    @property
    def dtype(self) -> DataType | None:
        return None if self.value.dtype is None else DataType(self.value.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """-1 where a size is not a number. Raises ValueError where not even the rank is known."""
        if self.value.shape is None:
            raise ValueError(f"the rank of tensor {self.name} is not known")
        return tuple(size if isinstance(size, int) else -1 for size in self.value.shape)

    def size(self, dim: int | None = None) -> int | tuple[int, ...]:
        return self.shape if dim is None else self.shape[dim]

    def rank(self) -> int:
        return len(self.shape)

    ndim = rank

    # --- the graph around it ---------------------------------------------------------------------------------------
    def get_users(self) -> list[Any]:
        """The layers that use it."""
        return self.network.get_tensor_users(self)

    def get_parent(self) -> Any:
        """The layer whose output it is; None for an input of the network."""
        return self.network.get_tensor_parent(self)

    def is_network_input(self) -> bool:
        return self.network.is_input(self)

    def is_network_output(self) -> bool:
        return self.network.is_output(self)

    def mark_output(self, name: str | None = None, dtype: DataType | None = None) -> None:
        self.network.mark_output(self, name, dtype)

    def replace_all_uses_with(self, new: Tensor) -> None:
        """Every layer that uses this tensor uses `new` instead, at each place where it does, and its FLayerInfo is updated. Outputs of the
        network stay: see FLayerInfo.replace_outputs_uses_with. Raises TenonError where `new` is computed from one of those layers."""
        if new == self:
            return
        network, graph = self.network, self.network.graph
        outputs = [slot for node, slot in self.value.uses if node is None]
        users = self.get_users()
        if not users:
            return
        if not graph.replace_all_uses(self.value, new.value):
            raise TenonError(
                "bad_graph",
                self.name,
                "the new tensor is computed from a layer that is to use it",
                "",
                new.name,
                "compute it from the inputs of that layer",
            )
        for slot in outputs:
            graph.set_output(slot, self.value)
        for user in users:
            info = network.flayer_memo.get(user.name)
            if info is not None:
                info.replace_input_with(self, new)
        network.is_graph_altered = True
        if not network.undo_log.is_recording and new.value.shape != self.value.shape:
            graph.infer()  # while a manager rewrites, the driver infers the affected layers alone

    # --- arithmetic ------------------------------------------------------------------------------------------------
    def __add__(self, other: Any) -> Tensor:
        return METHODS["__add__"](self, other)

    def __radd__(self, other: Any) -> Tensor:
        return METHODS["__add__"](other, self)

    def __sub__(self, other: Any) -> Tensor:
        return METHODS["__sub__"](self, other)

    def __rsub__(self, other: Any) -> Tensor:
        return METHODS["__sub__"](other, self)

    def __mul__(self, other: Any) -> Tensor:
        return METHODS["__mul__"](self, other)

    def __rmul__(self, other: Any) -> Tensor:
        return METHODS["__mul__"](other, self)

    def __truediv__(self, other: Any) -> Tensor:
        return METHODS["__truediv__"](self, other)

    def __rtruediv__(self, other: Any) -> Tensor:
        return METHODS["__truediv__"](other, self)

    def __pow__(self, other: Any) -> Tensor:
        return METHODS["__pow__"](self, other)

    def __matmul__(self, other: Tensor) -> Tensor:
        return METHODS["__matmul__"](self, other)

    def __neg__(self) -> Tensor:
        return METHODS["__neg__"](self)

    def __lt__(self, other: Any) -> Tensor:
        return METHODS["__lt__"](self, other)

    def __gt__(self, other: Any) -> Tensor:
        return METHODS["__gt__"](self, other)

    def __getattr__(self, name: str) -> Any:
        """view, permute, transpose, split, cast, mean, ...: a functional whose first argument is the tensor."""
        if not name.startswith("_") and name in METHODS:
            function = METHODS[name]
            return lambda *args, **options: function(self, *args, **options)
        raise AttributeError(f"a tensor has no attribute {name!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tensor) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"<Tensor {self.name}: {self.value.dtype}{list(self.value.shape or [])}>" if self.value.alive else "<Tensor: gone>"
