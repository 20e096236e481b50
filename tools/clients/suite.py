# SPDX-License-Identifier: Apache-2.0
"""Runs one file of the original's tests in this process and writes a line of JSON a test: `suite.py RUN CHECKOUT FILE [PART_OF_A_NAME]`.

RUN: own (the original on itself), a, b. The models that GraphBuilder is given go to the folder TENON_MODELS where that is set.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import signal
import sys
import time
import traceback
import unittest
import warnings
from pathlib import Path
from typing import Any

from judge import TestModels, watch_assertions
from routes import load_tests, routes_a, routes_b

LIMIT = 240  # seconds a test


class Tests(unittest.TestResult):
    """What became of each test; a test whose parts fail has failed."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[tuple[BaseException, str]] = []
        self.skipped_because = ""

    def _fault(self, error: Any) -> None:
        self.faults.append((error[1], "".join(traceback.format_exception(*error))))

    def addError(self, test: Any, err: Any) -> None:
        self._fault(err)

    def addFailure(self, test: Any, err: Any) -> None:
        self._fault(err)

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:
        if err is not None:
            self._fault(err)

    def addSkip(self, test: Any, reason: str) -> None:
        self.skipped_because = reason


def save_model(folder: str, model: Any, test: str) -> None:
    """Each model once, under the name of the first test that hands it in."""
    if not hasattr(model, "SerializeToString") or not hasattr(model, "graph"):
        return
    content = model.SerializeToString()
    mark = hashlib.sha1(content).hexdigest()[:8]
    if not any(Path(folder).glob(f"*.{mark}.onnx")):
        Path(folder, f"{test}.{mark}.onnx").write_bytes(content)


def watch_builder(builder: type, seen: Any) -> None:
    """Notes what a GraphBuilder is given and what it gives."""
    to_onnx, init = builder.to_onnx, builder.__init__
    folder = os.environ.get("TENON_MODELS", "")

    def watched_init(self: Any, given: Any = None, *args: Any, **named: Any) -> None:
        if folder:
            save_model(folder, given, seen().test)
        init(self, given, *args, **named)

    def watched(self: Any, *args: Any, **named: Any) -> Any:
        made = to_onnx(self, *args, **named)
        model = made[0] if isinstance(made, tuple) else made
        if not getattr(self, "as_function", False):
            seen().add(getattr(model, "proto", model))
        return made

    builder.to_onnx = watched
    if folder:
        builder.__init__ = watched_init


def stop(*_: Any) -> None:
    raise TimeoutError(f"took longer than {LIMIT} s")


def run_test(test: unittest.TestCase, seen: TestModels) -> dict[str, Any]:
    result = Tests()
    start = time.perf_counter()
    out = io.StringIO()
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out), warnings.catch_warnings(record=True) as report:
        warnings.simplefilter("always")
        test.run(result)
    signal.alarm(0)
    fault = result.faults[0] if result.faults else None
    return {
        "test": test.id().split(".", 1)[1],
        "skipped": result.skipped_because,
        "fault": f"{type(fault[0]).__name__}: {fault[0]}"[:2000] if fault else "",
        "trace": fault[1][-6000:] if fault else "",
        "differences": seen.differences,
        "counts": seen.counts,
        "warnings": [text for text in (str(w.message) for w in report) if "left out" in text],
        "seconds": round(time.perf_counter() - start, 3),
    }


def cases_in(suite: unittest.TestSuite) -> list[unittest.TestCase]:
    return [case for part in suite for case in (cases_in(part) if isinstance(part, unittest.TestSuite) else [part])]


def main(run: str, checkout: str, file: str, part: str = "") -> None:
    sys.path.insert(0, checkout)
    routes = {} if run == "own" else routes_a(Path(checkout)) if run == "a" else routes_b(Path(checkout))
    module = load_tests(Path(file), routes)
    current = [TestModels()]
    from yobx.ext_test_case import ExtTestCase
    from yobx.xbuilder.graph_builder import GraphBuilder

    watch_builder(GraphBuilder if run == "own" else routes["xbuilder"].GraphBuilder, lambda: current[0])
    watch_assertions(ExtTestCase, lambda: current[0])
    for case in cases_in(unittest.defaultTestLoader.loadTestsFromModule(module)):
        if part in case.id():
            current[0] = TestModels(test=case.id().rsplit(".", 1)[1])
            print(json.dumps(run_test(case, current[0])), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
