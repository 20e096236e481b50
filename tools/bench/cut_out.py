# SPDX-License-Identifier: Apache-2.0
"""Cuts parts out of a model: python tools/bench/cut_out.py MODEL.onnx FOLDER, a list of [inputs, outputs] by name as JSON on stdin.

Writes FOLDER/0.onnx, FOLDER/1.onnx, ...
"""

import json
import sys
from pathlib import Path

import onnx
import onnx.utils


def main() -> None:
    model = onnx.load(sys.argv[1])
    extractor = onnx.utils.Extractor(model)
    own = [i.name for i in model.graph.input]  # nodes of a part may ask for their sizes
    for k, (inputs, outputs) in enumerate(json.load(sys.stdin)):
        onnx.save(extractor.extract_model(list(dict.fromkeys([*inputs, *own])), outputs), Path(sys.argv[2]) / f"{k}.onnx")


if __name__ == "__main__":
    main()
