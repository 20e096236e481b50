# SPDX-License-Identifier: Apache-2.0
"""Files of every kind that Tenon reads, damaged at random: each is refused with one error, or works all the same. No crash, no hang.

python tests/bad_input/damage_test.py [COUNT [SEED]]   tries that many (200 without)
"""

from __future__ import annotations

import collections
import io
import random
import resource
import sys
import tempfile
import unittest
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from harness import Outcome, complaint, tenon
from whole_models import cache, perceptron, whole_models

COUNT, SEED = 200, 1
MOST_SECONDS = 20  # of CPU time
MOST_MEGABYTES = 3000
ADDRESSES = 6 << 30  # bytes: a damaged size may be large and still be one that a machine has; this one has no more
HARMLESS = 0


# --- what is damaged -------------------------------------------------------------------------------------------


RULES = b"""# what is said of these rules does not matter: they are damaged
double_neg: Neg(Neg(?x)) => ?x
gelu: Mul(Mul(?x, 0.5), Add(Erf(Div(?x, 1.4142135)), 1)) => Gelu(?x)
    approximate
twice: Transpose(Transpose(?x, perm=?p), perm=?q) => Transpose(?x, perm=compose(?p, ?q))
relu_clip: Relu(Clip(?x, ?low, ?high)) => Clip(?x, Max(?low, 0), ?high) where positive(?high)
"""


def npy() -> bytes:
    out = io.BytesIO()
    np.save(out, np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8))
    return out.getvalue()


def npz(save: Callable) -> bytes:
    out = io.BytesIO()
    save(out, x=np.linspace(-1, 1, 24, dtype=np.float32).reshape(3, 8), other=np.arange(5))
    return out.getvalue()


@dataclass
class Kind:
    """A whole file, what it is called when damaged, and the call that reads it."""

    name: str
    data: bytes
    file: str
    call: list[str]


def engines_with_states(folder: Path) -> list[Kind]:
    """Of two entries over two states, one of which grows."""
    (folder / "cache.onnx").write_bytes(cache())
    (folder / "other.onnx").write_bytes(cache(scale=2))
    states, out = ["--state", "past=present:16", "--state", "sum=total"], []
    for options in ([], ["--portable"], ["--backend", "reference,cpu"]):
        assert tenon("build", "cache.onnx", "--entry", "other=other.onnx", *states, *options, "-o", "c.tenon", folder=folder).exit == 0
        title = f"engine with states {' '.join(options)}".strip()
        for entry in ("main", "other"):
            out.append(Kind(f"{title}, {entry}", (folder / "c.tenon").read_bytes(), "bad.tenon", ["run", "bad.tenon", "--entry", entry]))
    return out


def kinds(folder: Path) -> list[Kind]:
    """Writes `folder`/m.onnx, which some calls read beside the damaged file."""
    models = whole_models()
    (folder / "m.onnx").write_bytes(models["perceptron"])
    out = []
    for name, data in models.items():
        out.append(Kind(f"onnx {name}", data, "bad.onnx", ["run", "bad.onnx", "--opt", "3"]))
        out.append(Kind(f"onnx {name}, opt 0", data, "bad.onnx", ["run", "bad.onnx", "--opt", "0"]))
        for options in ([], ["--portable"], ["--backend", "reference,cpu"]):
            made = folder / f"{name}.tenon"
            (folder / f"{name}.onnx").write_bytes(data)
            assert tenon("build", f"{name}.onnx", "-o", made, *options, folder=folder).exit == 0
            title = f"engine {name} {''.join(options)}".strip()
            out.append(Kind(title, made.read_bytes(), "bad.tenon", ["run", "bad.tenon"]))
            out.append(Kind(f"{title}, verified", made.read_bytes(), "bad.tenon", ["run", "bad.tenon", "--verify"]))
    out += engines_with_states(folder)
    out.append(Kind("npy", npy(), "bad.npy", ["run", "m.onnx", "--opt", "0", "--input", "x=bad.npy"]))
    for name, save in (("npz", np.savez), ("npz, compressed", np.savez_compressed)):
        out.append(Kind(name, npz(save), "bad.npz", ["run", "m.onnx", "--opt", "0", "--input", "x=bad.npz"]))
    out.append(Kind("rules", RULES, "bad.rules", ["rewrite", "m.onnx", "--rules", "bad.rules"]))
    out.append(Kind("rules, listed", RULES, "bad.rules", ["rules", "list", "bad.rules"]))
    return out


# --- how -------------------------------------------------------------------------------------------------------

NUMBERS = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1]
WORDS = [
    b"(",
    b")",
    b"=>",
    b"?x",
    b"?",
    b",",
    b"=",
    b"0.5",
    b"-",
    b'"',
    b"where",
    b"|",
    b"#",
    b"\n",
    b"\0",
    b"{",
    b"[",
    b"1e999",
    b"\xff\xfe",
]


def span(dice: random.Random, data: bytearray, most: int = 64) -> slice:
    begin = dice.randrange(len(data) + 1)
    return slice(begin, min(len(data), begin + dice.randint(1, most)))


def flip(dice: random.Random, data: bytearray) -> None:
    at = dice.randrange(len(data))
    data[at] ^= 1 << dice.randrange(8)


def put_number(dice: random.Random, data: bytearray) -> None:
    width = dice.choice([1, 2, 4, 8])
    at = dice.randrange(len(data))
    data[at : at + width] = (dice.choice(NUMBERS) & ((1 << 8 * width) - 1)).to_bytes(width, "little")


def put_varint(dice: random.Random, data: bytearray) -> None:
    value, out = dice.choice(NUMBERS), bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    at = dice.randrange(len(data))
    data[at : at + 1] = bytes(out) + bytes([value])


def put_word(dice: random.Random, data: bytearray) -> None:
    at = span(dice, data, 3)
    data[at] = dice.choice(WORDS)


def put_noise(dice: random.Random, data: bytearray) -> None:
    at = span(dice, data)
    data[at] = dice.choice([dice.randbytes, lambda n: b"\xff" * n, bytes])(at.stop - at.start)


def take_away(dice: random.Random, data: bytearray) -> None:
    del data[span(dice, data)]


def move(dice: random.Random, data: bytearray) -> None:
    part = data[span(dice, data, 200)]
    at = dice.randrange(len(data) + 1)
    data[at:at] = part


def cut_off(dice: random.Random, data: bytearray) -> None:
    del data[dice.randrange(len(data)) :]


def go_on(dice: random.Random, data: bytearray) -> None:
    data += dice.randbytes(dice.randint(1, 100))


DAMAGES = [flip, flip, flip, put_number, put_number, put_varint, put_word, put_noise, take_away, move, cut_off, go_on]


def damaged(dice: random.Random, whole: bytes) -> tuple[bytes, str]:
    data, done = bytearray(whole), []
    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        damage = dice.choice(DAMAGES)
        if not data:
            break
        damage(dice, data)
        done.append(damage.__name__)
    return bytes(data), ", ".join(done)


# --- the test --------------------------------------------------------------------------------------------------


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))


def judge(result: Outcome) -> str:
    """'' where a damaged file was refused as it should be, or did no harm."""
    if result.exit == HARMLESS and "error" not in result.said and "garbled" not in result.said:
        return ""
    return complaint(result, ("what",), MOST_MEGABYTES)


def attempt(kind: Kind, number: int, seed: int) -> tuple[Kind, int, str, str, Outcome | None, bytes]:
    data, how = damaged(random.Random(f"{seed} {kind.name} {number}"), kind.data)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "m.onnx").write_bytes(perceptron())
        (Path(folder) / kind.file).write_bytes(data)
        try:
            result = tenon(*kind.call, folder=Path(folder), before=limited)
        except AssertionError as late:
            return kind, number, how, str(late), None, data
    return kind, number, how, judge(result), result, data


class Damaged(unittest.TestCase):
    def test_files_are_refused_with_one_error_or_work(self):
        with tempfile.TemporaryDirectory() as folder:
            every = kinds(Path(folder))
        refused, harmless = collections.Counter(), collections.Counter()
        tries = [(every[k % len(every)], k // len(every)) for k in range(COUNT)]
        for kind, number, how, wrong, result, data in (attempt(kind, number, SEED) for kind, number in tries):
            with self.subTest(f"{kind.name}, number {number} of seed {SEED}: {how}"):
                if wrong:
                    kept = Path(tempfile.gettempdir()) / f"damaged_{SEED}_{number}_{kind.file}"
                    kept.write_bytes(data)
                    self.fail(f"{wrong}: {kept}, {' '.join(kind.call)}: {result}")
            if result:
                (refused if result.exit else harmless)[kind.name.split()[0].rstrip(",")] += 1
        print(f"refused: {dict(refused)}; harmless: {dict(harmless)}")
        self.assertGreater(sum(refused.values()), COUNT // 3, "hardly anything is damaged: the test sees nothing")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    COUNT, SEED = [*numbers, *[COUNT, SEED][len(numbers) :]]
    unittest.main(argv=[sys.argv[0], *[word for word in sys.argv[1:] if not word.isdigit()]])
