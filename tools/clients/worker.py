# SPDX-License-Identifier: Apache-2.0
"""One side of a comparison, in a process of its own: `worker.py counts|speed own|b|tenon CHECKOUT PATH`.

counts: for each model of the folder PATH a line of JSON, [name, nodes] or [name, what was raised]; sets default+onnxruntime.
speed: [seconds of to_onnx, nodes] for the model PATH; set default.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import onnx
from judge import count_nodes
from routes import routes_b


def interface(side: str, checkout: str) -> Any:
    """What has GraphBuilder and OptimizationOptions."""
    sys.path.insert(0, checkout)
    if side == "own":
        import yobx.xbuilder

        return yobx.xbuilder
    if side == "b":
        return routes_b(Path(checkout))["xbuilder"]
    import tenon.pattern_optimizer

    return tenon.pattern_optimizer


def optimised(api: Any, model: onnx.ModelProto, patterns: str) -> tuple[float, onnx.ModelProto]:
    options = api.OptimizationOptions(patterns=patterns)
    builder = api.GraphBuilder(model, infer_shapes_options=True, optimization_options=options)
    start = time.perf_counter()
    made = builder.to_onnx()
    return time.perf_counter() - start, getattr(made, "proto", made)


def counts(api: Any, folder: Path) -> None:
    for file in sorted(folder.glob("*.onnx")):
        try:
            found: Any = count_nodes(optimised(api, onnx.load(file, load_external_data=False), "default+onnxruntime")[1])
        except Exception as e:  # the models of tests may be refused: the line says so
            found = f"{type(e).__name__}: {e}"[:300]
        print(json.dumps([file.stem, found]), flush=True)


def speed(api: Any, file: Path) -> None:
    """The weights are loaded, unless their file is not there."""
    model = onnx.load(file, load_external_data=False)
    places = {e.value for i in model.graph.initializer for e in i.external_data if e.key == "location"}
    if all(file.with_name(place).exists() for place in places):
        model = onnx.load(file)
    seconds, made = optimised(api, model, "default")
    print(json.dumps([seconds, count_nodes(made)]))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    what, side, checkout, path = sys.argv[1:]
    {"counts": counts, "speed": speed}[what](interface(side, checkout), Path(path))
