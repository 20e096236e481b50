# SPDX-License-Identifier: Apache-2.0
"""Writes tests/base/blocks.expected: random blocks of each format that PyPI gguf decodes, and the bits of what it makes of them.

python tools/models/make_block_samples.py    needs gguf and numpy
"""

from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

OUT = Path(__file__).resolve().parents[2] / "tests/base/blocks.expected"
# Where a block has numbers of 16 bits, by bytes: random ones would often be no numbers.
HALVES = {
    "F16": [0], "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2],
    "Q5_K": [0, 2], "Q6_K": [208], "IQ4_NL": [0], "IQ4_XS": [0],
}  # fmt: skip
BLOCKS = 3


def sample(name: str, random: np.random.Generator) -> np.ndarray:
    _, size = GGML_QUANT_SIZES[GGMLQuantizationType[name]]
    block = random.integers(0, 256, size, dtype=np.uint8)
    for at in HALVES[name]:
        block[at : at + 2] = np.frombuffer(np.float16(random.normal()).tobytes(), np.uint8)
    return block


def main() -> None:
    lines = []
    for name in [*HALVES, "BF16", "MXFP4"]:
        HALVES.setdefault(name, [])
        random = np.random.default_rng(sum(name.encode()))
        for _ in range(BLOCKS):
            block = sample(name, random)
            if name == "MXFP4":
                block[0] = random.choice([0, 1, 2, 120, 127, 130])
            if name == "BF16":
                block[1] &= 0x7E
            numbers = dequantize(block, GGMLQuantizationType[name]).astype("<f4").reshape(-1)
            lines.append(f"{name} {block.tobytes().hex()} {numbers.tobytes().hex()}")
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
