# SPDX-License-Identifier: Apache-2.0
"""Normalization ops."""

from __future__ import annotations

from typing import Any

from .table import Unsupported, converts


@converts("layer_norm.default")
def layer_norm(b: Any, x: Any, sizes: Any, weight: Any, bias: Any, epsilon: float, _: Any) -> Any:
    scale = b.tensor(weight) if weight is not None else b.op("Expand", [b.tensor(1.0, b.dtype), b.sizes(sizes)])
    inputs = [b.tensor(x), scale] + ([b.tensor(bias)] if bias is not None else [])
    return b.op("LayerNormalization", inputs, {"axis": -len(sizes), "epsilon": float(epsilon)})


@converts("rms_norm.default")
def rms_norm(b: Any, x: Any, sizes: Any, weight: Any, epsilon: float | None) -> Any:
    if epsilon is None:
        epsilon = 1.1920928955078125e-07  # of float32
    scale = b.tensor(weight) if weight is not None else b.op("Expand", [b.tensor(1.0, b.dtype), b.sizes(sizes)])
    return b.op("RMSNormalization", [b.tensor(x), scale], {"axis": -len(sizes), "epsilon": float(epsilon)})


def _batch_norm(b: Any, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, epsilon: float) -> Any:
    if mean is None or variance is None:
        raise Unsupported("a batch norm by the statistics of its batch")
    channels = b.sizes([b.shape_of(x)[1]])
    scale = b.tensor(weight) if weight is not None else b.op("Expand", [b.tensor(1.0, b.dtype), channels])
    shift = b.tensor(bias) if bias is not None else b.op("Expand", [b.tensor(0.0, b.dtype), channels])
    return b.op("BatchNormalization", [b.tensor(x), scale, shift, b.tensor(mean), b.tensor(variance)], {"epsilon": float(epsilon)})


@converts("_native_batch_norm_legit_no_training.default")
def batch_norm_no_training(b: Any, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, _: Any, epsilon: float) -> Any:
    return _batch_norm(b, x, weight, bias, mean, variance, epsilon), None, None


@converts("batch_norm.default")
def batch_norm(b: Any, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, training: bool, _: Any, epsilon: float, __: Any) -> Any:
    if training:
        raise Unsupported("it trains: its running statistics change")
    return _batch_norm(b, x, weight, bias, mean, variance, epsilon)


@converts("group_norm.default")
def group_norm(b: Any, x: Any, groups: int, weight: Any, bias: Any, epsilon: float, _: Any) -> Any:
    channels = b.sizes([b.shape_of(x)[1]])
    scale = b.tensor(weight) if weight is not None else b.op("Expand", [b.tensor(1.0, b.dtype), channels])
    shift = b.tensor(bias) if bias is not None else b.op("Expand", [b.tensor(0.0, b.dtype), channels])
    return b.op("GroupNormalization", [b.tensor(x), scale, shift], {"num_groups": groups, "epsilon": float(epsilon)})


@converts("instance_norm.default")
def instance_norm(
    b: Any, x: Any, weight: Any, bias: Any, mean: Any, variance: Any, by_instance: bool, _: Any, epsilon: float, __: Any
) -> Any:
    if not by_instance:
        raise Unsupported("not supported yet: an instance norm by running statistics")
    channels = b.sizes([b.shape_of(x)[1]])
    scale = b.tensor(weight) if weight is not None else b.op("Expand", [b.tensor(1.0, b.dtype), channels])
    shift = b.tensor(bias) if bias is not None else b.op("Expand", [b.tensor(0.0, b.dtype), channels])
    return b.op("InstanceNormalization", [b.tensor(x), scale, shift], {"epsilon": float(epsilon)})


@converts("native_layer_norm.default")
def layer_norm_and_statistics(b: Any, x: Any, sizes: Any, weight: Any, bias: Any, epsilon: float) -> Any:
    return layer_norm(b, x, sizes, weight, bias, epsilon, None), None, None


@converts("native_group_norm.default")
def group_norm_and_statistics(b: Any, x: Any, weight: Any, bias: Any, _: Any, __: Any, ___: Any, groups: int, epsilon: float) -> Any:
    return group_norm(b, x, groups, weight, bias, epsilon, None), None, None
