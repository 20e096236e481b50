#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/base/blocks.txt: blocks of each format and what gguf.quants makes of them (PyPI `gguf`); --check compares instead."""

import argparse
import sys
from pathlib import Path

import gguf
import numpy as np

FILE = Path(__file__).resolve().parents[2] / "tests/base/blocks.txt"
FORMATS = "F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS MXFP4".split()
SCALES = {"Q2_K": (80, 82), "Q3_K": (108,), "Q6_K": (208,), "Q4_1": (0, 2), "Q5_1": (0, 2), "Q4_K": (0, 2), "Q5_K": (0, 2)}
WITHOUT_F16 = ("F32", "BF16", "MXFP4")


def random_blocks(name: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random codes; scales are finite f16 of all sizes, zeros and subnormal ones among them."""
    elements, size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    if elements == 1:
        values = (rng.standard_normal(count) * 10.0 ** rng.integers(-7, 5, count)).astype(np.float32)
        return gguf.quants.quantize(values.reshape(1, -1), gguf.GGMLQuantizationType[name]).view(np.uint8).reshape(count, size)
    if name in WITHOUT_F16:
        return blocks
    for at in SCALES.get(name, (0,)):
        bits = rng.integers(0, 0x7C00, count, dtype=np.uint16) | rng.integers(0, 2, count, dtype=np.uint16) << 15
        blocks[:, at : at + 2] = bits.reshape(-1, 1).view(np.uint8)
    return blocks


def random_weights(count: int, rng: np.random.Generator) -> np.ndarray:
    """Normal ones, with blocks of zeros, of one value and of halves (ties) first."""
    values = rng.standard_normal((count, 32)).astype(np.float32) * 0.05
    values[0], values[1] = 0, 0.25
    values[2] = np.arange(32) * np.float32(0.5)
    return values


def lines() -> list[str]:
    out = ["# decode FORMAT BLOCK VALUES (f32 bits) | encode FORMAT VALUES BLOCK, in hex. By tools/models/make_block_cases.py."]
    rng = np.random.default_rng(31)
    for name in FORMATS:
        kind = gguf.GGMLQuantizationType[name]
        blocks = random_blocks(name, 16 if gguf.GGML_QUANT_SIZES[kind][0] == 1 else 3, rng)
        for block in blocks:
            values = gguf.quants.dequantize(block.reshape(1, -1), kind)
            out.append(f"decode {name} {block.tobytes().hex()} {values.astype('<f4').tobytes().hex()}")
    for name in ("Q4_0", "Q4_1", "Q8_0"):
        for values in random_weights(6, rng):
            block = gguf.quants.quantize(values.reshape(1, -1), gguf.GGMLQuantizationType[name])
            out.append(f"encode {name} {values.tobytes().hex()} {block.tobytes().hex()}")
    return out


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    text = "\n".join(lines()) + "\n"
    if not parser.parse_args().check:
        FILE.write_text(text)
    elif FILE.read_text() != text:
        print(f"{FILE} differs from what gguf.quants gives: run {Path(__file__).name}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
