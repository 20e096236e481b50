# SPDX-License-Identifier: Apache-2.0
"""The logger "tenon"."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tenon

MODEL = Path(__file__).resolve().parent.parent.parent / "examples/mlp.onnx"


@pytest.fixture(autouse=True)
def unchanged_logger():
    logger = logging.getLogger("tenon")
    level, handlers = logger.level, list(logger.handlers)
    yield
    logger.setLevel(level)
    logger.handlers = handlers


def test_steps_are_logged_at_info(caplog, tmp_path):
    with caplog.at_level(logging.INFO, logger="tenon"):
        engine = tenon.compile(MODEL)
        engine.save(tmp_path / "mlp.tenon")
        tenon.load(tmp_path / "mlp.tenon")
    texts = [record.getMessage() for record in caplog.records if record.name == "tenon"]
    assert len(texts) > 3 and all(text.startswith(("mlp.onnx: ", "mlp.tenon: ")) for text in texts)
    assert texts[-1] == "mlp.tenon: loaded"


def test_nothing_is_logged_below_the_level(caplog):
    with caplog.at_level(logging.WARNING, logger="tenon"):
        tenon.compile(MODEL)
    assert not caplog.records


def test_handler_that_raises_changes_nothing():
    class Bad(logging.Handler):
        def emit(self, record):
            raise RuntimeError("no")

    logger = logging.getLogger("tenon")
    logger.addHandler(Bad())
    logger.setLevel(logging.INFO)
    with Unraisable():
        assert tenon.compile(MODEL).inputs[0].name == "x"


class Unraisable:
    """Takes what is raised where nobody can catch it."""

    def __enter__(self):
        self.before, sys.unraisablehook = sys.unraisablehook, lambda _: None

    def __exit__(self, *_):
        sys.unraisablehook = self.before


def run_python(program: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **environment}, capture_output=True, text=True, timeout=300, check=True
    )


def test_level_writes_to_stderr():
    program = f"import tenon\ntenon.set_log_level('info')\ntenon.set_log_level('info')\ntenon.compile({str(MODEL)!r})"
    lines = run_python(program).stderr.splitlines()
    assert lines and all(line.startswith("tenon: mlp.onnx: ") for line in lines)
    assert len(lines) == len(set(lines))
    assert run_python(f"import tenon\ntenon.compile({str(MODEL)!r})").stderr == ""


def test_variable_sets_the_level():
    program = f"import tenon\ntenon.compile({str(MODEL)!r})"
    assert "tenon: mlp.onnx: " in run_python(program, TENON_LOG="info").stderr
    assert "TENON_LOG is no level" in run_python(program, TENON_LOG="loud").stderr


def test_unknown_level_is_refused():
    with pytest.raises(ValueError):
        tenon.set_log_level("loud")
