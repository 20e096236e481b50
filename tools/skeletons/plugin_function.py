# SPDX-License-Identifier: Apache-2.0
"""mine::Skeleton, y = scale * x. All of it is to be changed; a decorated function is an op.

python skeleton.py                          tries it, as `tenon plugin test` tries libraries, which cannot open a file of Python
import skeleton, tenon                      models that are compiled or loaded from then on may have it,
tenon.compile("model.onnx").run(...)        as nodes of the domain "mine" and the op "Skeleton"
"""

import numpy as np
import tenon


@tenon.plugin(
    "mine::Skeleton",
    definition="Mul(x, scale)",  # what it computes, in ops of ONNX: what it is tested against
    samples=["f32[2,3]", "f32[0,5]; scale=2.5", "f32[]; scale=-1.0"],
)
def skeleton(x, *, scale=1.0):
    """scale * x"""
    return x * np.float32(scale)


if __name__ == "__main__":
    print(f"{tenon.test_plugin(skeleton)} cases: nothing was found")
