# SPDX-License-Identifier: Apache-2.0
"""Modules that the tests compile."""

from pathlib import Path

import torch
from tenon.torch import capture
from torch import nn

HAS_BF16 = "avx512_bf16" in Path("/proc/cpuinfo").read_text()


class Function(nn.Module):
    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given):
        return self.function(*given)


class Block(nn.Module):
    """A layer of a transformer."""

    def __init__(self, width: int = 16, heads: int = 2) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.feed(self.second(x))


class Images(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3), nn.ReLU()
        )
        self.head = nn.Linear(8, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x).mean((2, 3))).softmax(-1)


class Counter(nn.Module):
    """Writes to a buffer and to its input."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x) * 2
        self.seen += y.sum(0)
        x.mul_(3).add_(1)
        y[:, 0] = 7
        return y + self.seen


class Sums(nn.Module):
    """The page's MyModel: it adds."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.sigmoid(torch.relu(self.first(x)))
        return torch.tanh(torch.relu(self.second(y + x)))


class Found(nn.Module):
    """How much it finds, only data tell."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.exp(torch.relu(x) + 1)
        found = torch.nonzero(y > 4)
        return torch.relu(found.to(torch.float32) * 2 + 1) - 3


def exported(module: nn.Module, *given) -> torch.export.ExportedProgram:
    """As tenon.torch.compile(module, inputs=given) exports it, for several compilations."""
    return capture.exported(module, list(given), None, None)


def run(module: nn.Module, *given: torch.Tensor):
    with torch.no_grad():
        return module(*given)


def _row(wide: int, out: int, size: int, stride: int = 1, groups: int = 1) -> list[nn.Module]:
    return [nn.Conv2d(wide, out, size, stride, size // 2, groups=groups, bias=False), nn.BatchNorm2d(out)]


class Bottleneck(nn.Module):
    def __init__(self, wide: int, inner: int, stride: int) -> None:
        super().__init__()
        rows = [*_row(wide, inner, 1), nn.ReLU(), *_row(inner, inner, 3, stride), nn.ReLU(), *_row(inner, 4 * inner, 1)]
        self.body = nn.Sequential(*rows)
        self.shortcut = nn.Sequential(*_row(wide, 4 * inner, 1, stride)) if stride > 1 or wide != 4 * inner else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.shortcut(x))


class Bottlenecks(nn.Module):
    """ResNet-50's layers, narrow: 3, 4, 6 and 3 blocks."""

    def __init__(self) -> None:
        super().__init__()
        blocks, wide = [], 8
        for inner, count in ((2, 3), (4, 4), (8, 6), (16, 3)):
            for k in range(count):
                blocks.append(Bottleneck(wide, inner, 2 if k == 0 and inner > 2 else 1))
                wide = 4 * inner
        self.body = nn.Sequential(*_row(3, 8, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1), *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.head = nn.Linear(wide, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.body(x))


class Inverted(nn.Module):
    """Blocks of MobileNet-v2, narrow."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(*_row(3, 8, 3, 2), nn.ReLU6())
        self.blocks = nn.ModuleList(
            nn.Sequential(*_row(8, 24, 1), nn.ReLU6(), *_row(24, 24, 3, 1, 24), nn.ReLU6(), *_row(24, 8, 1)) for _ in range(4)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return x.mean((2, 3))
