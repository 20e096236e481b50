# SPDX-License-Identifier: Apache-2.0
"""What `./dev bench` measures: a case is a file, tools/bench/cases/NAME.toml.

title      what stands in the table
place      where it stands there
family     of tools/models, at its real size
precision  f32, which all engines are forced to (the default); bf16: of products, only engines that have it are beside Tenon then, and
           Tenon's own f32; or int8: of the products that a quantized model has
quantized  how the family's model is made one of 8 bits by tools/models/make_quantized.py (static, dynamic; default: it is not)
[inputs]   the shape of each
lengths    of the rows that a mask keeps (default: all)
end        the id at each row's last place, where a network looks for it
[bar]      ratio: to be so many times as fast as the best other engine; share: of the machine's limit
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "cases"
KNOWN = {"title", "place", "family", "precision", "quantized", "inputs", "lengths", "end", "bar"}
PRECISIONS = ("f32", "bf16", "int8")
FIRST_ID, LAST_ID = 3, 1000


@dataclass
class Case:
    name: str
    title: str
    family: str
    inputs: dict[str, list[int]]
    place: float = 0
    precision: str = "f32"
    quantized: str = ""
    lengths: list[int] = field(default_factory=list)
    end: int | None = None
    bar: dict[str, float] = field(default_factory=dict)


def problems(name: str, report: dict) -> list[str]:
    """Errors in the file of a case."""
    out = [f"{name}: there is no field {key!r}; there are {', '.join(sorted(KNOWN))}" for key in report if key not in KNOWN]
    out += [f"{name}: the field {key!r} is missing" for key in ("title", "family", "inputs") if not report.get(key)]
    if (precision := report.get("precision", "f32")) not in PRECISIONS:
        out.append(f"{name}: not supported yet: precision {precision}; there is {', '.join(PRECISIONS)}")
    for key, shape in report.get("inputs", {}).items():
        if not isinstance(shape, list) or not all(isinstance(size, int) and size > 0 for size in shape):
            out.append(f"{name}: input {key!r} needs a list of sizes, found {shape!r}")
    out += [f"{name}: a bar is a ratio or a share, found {key!r}" for key in report.get("bar", {}) if key not in ("ratio", "share")]
    return out


def read(path: Path) -> Case:
    report = tomllib.loads(path.read_text(encoding="utf-8"))
    if found := problems(path.name, report):
        raise ValueError("\n".join(found))
    return Case(path.stem, **report)


def all_cases() -> dict[str, Case]:
    """All cases by name, in the order of the table."""
    cases = [read(path) for path in FOLDER.glob("*.toml")]
    return {case.name: case for case in sorted(cases, key=lambda case: (case.place, case.name))}


def mask_of(case: Case, shape: list[int]) -> np.ndarray:
    mask = np.ones(shape, np.int64)
    for row, length in enumerate(case.lengths):
        mask[row, length:] = 0
    return mask


def array(case: Case, name: str, shape: list[int], random: np.random.Generator) -> np.ndarray:
    """The values of an input, by its name: ones for masks, zeros for token types, 0, 1, ... for positions, random ids, else
    normally distributed numbers."""
    if name.endswith("mask"):
        return mask_of(case, shape)
    if name == "token_type_ids":
        return np.zeros(shape, np.int64)
    if name == "position_ids":
        return np.broadcast_to(np.arange(shape[-1]), shape).copy()
    if name.endswith("ids"):
        ids = random.integers(FIRST_ID, LAST_ID, shape)
        mask = mask_of(case, shape)
        if case.end is not None:
            ids[np.arange(len(ids)), mask.sum(axis=1) - 1] = case.end
        return np.where(mask == 1, ids, 0)
    return random.standard_normal(shape, np.float32)


def arrays(case: Case, seed: int = 1) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {name: array(case, name, shape, random) for name, shape in case.inputs.items()}
