# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations


class TenonError(Exception):
    """An error of Tenon. Every part but `code` and `what` may be empty."""

    def __init__(self, code: str, place: str, what: str, expected: str, found: str, advice: str) -> None:
        super().__init__(code, place, what, expected, found, advice)
        self.code = code
        self.place = place
        self.what = what
        self.expected = expected
        self.found = found
        self.advice = advice

    def __str__(self) -> str:
        parts = [f"{self.code}{f' at {self.place}' if self.place else ''}: {self.what}"]
        parts += [f"  {k + ':':9} {v}" for k, v in (("expected", self.expected), ("found", self.found), ("try", self.advice)) if v]
        return "\n".join(parts)


TenonError.__module__ = __package__  # where it is found
