# SPDX-License-Identifier: Apache-2.0
"""Runs python/tests/pytorch where PyTorch is: in .venv-models, with pytest from .venv.

PYTHONPATH=build/python .venv-models/bin/python tools/test_pytorch.py [PYTEST'S ARGUMENTS]
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path += map(str, (ROOT / ".venv/lib").glob("python3*/site-packages"))  # last: what .venv-models has too is its own

import pytest  # noqa: E402

if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *(sys.argv[1:] or [str(ROOT / "python/tests/pytorch")])]))
