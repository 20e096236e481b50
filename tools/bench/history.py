# SPDX-License-Identifier: Apache-2.0
"""The results of `./dev bench`: bench/results/KIND.jsonl, one line for each run, the last KEPT runs of each kind of machine."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "bench" / "results"
KEPT = 40
LARGEST_BYTES = 300_000  # a kind
FEATURES = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_bf16", "avx_vnni")


def machine(report: str | None = None, cores: int | None = None) -> dict:
    """The kind of this machine, without its name. report: the contents of /proc/cpuinfo."""
    report = Path("/proc/cpuinfo").read_text(encoding="utf-8") if report is None else report
    fields = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", report.split("\n\n")[0], re.MULTILINE))
    flags = fields.get("flags", "").split()
    return {
        "cpu": fields.get("model name", "unknown CPU"),
        "family": f"{fields.get('cpu family', '?')}.{fields.get('model', '?')}",
        "features": [each for each in FEATURES if each in flags],
        "cores": cores or os.cpu_count() or 1,
    }


def file_of(kind: dict, folder: Path = FOLDER) -> Path:
    words = f"{kind['cpu']} {kind['family']} {kind['cores']} cores"
    return folder / f"{re.sub('[^a-z0-9]+', '-', words.lower()).strip('-')}.jsonl"


def rounded(value: object) -> object:
    """Numbers rounded to four significant digits."""
    if isinstance(value, float):
        return float(f"{value:.4g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


def trimmed(lines: list[str]) -> list[str]:
    """The last runs, as many as may be kept."""
    lines = lines[-KEPT:]
    while len(lines) > 1 and sum(len(line) + 1 for line in lines) > LARGEST_BYTES:
        lines = lines[1:]
    return lines


def append(run: dict, folder: Path = FOLDER, again: bool = False) -> Path:
    """run: machine, date, command, threads, cold, note, rows. again: in place of the last one, which was the same run with fewer rows."""
    folder.mkdir(parents=True, exist_ok=True)
    path = file_of(run["machine"], folder)
    before = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    before = before[:-1] if again else before
    text = "".join(line + "\n" for line in trimmed([*before, json.dumps(rounded(run))]))
    path.write_text(text, encoding="utf-8")
    return path


def runs(folder: Path = FOLDER) -> list[dict]:
    """All runs, the oldest of each kind first."""
    return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text(encoding="utf-8").splitlines()]
