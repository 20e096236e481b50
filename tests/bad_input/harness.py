# SPDX-License-Identifier: Apache-2.0
"""Runs `tenon` on hostile input and holds it to one error: code, place, what was expected, what was found, what to do."""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))
SECONDS = 60
MOST_MEGABYTES = 400  # of memory that a refusal may take; the program itself takes about 100
EXIT_CODES = {1: range(100, 200), 2: range(200, 300), 3: range(300, 400)}


@dataclass
class Outcome:
    exit: int
    said: dict  # the JSON object
    stderr: str
    megabytes: float

    @property
    def error(self) -> dict:
        return self.said.get("error", {})

    def __str__(self) -> str:
        return f"exit {self.exit}, {json.dumps(self.error)} {self.stderr[-2000:]}"


def tenon(
    *arguments: object, folder: Path | None = None, before: Callable[[], None] | None = None, environment: dict[str, str] | None = None
) -> Outcome:
    """One run with --json. `before` is called in the child, before the program starts; `environment` is added to this one's."""
    command = [str(TENON), *map(str, arguments), "--json"]
    (out, into_out), (err, into_err) = pipe(), pipe()
    with open(out, "rb") as out_file, open(err, "rb") as err_file:
        try:
            child = subprocess.Popen(
                command,
                stdout=into_out,
                stderr=into_err,
                stdin=subprocess.DEVNULL,
                cwd=folder,
                preexec_fn=before,
                env=os.environ | (environment or {}),
            )
        finally:
            os.close(into_out)
            os.close(into_err)
        usage = wait(child, command)
        printed, complaints = out_file.read(), err_file.read().decode(errors="replace")
    try:
        said = json.loads(printed) if printed else {}
    except ValueError:
        said = {"garbled": printed.decode(errors="replace")}
    return Outcome(child.returncode, said, complaints, usage.ru_maxrss / 1024)


def obey_permissions() -> None:
    """For `before`: takes root's right to read every file from the program that starts next."""
    drop_from_bounding_set, override, read_search = 24, 1, 2  # linux/prctl.h, linux/capability.h
    for capability in (override, read_search) if os.geteuid() == 0 else ():
        if ctypes.CDLL(None, use_errno=True).prctl(drop_from_bounding_set, capability, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_CAPBSET_DROP)")


def pipe() -> tuple[int, int]:
    """Both ends of a pipe that holds a megabyte, so that it can be read when the child has ended."""
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 1 << 20)
    return read, write


def wait(child: subprocess.Popen, command: list[str]):
    """Like child.wait(), but says what the child used; kills it when its time is up."""

    def late(*_):
        child.kill()
        raise AssertionError(f"still running after {SECONDS} s: {command}")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        _, status, usage = os.wait4(child.pid, 0)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    child.returncode = os.waitstatus_to_exitcode(status)
    return usage


def complaint(result: Outcome, parts: tuple[str, ...] = ("place", "what", "advice"), most_megabytes: int = MOST_MEGABYTES) -> str:
    """What is wrong with this refusal: '' where it is as it should be."""
    if result.exit not in EXIT_CODES:
        return "no refusal"
    if result.error.get("code") not in EXIT_CODES[result.exit]:
        return "the exit code does not fit the error's code"
    missing = [part for part in parts if not result.error.get(part)]
    if missing:
        return f"the error lacks {', '.join(missing)}"
    if result.stderr:
        return "something is on stderr"
    return f"it took {result.megabytes:.0f} MB" if result.megabytes > most_megabytes else ""


@dataclass
class Case:
    """One hostile file or call. `make(folder)` returns the arguments of `tenon`; {} stands for the folder."""

    name: str
    make: Callable[[Path], list]
    exit: int
    code: str  # the code's word
    place: str  # stands somewhere in the error's place
    says: list[str] = field(default_factory=list)  # each is in what, expected, found or advice
    parts: tuple[str, ...] = ("place", "what", "expected", "found", "advice")
    before: Callable[[], None] | None = None  # called in the child, before the program starts


def refuse(test: unittest.TestCase, case: Case) -> None:
    """Runs the case in a folder of its own and checks the refusal; nothing may be left that the case did not put there."""
    with test.subTest(case.name), tempfile.TemporaryDirectory() as folder:
        arguments = case.make(Path(folder))
        before = {p.relative_to(folder) for p in Path(folder).rglob("*")}
        result = tenon(*arguments, folder=Path(folder), before=case.before)
        test.assertEqual((result.exit, result.error.get("name")), (case.exit, case.code), str(result))
        test.assertIn(case.place, result.error["place"], str(result))
        report = "\n".join(result.error[part] for part in ("what", "expected", "found", "advice"))
        for words in case.says:
            test.assertIn(words, report)
        test.assertEqual(complaint(result, case.parts), "", str(result))
        left = {p.relative_to(folder) for p in Path(folder).rglob("*")} - before
        test.assertEqual(left, set(), "left behind")


def table(*cases: Case) -> Callable[[unittest.TestCase], None]:
    """A test method that tries each case."""

    def run(test: unittest.TestCase) -> None:
        for case in cases:
            refuse(test, case)

    return run


def written(name: str, data: bytes, *arguments: object) -> Callable[[Path], list]:
    """Puts `data` into the file `name`, then calls tenon with the arguments."""

    def make(folder: Path) -> list:
        (folder / name).write_bytes(data)
        return list(arguments)

    return make


def built(data: bytes) -> Callable[[Path], list]:
    """`tenon build` of a model of these bytes."""
    return written("m.onnx", data, "build", "m.onnx", "-o", "m.tenon")


if __name__ == "__main__":
    sys.exit("this is no test")
