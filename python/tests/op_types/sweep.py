# SPDX-License-Identifier: Apache-2.0
"""Runs cases in a child process, which may crash. `python -m op_types.sweep FILE`: the child; FILE has the cases, stdout the findings."""

from __future__ import annotations

import json
import os
import pickle
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SECONDS_FOR_ONE = 120
RIGHT, REFUSED, WRONG, CRASH, CANNOT_RUN, INVALID = "right", "refused", "wrong", "crash", "cannot run", "invalid"


def listed(name: str) -> dict[str, str]:
    """`OP VARIABLE=TYPE: why`, `OP: why` or `* TYPE: why`, one a line."""
    lines = (Path(__file__).parent / name).read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def key_of(case: Any) -> str:
    op, _, types = case.label.split(" in ")[0].split(" ")
    return f"{op} {types}"


def is_listed(case: Any, where: dict[str, str]) -> bool:
    op, types = key_of(case).split(" ")
    return any(key in where for key in (f"{op} {types}", op, f"* {types.split('=')[1]}"))


class Judge:
    """onnx.reference; Tenon's reference functions where it lacks the op or the type, or is listed as wrong."""

    def __init__(self) -> None:
        self.wrong = listed("onnx_reference.txt")
        self.known: dict[str, tuple[str, Any]] = {}

    def results(self, case: Any) -> tuple[str, Any]:
        """Who judges, and the results of the node at the top of a graph; ("", why) where nobody runs it."""
        from dataclasses import replace

        from .models import model_of

        plain = replace(case, road="plain")
        key = plain.label.split(" in ")[0]
        if key not in self.known:
            self.known[key] = self.by_reference(*model_of(plain), is_listed(case, self.wrong))
        return self.known[key]

    @staticmethod
    def by_reference(model: Any, inputs: dict[str, Any], by_tenon: bool) -> tuple[str, Any]:
        import tenon
        from onnx.reference import ReferenceEvaluator

        why = "listed"
        try:
            if not by_tenon:
                return "onnx.reference", ReferenceEvaluator(model).run(None, inputs)
        except Exception as error:  # it raises whatever NumPy does
            why = f"{type(error).__name__}: {error}"
        try:
            got = tenon.compile(model, opt=0, backends=["reference"]).run(inputs)
            return "tenon.reference", [got[o.name] for o in model.graph.output]
        except tenon.TenonError as error:
            return "", f"{why}; {error}"


def judged(case: Any, opt: int, judge: Judge) -> tuple[str, str]:
    """What comes of a case at one level, saved and loaded; and why."""
    import tenon

    from .models import expected_on, model_of
    from .values import difference

    model, inputs = model_of(case)
    by, want = judge.results(case)
    try:
        engine = tenon.compile(model, opt=opt)
    except tenon.TenonError as error:
        return REFUSED, str(error)
    try:
        with tempfile.TemporaryDirectory() as folder:
            engine.save(f"{folder}/m.tenon")
            got = tenon.load(f"{folder}/m.tenon").run(inputs)
    except tenon.TenonError as error:
        return (CANNOT_RUN if by == "onnx.reference" else INVALID), f"{error} (judge: {want if not by else by})"
    if not by:
        return WRONG, f"nobody else runs it: {want}"
    wanted = expected_on(case.road, want)
    found = [
        difference(w, got[f"y{k}"], case.tolerance, values=not case.random)
        for w, k in zip(wanted, [k for k, r in enumerate(case.results) if r], strict=True)
    ]
    bad = next((f for f in found if f), "")
    return (WRONG, f"{bad} (by {by})") if bad else (RIGHT, by)


def child(path: str) -> None:
    cases = pickle.loads(Path(path).read_bytes())
    judge = Judge()
    for number, (case, opt) in cases:
        print(json.dumps(number), flush=True)
        print(json.dumps(judged(case, opt, judge)), flush=True)


def findings(cases: list[tuple[Any, int]]) -> Iterator[tuple[Any, int, str, str]]:
    """case, opt, what came of it, why."""
    left = list(enumerate(cases))
    with tempfile.TemporaryDirectory() as folder:
        while left:
            path = Path(folder) / "cases"
            path.write_bytes(pickle.dumps(left))
            for number, outcome, why in run_child(path):
                yield *cases[number], outcome, why
                last = number
            left = [c for c in left if c[0] > last]


def run_child(path: Path) -> Iterator[tuple[int, str, str]]:
    """Until it ends; the last case is the one that ended it."""
    errors = tempfile.TemporaryFile()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parent.parent), *sys.path])}
    with subprocess.Popen(
        [sys.executable, "-m", "op_types.sweep", path], stdout=subprocess.PIPE, stderr=errors, env=environment
    ) as process:
        lines = process.stdout
        while line := lines.readline():
            number = json.loads(line)
            if not select.select([lines], [], [], SECONDS_FOR_ONE)[0]:
                process.kill()
            answer = lines.readline()
            if not answer:
                process.wait()
                errors.seek(0)
                yield number, CRASH, f"exit {process.returncode}: {errors.read()[-300:].decode(errors='replace')}"
                return
            yield number, *json.loads(answer)


if __name__ == "__main__":
    child(sys.argv[1])
