# SPDX-License-Identifier: Apache-2.0
"""Undo of Python's own state of a network, together with the edits of its graph."""

from __future__ import annotations

from collections.abc import Callable


class UndoLog:
    """Between `open` and `commit` every change notes how it is undone; outside nothing is kept."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] | None = None

    @property
    def is_open(self) -> bool:
        return self._undo is not None

    def open(self) -> None:
        self.rollback()
        self._undo = []

    def record(self, undo: Callable[[], None]) -> None:
        if self._undo is not None:
            self._undo.append(undo)

    def commit(self) -> None:
        self._undo = None

    def rollback(self) -> None:
        undo, self._undo = self._undo, None
        for step in reversed(undo or []):
            step()
