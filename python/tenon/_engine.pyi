# SPDX-License-Identifier: Apache-2.0
# What tenon and tenon_runtime both have: a part of their extension modules' stubs, no module of its own.
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Protocol, TypedDict

from numpy.typing import NDArray
from typing_extensions import Unpack

from ._profile import Profile

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
    def kind(self) -> str:
        """ "tensor", "sequence", "optional" or "map"; dtype and dimensions are those of each tensor inside, dtype that of map values."""
    @property
    def dimensions(self) -> list[str]:
        """Each a number or what the model calls it: ["batch", "16"]."""
    @property
    def has_default(self) -> bool:
        """Of an input: the model gives it a value, which a run may leave or override."""

class Entry:
    """What a run of an engine can call: entries share weights and states (prefill and decode of a language model)."""

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> list[Port]: ...
    @property
    def outputs(self) -> list[Port]: ...

class State:
    """A value that lasts between the runs of a Context; no input and no output."""

    @property
    def name(self) -> str: ...
    @property
    def dtype(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]:
        """On the growing axis the capacity; -1 where the first run of a context, or memory that is bound, fixes the size."""
    @property
    def growing_axis(self) -> int | None:
        """The axis along which runs append, whose size is the state's length; None: the state is replaced as a whole."""

Map = dict[str, float] | dict[int, float] | dict[str, int] | dict[int, str]
Given = NDArray[Any] | SupportsDLPack | Sequence[NDArray[Any] | SupportsDLPack] | Map | Sequence[Map] | None

class ThreadPool:
    """Threads that compute runs. Runs on different pools execute concurrently; runs on one pool execute one after the other, in the order
    in which they arrive. Results do not depend on the pool.
    """

    def __init__(self, *, threads: int | None = None, cpus: Sequence[int] | None = None) -> None:
        """threads: the calling one among them; None for one on each of the CPUs. cpus: numbers of CPUs that the threads are kept to, the
        calling one for the time of a run; None: the system chooses. Raises TenonError: bad_usage, not_supported.
        """
    @property
    def threads(self) -> int: ...
    @property
    def cpus(self) -> list[int]:
        """Empty where they were not chosen."""

class StopToken:
    """Ends the runs that were given it, from any thread."""

    def __init__(self) -> None: ...
    def stop(self) -> None:
        """Ends those that run now, and those that begin before reset(): TenonError, code "cancelled"."""
    def reset(self) -> None: ...
    @property
    def stopped(self) -> bool: ...

class RunOptions(TypedDict, total=False):
    """Keywords of Engine.run and Context.run."""

    entry: str | None
    """what to run (None: the first entry)"""
    out: dict[str, NDArray[Any] | SupportsDLPack] | None
    """arrays that receive results, by name: writable, C-contiguous, of the result's type (8 bits or more) and shape, apart from inputs and
    each other"""
    threads: int
    """how many threads of the thread pool it runs on at most (0: all)"""
    thread_pool: ThreadPool | None
    """the threads (None: the process's own)"""
    check_memory: bool
    """look after each step for writes outside the buffers; what is not written yet holds NaN (slow)"""
    timeout: float | None
    """seconds after which the run ends with an error"""
    stop: StopToken | None
    """a token whose stop() ends the run from another thread"""
    profile: Profile | None
    """gets the times of the steps"""
    seed: int | None
    """of the numbers that random nodes draw; equal seeds give equal results (None: each run draws others)"""

class Engine:
    """A compiled model: immutable; any number of threads may run it at once."""

    @property
    def entries(self) -> list[Entry]:
        """The first is what runs where none is named."""
    @property
    def states(self) -> list[State]: ...
    @property
    def inputs(self) -> list[Port]:
        """Those of the first entry."""
    @property
    def outputs(self) -> list[Port]: ...
    @property
    def missing_plugins(self) -> str:
        """The plugins that are not there, in words, so that definitions run in their place (plugin_fallback); "": none."""
    def run(self, inputs: dict[str, Given], **options: Unpack[RunOptions]) -> dict[str, Any]:
        """Runs once, without the GIL.

        States are at their initial values in every run; a Context keeps them. Inputs with a default (Port.has_default) may be left out.

        C-contiguous arrays are read where they lie; results own their memory: NumPy arrays (of Python's strings for texts), lists of them
        for sequences, None for an optional without element, dicts for maps. Inputs likewise.
        Element types that NumPy lacks (bfloat16, float8_e4m3fn, int4, ...) are those of the package ml_dtypes; elements of fewer than 8
        bits are copied. Where it is not installed, bf16 results are DLPack capsules, and others an error.

        On the main thread Ctrl-C ends a run with KeyboardInterrupt. A run ends between pieces of a kernel, or between the nodes of another
        runtime. After an error the contents of `out` are undefined.

        Raises TenonError: bad_input, bad_usage, not_supported, out_of_memory, deadline, cancelled.
        """
    def __reduce__(self) -> tuple[Any, ...]:
        """An engine pickles: its engine file, and the names of the libraries and plugins that it needs. Copies are the engine itself."""
    def save(self, path: str | PathLike[str], *, portable: bool = False) -> None:
        """Writes the engine file, atomically. `portable`: without native code; compiled when it is loaded, on any CPU."""

class Context:
    """An engine with states that last between its runs. One thread at a time may use it; fork() gives another."""

    def __init__(self, engine: Engine) -> None:
        """All states are at their initial values, those that grow are empty."""
    @property
    def engine(self) -> Engine: ...
    def run(self, inputs: dict[str, Given], **options: Unpack[RunOptions]) -> dict[str, Any]:
        """As Engine.run, on the context's states, which a run that succeeds replaces.

        A run that fails leaves a state as it was, but for one that it was writing in place: runs refuse that (bad_input) until it is reset,
        restored or bound.
        """
    def bind_state(self, name: str, array: NDArray[Any] | SupportsDLPack, *, length: int = 0) -> None:
        """Keeps the state in the array, which is writable, C-contiguous, and of the state's type and whole capacity; what is in it is the
        state's value. length: of a growing state. Raises TenonError: bad_input; bad_usage (bound already, or bytes of another state's).
        """
    def unbind_state(self, name: str) -> None:
        """Keeps the state in the context's memory again, at its initial value."""
    def reset(self, name: str | None = None) -> None:
        """Sets one state, or all (None), to the initial value."""
    def length(self, name: str) -> int:
        """Of a growing state."""
    def set_length(self, name: str, length: int) -> None:
        """Makes a growing state shorter, to take appended rows back. Raises TenonError: bad_input, bad_usage."""
    def state(self, name: str) -> Any:
        """A copy of what it holds, as a result of a run. Raises TenonError: bad_input where a failed run has left part of a value."""
    def fork(self) -> Context:
        """A context of the same engine whose states have the same values, in memory of its own."""
    def save(self, path: str | PathLike[str]) -> None:
        """Writes all states to a file, atomically. Raises TenonError: bad_input as state(), write_failed."""
    def to_bytes(self) -> bytes:
        """The bytes of such a file."""
    def restore(self, source: bytes | str | PathLike[str]) -> None:
        """Sets all states to what was saved, in a file or bytes. Changes nothing where it raises TenonError: file_missing; bad_file
        (damaged, or no states); bad_input (of another engine).
        """

def load(
    path: str | PathLike[str],
    *,
    verify: bool = False,
    backend_libraries: Mapping[str, str | PathLike[str]] = ...,
    custom_ops: Sequence[str | PathLike[str]] = ...,
    plugins: Sequence[str | PathLike[str]] = ...,
    plugin_any_build: bool = False,
    embedded_plugins: bool = False,
    isolate_plugins: bool = False,
    plugin_timeout: float = 300.0,
    plugin_memory: int = 0,
) -> Engine:
    """Loads an engine file; `verify` checks every byte of it. backend_libraries, custom_ops, plugins: as for compile(). plugin_any_build:
    takes other builds of plugins than the engine was built with. embedded_plugins: takes the libraries inside the file, which are code of
    whoever made it. isolate_plugins, plugin_timeout, plugin_memory: as for compile(). Raises TenonError."""

def _load_bytes(bytes: bytes, **options: Any) -> Engine: ...
