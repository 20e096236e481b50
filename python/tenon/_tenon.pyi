# SPDX-License-Identifier: Apache-2.0
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

class SupportsDLPack(Protocol):
    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

class Port:
    """An input or output of an engine."""

    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str:
        """ "f32", "i64", "bool", ..."""
    @property
    def dimensions(self) -> list[str]:
        """Each a number or what the model calls it: ["batch", "16"]."""

class Engine:
    """A compiled model: immutable; any number of threads may run it at once."""

    @property
    def inputs(self) -> list[Port]: ...
    @property
    def outputs(self) -> list[Port]: ...
    def run(self, inputs: dict[str, NDArray[Any] | SupportsDLPack], *, threads: int = 0) -> dict[str, np.ndarray]:
        """Runs once, without the GIL. C-contiguous arrays are read where they lie; results own their memory.

        Raises TenonError: bad_input, out_of_memory.
        """
    def save(self, path: str | PathLike[str], *, portable: bool = False) -> None:
        """Writes the engine file, atomically. `portable`: without native code; compiled when it is loaded, on any CPU."""

def compile(
    model: str | PathLike[str],
    *,
    external_data: str | PathLike[str] | None = None,
    opt: int = 3,
    threads: int = 0,
    shapes: Mapping[str, Sequence[int]] = ...,
) -> Engine:
    """Compiles an ONNX model for this CPU, without the GIL.

    external_data: folder of the model's external data (default: the model's own). opt: 0 no rewriting ... 3 everything.
    shapes: inputs whose shape is fixed; -1 leaves a size as the model says. Raises TenonError.
    """

def load(path: str | PathLike[str], *, verify: bool = False) -> Engine:
    """Loads an engine file; `verify` checks every byte of it. Raises TenonError."""
