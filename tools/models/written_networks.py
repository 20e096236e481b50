# SPDX-License-Identifier: Apache-2.0
"""Network families that are written out here: UNet and a detector in the manner of YOLO."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import torch
from model_cases import Case, image_case
from torch import nn
from torch.nn import functional


def convolution(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, act: type = nn.SiLU) -> nn.Sequential:
    layer = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False)
    return nn.Sequential(layer, nn.BatchNorm2d(outputs), act())


def pair(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(convolution(inputs, outputs, act=nn.ReLU), convolution(outputs, outputs, act=nn.ReLU))


class UNet(nn.Module):
    """Halves and doubles the image `depth` times; pads where an odd size was halved."""

    def __init__(self, width: int, depth: int) -> None:
        super().__init__()
        widths = [width << level for level in range(depth + 1)]
        self.first = pair(3, width)
        self.down = nn.ModuleList(pair(a, b) for a, b in itertools.pairwise(widths))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, 2) for a, b in itertools.pairwise(widths))
        self.join = nn.ModuleList(pair(b, a) for a, b in itertools.pairwise(widths))
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, pixel_values: torch.Tensor) -> SimpleNamespace:
        skips = [self.first(pixel_values)]
        for block in self.down:
            skips.append(block(functional.max_pool2d(skips[-1], 2)))
        value = skips.pop()
        for up, join in zip(reversed(self.up), reversed(self.join)):
            skip = skips.pop()
            value = up(value)
            high, wide = skip.shape[2] - value.shape[2], skip.shape[3] - value.shape[3]
            value = functional.pad(value, [wide // 2, wide - wide // 2, high // 2, high - high // 2])
            value = join(torch.cat([skip, value], 1))
        return SimpleNamespace(logits=self.last(value))


def unet(size: str, attention: str) -> Case:
    return image_case(UNet(*((8, 2) if size == "small" else (64, 4))), ["logits"], 50 if size == "small" else 256, True)


class Residual(nn.Module):
    def __init__(self, width: int, shortcut: bool) -> None:
        super().__init__()
        self.body, self.shortcut = nn.Sequential(convolution(width, width), convolution(width, width)), shortcut

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        return value + self.body(value) if self.shortcut else self.body(value)


class SplitStage(nn.Module):
    """YOLOv8's C2f: half of the channels pass `count` residual blocks, and every step is kept for the last mix."""

    def __init__(self, inputs: int, outputs: int, count: int, shortcut: bool) -> None:
        super().__init__()
        half = outputs // 2
        self.split, self.mix = convolution(inputs, outputs, 1), convolution((2 + count) * half, outputs, 1)
        self.blocks = nn.ModuleList(Residual(half, shortcut) for _ in range(count))

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        parts = list(self.split(value).chunk(2, 1))
        for block in self.blocks:
            parts.append(block(parts[-1]))
        return self.mix(torch.cat(parts, 1))


class PooledPyramid(nn.Module):
    """YOLOv8's SPPF: three poolings in a row, all kept."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.narrow, self.mix = convolution(width, width // 2, 1), convolution(2 * width, width, 1)

    def forward(self, value: torch.Tensor) -> torch.Tensor:
        parts = [self.narrow(value)]
        for _ in range(3):
            parts.append(functional.max_pool2d(parts[-1], 5, 1, 2))
        return self.mix(torch.cat(parts, 1))


def branch(inputs: int, width: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(convolution(inputs, width), convolution(width, width), nn.Conv2d(width, outputs, 1))


def doubled(value: torch.Tensor) -> torch.Tensor:
    return functional.interpolate(value, scale_factor=2.0, mode="nearest")


class Detector(nn.Module):
    """YOLOv8's head: per place a box as distributions over `bins` distances, and a score for each class."""

    def __init__(self, widths: list[int], classes: int, bins: int) -> None:
        super().__init__()
        self.bins, boxes, scores = bins, max(16, widths[0] // 4, 4 * bins), max(widths[0], min(classes, 100))
        self.boxes = nn.ModuleList(branch(width, boxes, 4 * bins) for width in widths)
        self.scores = nn.ModuleList(branch(width, scores, classes) for width in widths)
        self.register_buffer("distances", torch.arange(bins, dtype=torch.float32).view(1, bins, 1, 1))

    def anchors(self, level: torch.Tensor, stride: int) -> torch.Tensor:
        """Centres of the level's places in pixels: [2, places]."""
        rows = torch.arange(level.shape[2], dtype=torch.float32) + 0.5
        columns = torch.arange(level.shape[3], dtype=torch.float32) + 0.5
        y, x = torch.meshgrid(rows, columns, indexing="ij")
        return torch.stack([x.reshape(-1), y.reshape(-1)]) * stride

    def forward(self, levels: list[torch.Tensor]) -> torch.Tensor:
        answers = []
        for index, level in enumerate(levels):
            stride = 8 << index
            box = self.boxes[index](level).flatten(2).unflatten(1, (4, self.bins)).transpose(1, 2).softmax(1)
            near, far = functional.conv2d(box, self.distances).squeeze(1).mul(stride).chunk(2, 1)
            centre = self.anchors(level, stride).unsqueeze(0)
            box = torch.cat([centre + (far - near) / 2, near + far], 1)
            answers.append(torch.cat([box, self.scores[index](level).flatten(2).sigmoid()], 1))
        return torch.cat(answers, 2)


class Yolo(nn.Module):
    """YOLOv8's graph: backbone, a pyramid up and down again, and three heads."""

    def __init__(self, width: int, count: int, classes: int, bins: int) -> None:
        super().__init__()
        a, b, c, d, e = (width << level for level in range(5))
        self.stem = nn.Sequential(convolution(3, a, 3, 2), convolution(a, b, 3, 2), SplitStage(b, b, count, True))
        self.third = nn.Sequential(convolution(b, c, 3, 2), SplitStage(c, c, 2 * count, True))
        self.fourth = nn.Sequential(convolution(c, d, 3, 2), SplitStage(d, d, 2 * count, True))
        last = SplitStage(e, e, count, True)
        self.fifth = nn.Sequential(convolution(d, e, 3, 2), last, PooledPyramid(e))
        self.up_fourth, self.up_third = SplitStage(d + e, d, count, False), SplitStage(c + d, c, count, False)
        self.shrink_third, self.shrink_fourth = convolution(c, c, 3, 2), convolution(d, d, 3, 2)
        self.down_fourth, self.down_fifth = SplitStage(c + d, d, count, False), SplitStage(d + e, e, count, False)
        self.detect = Detector([c, d, e], classes, bins)

    def forward(self, pixel_values: torch.Tensor) -> SimpleNamespace:
        third = self.third(self.stem(pixel_values))
        fourth = self.fourth(third)
        fifth = self.fifth(fourth)
        middle = self.up_fourth(torch.cat([doubled(fifth), fourth], 1))
        small = self.up_third(torch.cat([doubled(middle), third], 1))
        medium = self.down_fourth(torch.cat([self.shrink_third(small), middle], 1))
        large = self.down_fifth(torch.cat([self.shrink_fourth(medium), fifth], 1))
        return SimpleNamespace(detections=self.detect([small, medium, large]))


def yolo(size: str, attention: str) -> Case:
    network = Yolo(*((3, 1, 6, 4) if size == "small" else (16, 1, 80, 16)))
    return image_case(network, ["detections"], 64 if size == "small" else 640, True)
