# SPDX-License-Identifier: Apache-2.0
"""What a test model must be like, so that a mistake in it shows: asked of an ONNX file and its sample inputs."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path

import numpy
import onnx
import onnxruntime
from onnx import helper, numpy_helper

Arrays = dict[str, numpy.ndarray]

LOGIT_SPREAD = 3.0
SMALLEST_CHANGE = 1e-2
MASK_FILL = 1e4


def changes(sample: Arrays) -> Iterator[tuple[str, Arrays, int | None, int]]:
    """Inputs that must change the outputs: what changed, inputs, the place to compare, the length it counts in.

    Two places that every row attends to are exchanged, or one is masked, and a third is looked at: a network
    that ignores the mask or the positions answers the same there.
    """
    for name, value in sample.items():
        if value.dtype == numpy.float32:
            yield f"{name} mirrored", sample | {name: value[..., ::-1].copy()}, None, 0
            continue
        mask = sample["decoder_attention_mask" if name.startswith("decoder") else "attention_mask"]
        first, second, third = numpy.flatnonzero(mask.all(axis=0))[-3:]
        changed = value.copy()
        if name.endswith("mask"):
            changed[:, second] = 0
        elif name == "token_type_ids":
            changed[:, second] = 1 - changed[:, second]
        else:
            changed[:, [first, second]] = value[:, [second, first]]
        yield f"{name} changed", sample | {name: changed}, int(third), value.shape[1]


def difference(before: numpy.ndarray, after: numpy.ndarray, place: int | None, length: int) -> float:
    """The largest change, in standard deviations of the output; at `place` alone where the output has places."""
    if place is not None and before.ndim == 3 and before.shape[1] == length:
        before, after = before[:, place], after[:, place]
    return float(numpy.abs(before - after).max() / max(before.std(), 1e-6))


def session_of(model: str | bytes) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def least_change(session: onnxruntime.InferenceSession, sample: Arrays) -> tuple[float, str]:
    """How far the outputs move where the least important of the inputs changes, and what that change was."""
    before = session.run(None, sample)
    moved = {}
    for what, changed, place, length in changes(sample):
        after = session.run(None, changed)
        moved[what] = max(difference(a, b, place, length) for a, b in zip(before, after))
    what = min(moved, key=moved.get)
    return moved[what], what


def even_masks(sample: Arrays) -> list[str]:
    """Masks of two rows or more that all keep as many places."""
    masks = {name: value for name, value in sample.items() if name.endswith("mask")}
    return [name for name, mask in masks.items() if len(mask) > 1 and len(set(mask.sum(axis=1))) == 1]


def neutral_weights(model: onnx.ModelProto) -> list[str]:
    """Norm scales that are all one, and norm and convolution biases that are all zero."""
    given = {each.name: each for each in model.graph.initializer}
    slots = {"LayerNormalization": {1: 1, 2: 0}, "BatchNormalization": {1: 1, 2: 0}, "Conv": {2: 0}, "RMSNormalization": {1: 1}}
    found = []
    for node in model.graph.node:
        for slot, neutral in slots.get(node.op_type, {}).items():
            name = node.input[slot] if slot < len(node.input) else ""
            if name in given and (numpy_helper.to_array(given[name]) == neutral).all():
                found.append(name)
    return found


def logit_spread(model: onnx.ModelProto, sample: Arrays) -> float | None:
    """The least standard deviation of the logits of an attention, masked ones aside; None where no Softmax takes any."""
    probed = copy.deepcopy(model)
    logits = [node.input[0] for node in probed.graph.node if node.op_type == "Softmax" and on_last_axis(node)]
    logits += [add_logits(node, place) for place, node in enumerate(probed.graph.node) if node.op_type == "Attention"]
    if not logits:
        return None
    del probed.graph.output[:]
    probed.graph.output.extend(helper.make_empty_tensor_value_info(name) for name in logits)
    found = session_of(probed.SerializeToString()).run(None, sample)
    spreads = [float(value[value > -MASK_FILL].std()) for value in found if value.ndim >= 3]
    return min(spreads, default=None)


def on_last_axis(node: onnx.NodeProto) -> bool:
    return all(attribute.i in (-1, 3) for attribute in node.attribute if attribute.name == "axis")


def add_logits(node: onnx.NodeProto, place: int) -> str:
    """Has an Attention node give its scaled logits, before the mask."""
    node.output.extend([""] * (3 - len(node.output)))
    name = node.output[3] if len(node.output) > 3 else f"logits_{place}"
    if len(node.output) < 4:
        node.output.append(name)
    return name


def faults(path: Path, sample: Arrays) -> tuple[list[str], str]:
    """What is wrong with a model as a test, and what was measured."""
    model = onnx.load(path)
    moved, what = least_change(session_of(str(path)), sample)
    spread = logit_spread(model, sample)
    found = [f"weight {name} is neutral" for name in neutral_weights(model)]
    found += [f"all rows of {name} keep as many places" for name in even_masks(sample)]
    if not moved > SMALLEST_CHANGE:
        found.append(f"{what}, but the outputs moved by {moved:.2g} only")
    if spread is not None and not spread >= LOGIT_SPREAD:
        found.append(f"attention logits spread by {spread:.2g} only")
    shown = "no attention" if spread is None else f"logits spread by {spread:.1f}"
    return found, f"{shown}; {what} moves the outputs by {moved:.2g} of their deviation"
