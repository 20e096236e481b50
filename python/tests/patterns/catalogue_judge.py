# SPDX-License-Identifier: Apache-2.0
"""Models for the patterns of the catalogue, and the judge: what the fused kernels compute, in numpy."""

from __future__ import annotations

import warnings

import numpy as np
import onnx
import onnx.helper as oh
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx_models import I64, F, model, ops
from tenon.pattern_optimizer import GraphBuilder, OptimizationOptions

KERNELS = "yaourt.ortops.fused_kernel.cuda"


def _scattered(shape, indices, updates, reduction, masked=None):
    out = np.zeros(tuple(shape), updates.dtype)
    combine = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}[reduction]
    for place in np.ndindex(*indices.shape[:-1]):
        index = tuple(indices[place])
        if masked is None or masked not in index:
            out[index] = combine(out[index], updates[place])
    return out


def _triangle(shape, constants):
    row, column = np.indices(tuple(shape))
    return constants[np.sign(column - row) + 1]


def _rotated(x, side):
    a, b = np.split(x, 2, axis=-1)
    return np.concatenate([b, -a] if side == "left" else [-b, a], axis=-1)


def _transposed(x, transposeMiddle):
    return x.swapaxes(1, 2) if transposeMiddle else x


DEFINITIONS = {
    "AddAdd": lambda x, y, z: x + y + z,
    "MulMul": lambda x, y, z: x * y * z,
    "AddMul": lambda x, y, z, transposeMiddle=0: _transposed((x + y) * z, transposeMiddle),
    "MulAdd": lambda x, y, z, transposeMiddle=0: _transposed(x * y + z, transposeMiddle),
    "SubMul": lambda x, y, z: (x - y) * z,
    "MulSub": lambda x, y, z, negative=0: z - x * y if negative else x * y - z,
    "AddSharedInput": lambda x, y, z: (x + y, x + z),
    "MulSharedInput": lambda x, y, z: (x * y, x * z),
    "MulSigmoid": lambda x: x / (1 + np.exp(-x)),
    "NegXplus1": lambda x: 1 - x,
    "ReplaceZero": lambda x, by, equal: np.where((x == 0) == bool(equal), by, x).astype(x.dtype),
    "Transpose2DCastFP16": lambda x: x.T.astype(np.float16),
    "Transpose2DCastFP32": lambda x: x.T.astype(np.float32),
    "Rotary": lambda x, sizes=None, side="": _rotated(x, side),
    "TriMatrix": _triangle,
    "ScatterNDOfShape": lambda s, i, u, reduction="", strategy="": _scattered(s, i, u, reduction),
    "MaskedScatterNDOfShape": lambda s, i, u, reduction="", maskedValue=0: _scattered(s, i, u, reduction, maskedValue),
}


def _kernel(name, compute):
    def _run(self, *operands, **attributes):
        found = compute(*operands, **{k: v for k, v in attributes.items() if v is not None})
        return found if isinstance(found, tuple) else (np.asarray(found),)

    return type(name, (OpRun,), {"op_domain": KERNELS, "_run": _run})


def run(model, feeds):
    kernels = [_kernel(name, compute) for name, compute in DEFINITIONS.items()]
    return ReferenceEvaluator(model, new_ops=kernels).run(None, feeds)


F16, F64, BOOL = onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE, onnx.TensorProto.BOOL
DTYPES = {F: np.float32, F16: np.float16, F64: np.float64, I64: np.int64}


def node(op_type, inputs, outputs, **attributes):
    return oh.make_node(op_type, inputs.split(), outputs.split(), name=f"{op_type}_{outputs.split()[0]}", **attributes)


def graph(nodes, inputs, outputs, weights=(), **more):
    """inputs, outputs: {name: shape}, or {name: (type, shape)}."""
    sides = [{n: s if isinstance(s, tuple) else (F, s) for n, s in side.items()} for side in (inputs, outputs)]
    return model(nodes, *sides, weights, **more)


def optimised(source, patterns, processor="CUDA", **options):
    options = OptimizationOptions(patterns=patterns, processor=processor, remove_identity=False, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a pattern that is left out is no pattern that does not match
        return GraphBuilder(source, optimization_options=options).to_onnx()


def feeds_of(source, **given):
    rng = np.random.default_rng(0)
    out = {}
    for port in source.graph.input:
        tensor = port.type.tensor_type
        shape = [d.dim_value if d.WhichOneof("value") == "dim_value" else 4 for d in tensor.shape.dim]
        out[port.name] = given.get(port.name, rng.integers(-3, 4, shape)).astype(DTYPES[tensor.elem_type])
    return out


def becomes(source, patterns, expected, attributes=None, **feeds):
    """The nodes that the model becomes; numbers do not change. Returns the model."""
    out = optimised(source, patterns)
    assert ops(out) == expected, ops(out)
    if attributes is not None:
        assert {a.name: oh.get_attribute_value(a) for a in out.graph.node[0].attribute} == attributes
    if any(n.domain == KERNELS for n in out.graph.node):
        assert {o.domain: o.version for o in out.opset_import}[KERNELS] == 1
    fed = feeds_of(source, **feeds)
    for before, after in zip(run(source, fed), run(out, fed), strict=True):
        np.testing.assert_allclose(after, before, rtol=1e-6, atol=1e-6)
        assert after.shape == before.shape and after.dtype == before.dtype
    return out


def stays(source, patterns, **options):
    assert ops(optimised(source, patterns, **options)) == ops(source)
