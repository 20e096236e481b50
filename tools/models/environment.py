# SPDX-License-Identifier: Apache-2.0
"""Where the project and its binary are, and the interpreter that can export models."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TENON = Path(os.environ.get("TENON", ROOT / "build" / "bin" / "tenon"))
REQUIREMENTS = ROOT / "tools" / "requirements-models.txt"


def run(command: list[str], **options) -> subprocess.CompletedProcess:
    """Runs a command; its error text ends the program."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done


def models_python() -> Path:
    """The interpreter that can export models; made on first use."""
    python = ROOT / ".venv-models" / "bin" / "python"
    stamp = ROOT / ".venv-models" / ".installed"
    if not stamp.exists():
        print("installing PyTorch and transformers into .venv-models", flush=True)
        run([sys.executable, "-m", "venv", ROOT / ".venv-models"])
        for line in REQUIREMENTS.read_text().splitlines():
            if line and not line.startswith("#"):
                run([python, "-m", "pip", "install", "--quiet", line])
        stamp.touch()
    return python
