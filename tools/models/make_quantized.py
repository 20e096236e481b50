# SPDX-License-Identifier: Apache-2.0
"""Writes 8-bit forms of an exported model, as ONNX Runtime's quantizer makes them.

.venv-peers/bin/python tools/models/make_quantized.py MODEL OUT [--how static] [--activations u8]

static   QuantizeLinear and DequantizeLinear around every op that has an integer form: weights i8, one scale a channel;
         activations by the range that they have over a few drawn samples
dynamic  products with constant weights (i8) get their other operand rounded over the range that it has in the run
"""

from __future__ import annotations

import argparse
import logging
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnxruntime import quantization
from onnxruntime.quantization import shape_inference

SAMPLES = 4
ACTIVATIONS = {"u8": quantization.QuantType.QUInt8, "i8": quantization.QuantType.QInt8}


class Drawn(quantization.CalibrationDataReader):
    """Normal numbers for the inputs of a model, batch 1."""

    def __init__(self, model: Path) -> None:
        random = np.random.default_rng(1)
        inputs = onnx.load(model, load_external_data=False).graph.input
        shapes = {each.name: [dim.dim_value or 1 for dim in each.type.tensor_type.shape.dim] for each in inputs}
        self.samples = iter([{name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()} for _ in range(SAMPLES)])

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.samples, None)


def quantize_static(model: Path, out: Path, activations: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        shape_inference.quant_pre_process(str(model), str(prepared), skip_symbolic_shape=True)
        quantization.quantize_static(
            str(prepared),
            str(out),
            Drawn(prepared),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=True,
            reduce_range=False,
            activation_type=ACTIVATIONS[activations],
            weight_type=quantization.QuantType.QInt8,
        )


def quantize_dynamic(model: Path, out: Path) -> None:
    quantization.quantize_dynamic(str(model), str(out), weight_type=quantization.QuantType.QInt8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--how", choices=["static", "dynamic"], default="static")
    parser.add_argument("--activations", choices=ACTIVATIONS, default="u8", help="of static")
    asked = parser.parse_args()
    logging.getLogger().setLevel(logging.ERROR)
    if asked.how == "static":
        quantize_static(asked.model, asked.out, asked.activations)
    else:
        quantize_dynamic(asked.model, asked.out)


if __name__ == "__main__":
    main()
