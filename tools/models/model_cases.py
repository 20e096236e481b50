# SPDX-License-Identifier: Apache-2.0
"""What the exported network families share: a case, and the sample inputs that it is checked on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy
from torch import nn

Arrays = dict[str, numpy.ndarray]


@dataclass
class Case:
    """A network with all that exporting and checking it needs; `axes` names the dynamic axes of each input."""

    network: nn.Module
    axes: dict[str, dict[int, str]]
    outputs: list[str]
    samples: list[Arrays] = field(default_factory=list)


def random_generator(seed: int) -> numpy.random.Generator:
    return numpy.random.Generator(numpy.random.PCG64(seed))


def ragged_mask(batch: int, length: int, side: str) -> numpy.ndarray:
    """Rows keep `length`, `length - 2`, ... tokens, at least three, the same three in all.

    side: where tokens are off: `right`, `left`, or `inside`, which is left but for the first token, so that each
    place of a causal network attends to something.
    """
    mask = numpy.zeros((batch, length), numpy.int64)
    for row in range(batch):
        kept = max(3, length - 2 * row)
        mask[row, length - kept :] = 1
    if side == "inside":
        mask[:, 0] = 1
    return mask[:, ::-1].copy() if side == "right" else mask


def tokens(seed: int, mask: numpy.ndarray, vocabulary: int, padding: int = 0, end: int | None = None) -> numpy.ndarray:
    """Draws ids from [3, vocabulary - 2); `padding` where the mask is off, `end` at each row's last kept place."""
    ids = random_generator(seed).integers(3, vocabulary - 2, mask.shape)
    if end is not None:
        ids[numpy.arange(len(ids)), mask.sum(axis=1) - 1] = end
    return numpy.where(mask == 1, ids, padding)


def positions(mask: numpy.ndarray) -> numpy.ndarray:
    return numpy.maximum(numpy.cumsum(mask, axis=1) - 1, 0)


def pixels(seed: int, *shape: int) -> numpy.ndarray:
    return random_generator(seed).standard_normal(shape, numpy.float32)


TEXT_SHAPES = ((2, 9), (3, 13))
TEXT_AXES = {0: "batch", 1: "sequence"}


def text_samples(vocabulary: int, causal: bool = False, padding: int = 0, names: tuple[str, ...] = ()) -> list[Arrays]:
    """Ids and mask for both shapes, and left padding if causal; `names` adds `position_ids` or `token_type_ids`."""
    samples = []
    sides = ("inside", "inside", "left") if causal else ("right", "right")
    for seed, (shape, side) in enumerate(zip((*TEXT_SHAPES, TEXT_SHAPES[0]), sides)):
        mask = ragged_mask(*shape, side)
        sample = {"input_ids": tokens(seed, mask, vocabulary, padding), "attention_mask": mask}
        if "token_type_ids" in names:
            sample["token_type_ids"] = (numpy.arange(shape[1]) >= shape[1] // 2).astype(numpy.int64) * mask
        if "position_ids" in names:
            sample["position_ids"] = positions(mask)
        samples.append(sample)
    return samples


def text_case(network: nn.Module, outputs: list[str], samples: list[Arrays]) -> Case:
    return Case(network, {name: TEXT_AXES for name in samples[0]}, outputs, samples)


def image_case(network: nn.Module, outputs: list[str], side: int, resizable: bool = False) -> Case:
    axes = {0: "batch", 2: "height", 3: "width"} if resizable else {0: "batch"}
    second = (side + 32, side) if resizable else (side, side)
    samples = [{"pixel_values": pixels(1, 2, 3, side, side)}, {"pixel_values": pixels(2, 3, 3, *second)}]
    return Case(network, {"pixel_values": axes}, outputs, samples)
