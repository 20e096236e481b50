# SPDX-License-Identifier: Apache-2.0
"""Compiles the example model and runs it on a batch of three."""

import numpy as np
import tenon

engine = tenon.compile("examples/mlp.onnx")
y = engine.run({"x": np.full((3, 16), 0.5, np.float32)})["y"]
print(y.argmax(axis=1))
