# SPDX-License-Identifier: Apache-2.0
"""Runs python/tests/pytorch in an environment with PyTorch: .venv-peers, or else .venv-models, with pytest from .venv.

PYTHONPATH=build/python .venv/bin/python tools/test_pytorch.py [PYTEST'S ARGUMENTS]    77 where PyTorch is in neither
"""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tools/check"))
from run_with_packages import SKIPPED, has  # noqa: E402


def main() -> None:
    pythons = [ROOT / name / "bin/python" for name in (".venv-peers", ".venv-models")]
    python = next((python for python in pythons if has(["torch"], python)), None)
    if python is None:
        print("skipped 'needs torch in .venv-peers'")
        sys.exit(SKIPPED)
    # Last on the path: what the other environment has too is its own.
    packages = list(map(str, (ROOT / ".venv/lib").glob("python3*/site-packages")))
    run = f"import sys; sys.path += {packages!r}; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    tests = sys.argv[1:] or [str(ROOT / "python/tests/pytorch")]
    os.execv(python, [str(python), "-W", "ignore::FutureWarning", "-c", run, "-q", "-rs", "-p", "no:cacheprovider", *tests])


if __name__ == "__main__":
    main()
