# SPDX-License-Identifier: Apache-2.0
"""A small random model whose tokens are letters, in a folder and as an engine, for tests of the command line."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/nn"))
from checkpoint_files import write_language_model  # noqa: E402

TENON = Path(os.environ.get("TENON", ROOT / "build/bin/tenon"))


class SmallModel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.top = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.environment = os.environ | {"XDG_CACHE_HOME": str(cls.top / "cache")}
        cls.model = cls.top / "small"
        cls.model.mkdir()
        write_language_model(cls.model)
        cls.engine = cls.top / "small.tenon"
        cls.tenon("build", cls.model, "--context", 200, "-o", cls.engine)

    @classmethod
    def start(cls, *arguments: object, environment: dict[str, str] | None = None, **more) -> subprocess.CompletedProcess:
        words = [str(TENON), *map(str, arguments)]
        return subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment or cls.environment, **more)

    @classmethod
    def tenon(cls, *arguments: object, **more) -> str:
        done = cls.start(*arguments, **more)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)
        return done.stdout

    def failure(self, *arguments: object) -> dict:
        done = self.start(*arguments, "--json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return json.loads(done.stdout)["error"]
