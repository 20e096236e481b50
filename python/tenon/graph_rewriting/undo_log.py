# SPDX-License-Identifier: Apache-2.0
"""Undo of Python's own state of a network, together with the edits of its graph."""

from __future__ import annotations

from collections.abc import Callable


class UndoLog:
    """The steps that undo the changes since `begin`, until `commit` or `rollback`; outside of that `record` does nothing."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], None]] | None = None  # in the order of the changes; None: not recording

    @property
    def is_recording(self) -> bool:
        return self._steps is not None

    def begin(self) -> None:
        """Undoes what is still recorded, and starts to record."""
        self.rollback()
        self._steps = []

    def record(self, undo: Callable[[], None]) -> None:
        if self._steps is not None:
            self._steps.append(undo)

    def commit(self) -> None:
        """The changes stay."""
        self._steps = None

    def rollback(self) -> None:
        """Undoes the recorded changes, the last one first."""
        steps, self._steps = self._steps, None
        for step in reversed(steps or []):
            step()
