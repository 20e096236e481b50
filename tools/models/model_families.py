# SPDX-License-Identifier: Apache-2.0
"""The network families that make_models.py exports, each as a function of size and attention that gives a Case."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy
import torch
import transformers
from torch import nn
from torch.nn import functional

Arrays = dict[str, numpy.ndarray]


@dataclass
class Case:
    """A network with all that exporting and checking it needs; `axes` names the dynamic axes of each input."""

    network: nn.Module
    axes: dict[str, dict[int, str]]
    outputs: list[str]
    samples: list[Arrays] = field(default_factory=list)


# ---------------------------------------------------------------- sample inputs


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


# ---------------------------------------------------------------- text families


def configured(kind: type, full: dict, small: dict, size: str, attention: str, **both: object) -> object:
    config = kind(**(small if size == "small" else full), **both)
    config._attn_implementation = attention
    return config


def convolutional(kind: type, full: dict, small: dict, size: str, **both: object) -> object:
    return configured(kind, full, small, size, "eager", num_labels=10 if size == "small" else 1000, **both)


def bert_config(size: str, attention: str, **full: object) -> object:
    small = {"vocab_size": 104, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    small |= {"intermediate_size": 64, "max_position_embeddings": 40}
    return configured(transformers.BertConfig, full, small, size, attention)


def bert(size: str, attention: str) -> Case:
    config = bert_config(size, attention)
    samples = text_samples(config.vocab_size, names=("token_type_ids",))
    return text_case(transformers.BertModel(config), ["last_hidden_state", "pooler_output"], samples)


def distilbert(size: str, attention: str) -> Case:
    small = {"vocab_size": 104, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64, "max_position_embeddings": 40}
    config = configured(transformers.DistilBertConfig, {}, small, size, attention)
    network = transformers.DistilBertForSequenceClassification(config)
    return text_case(network, ["logits"], text_samples(config.vocab_size))


class MeanPooled(nn.Module):
    """A sentence embedder: the masked mean over tokens, scaled to length one."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> SimpleNamespace:
        hidden = self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        kept = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * kept).sum(1) / kept.sum(1).clamp(min=1e-9)
        return SimpleNamespace(last_hidden_state=hidden, sentence_embedding=functional.normalize(mean, dim=1))


def minilm(size: str, attention: str) -> Case:
    config = bert_config(size, attention, hidden_size=384, num_hidden_layers=6, intermediate_size=1536)
    network = MeanPooled(transformers.BertModel(config, add_pooling_layer=False))
    return text_case(network, ["last_hidden_state", "sentence_embedding"], text_samples(config.vocab_size))


def roberta(size: str, attention: str) -> Case:
    full = {"vocab_size": 50265, "max_position_embeddings": 514, "type_vocab_size": 1, "layer_norm_eps": 1e-5}
    small = {
        "vocab_size": 104,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
    }
    small |= {"max_position_embeddings": 42, "type_vocab_size": 1}
    config = configured(transformers.RobertaConfig, full, small, size, attention)
    network = transformers.RobertaForMaskedLM(config)
    return text_case(network, ["logits"], text_samples(config.vocab_size, padding=1))


def albert(size: str, attention: str) -> Case:
    full = {"hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072}
    small = {
        "vocab_size": 104,
        "embedding_size": 16,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
    }
    small |= {"intermediate_size": 64, "max_position_embeddings": 40}
    config = configured(transformers.AlbertConfig, full, small, size, attention)
    network = transformers.AlbertModel(config)
    return text_case(network, ["last_hidden_state", "pooler_output"], text_samples(config.vocab_size))


def encoder_decoder_samples(vocabulary: int) -> list[Arrays]:
    samples = []
    for seed, (batch, length) in enumerate(TEXT_SHAPES):
        mask, decoder_mask = ragged_mask(batch, length, "right"), ragged_mask(batch, length - 3, "inside")
        samples.append(
            {
                "input_ids": tokens(seed, mask, vocabulary),
                "attention_mask": mask,
                "decoder_input_ids": tokens(seed + 7, decoder_mask, vocabulary),
                "decoder_attention_mask": decoder_mask,
            }
        )
    return samples


def t5(size: str, attention: str) -> Case:
    full = {"d_model": 512, "d_kv": 64, "d_ff": 2048, "num_layers": 6, "num_heads": 8, "vocab_size": 32128}
    small = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4, "vocab_size": 104}
    config = configured(transformers.T5Config, full, small, size, attention, use_cache=False)
    samples = encoder_decoder_samples(config.vocab_size)
    decoder = {0: "batch", 1: "decoder_sequence"}
    axes = {name: decoder if name.startswith("decoder") else TEXT_AXES for name in samples[0]}
    network = transformers.T5ForConditionalGeneration(config)
    return Case(network, axes, ["logits", "encoder_last_hidden_state"], samples)


def decoder_case(network: nn.Module, with_positions: bool = True) -> Case:
    names = ("position_ids",) if with_positions else ()
    return text_case(network, ["logits"], text_samples(network.config.vocab_size, causal=True, names=names))


def gpt2(size: str, attention: str) -> Case:
    small = {"vocab_size": 104, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 40}
    config = configured(transformers.GPT2Config, {}, small, size, attention, use_cache=False)
    return decoder_case(transformers.GPT2LMHeadModel(config))


def llama(size: str, attention: str) -> Case:
    full = {"vocab_size": 49152, "hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30}
    full |= {"num_attention_heads": 9, "num_key_value_heads": 3, "rope_theta": 100000.0, "tie_word_embeddings": True}
    small = {"vocab_size": 104, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    small |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64}
    config = configured(transformers.LlamaConfig, full, small, size, attention, use_cache=False)
    return decoder_case(transformers.LlamaForCausalLM(config))


def qwen2(size: str, attention: str) -> Case:
    full = {"vocab_size": 151936, "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": 24}
    full |= {"num_attention_heads": 14, "num_key_value_heads": 2, "rope_theta": 1e6, "tie_word_embeddings": True}
    small = {"vocab_size": 104, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2}
    small |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64}
    config = configured(transformers.Qwen2Config, full, small, size, attention, use_cache=False)
    return decoder_case(transformers.Qwen2ForCausalLM(config))


def opt(size: str, attention: str) -> Case:
    small = {"vocab_size": 104, "hidden_size": 32, "ffn_dim": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    small |= {"max_position_embeddings": 40, "word_embed_proj_dim": 32}
    config = configured(transformers.OPTConfig, {}, small, size, attention, use_cache=False)
    return decoder_case(transformers.OPTForCausalLM(config), with_positions=False)


# ---------------------------------------------------------------- families that see or hear


def vit(size: str, attention: str) -> Case:
    small = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    small |= {"image_size": 32, "patch_size": 8}
    config = configured(transformers.ViTConfig, {}, small, size, attention, num_labels=10)
    return image_case(transformers.ViTForImageClassification(config), ["logits"], config.image_size)


def swin(size: str, attention: str) -> Case:
    small = {
        "image_size": 32,
        "patch_size": 2,
        "embed_dim": 16,
        "depths": [2, 2],
        "num_heads": [2, 4],
        "window_size": 4,
    }
    config = configured(transformers.SwinConfig, {}, small, size, attention, num_labels=10)
    return image_case(transformers.SwinForImageClassification(config), ["logits"], config.image_size)


def clip_samples(vocabulary: int, side: int) -> list[Arrays]:
    samples = []
    for seed, shape in enumerate(TEXT_SHAPES):
        mask = ragged_mask(*shape, "right")
        ids = tokens(seed, mask, vocabulary, end=vocabulary - 1)
        sample = {"input_ids": ids, "attention_mask": mask, "pixel_values": pixels(seed, 4 - seed, 3, side, side)}
        samples.append(sample)
    return samples


def clip(size: str, attention: str) -> Case:
    common = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    text = dict(common, vocab_size=104, max_position_embeddings=24, eos_token_id=103, bos_token_id=102)
    small = {"text_config": text, "vision_config": dict(common, image_size=32, patch_size=8), "projection_dim": 24}
    full = {"text_config": {"eos_token_id": 49407, "bos_token_id": 49406}}
    config = configured(transformers.CLIPConfig, full, small, size, attention)
    config.text_config._attn_implementation = config.vision_config._attn_implementation = attention
    samples = clip_samples(config.text_config.vocab_size, config.vision_config.image_size)
    axes = {"input_ids": TEXT_AXES, "attention_mask": TEXT_AXES, "pixel_values": {0: "images"}}
    outputs = ["logits_per_image", "text_embeds", "image_embeds"]
    return Case(transformers.CLIPModel(config), axes, outputs, samples)


def resnet(size: str, attention: str) -> Case:
    small = {"embedding_size": 8, "hidden_sizes": [16, 32], "depths": [1, 2]}
    config = convolutional(transformers.ResNetConfig, {}, small, size)
    return image_case(transformers.ResNetForImageClassification(config), ["logits"], 48 if size == "small" else 224)


def mobilenetv2(size: str, attention: str) -> Case:
    small = {"depth_multiplier": 0.15, "depth_divisible_by": 4, "min_depth": 4, "image_size": 64}
    small |= {"finegrained_output": False}
    config = convolutional(transformers.MobileNetV2Config, {}, small, size, tf_padding=False)
    return image_case(transformers.MobileNetV2ForImageClassification(config), ["logits"], config.image_size)


def efficientnet(size: str, attention: str) -> Case:
    full = {"image_size": 224, "width_coefficient": 1.0, "depth_coefficient": 1.0, "hidden_dim": 1280}
    small = {"image_size": 64, "width_coefficient": 0.1, "depth_coefficient": 0.4, "hidden_dim": 128}
    small |= {"depth_divisor": 4}
    config = convolutional(transformers.EfficientNetConfig, full, small, size)
    return image_case(transformers.EfficientNetForImageClassification(config), ["logits"], config.image_size)


def convnext(size: str, attention: str) -> Case:
    small = {"hidden_sizes": [8, 16, 24, 32], "depths": [1, 1, 2, 1], "image_size": 64}
    config = convolutional(transformers.ConvNextConfig, {}, small, size)
    return image_case(transformers.ConvNextForImageClassification(config), ["logits"], config.image_size)


def whisper(size: str, attention: str) -> Case:
    small = {
        "vocab_size": 104,
        "num_mel_bins": 8,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
    }
    small |= {
        "decoder_attention_heads": 4,
        "d_model": 32,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "pad_token_id": 0,
    }
    small |= {"max_source_positions": 20, "max_target_positions": 24, "bos_token_id": 1, "eos_token_id": 2}
    small |= {"decoder_start_token_id": 1}
    config = configured(transformers.WhisperConfig, {}, small, size, attention, use_cache=False)
    samples = []
    for seed, shape in enumerate(TEXT_SHAPES):
        mask = ragged_mask(*shape, "inside")
        features = pixels(seed, shape[0], config.num_mel_bins, 2 * config.max_source_positions)
        ids = tokens(seed, mask, config.vocab_size)
        samples.append({"input_features": features, "decoder_input_ids": ids, "decoder_attention_mask": mask})
    axes = {name: {0: "batch"} if name == "input_features" else TEXT_AXES for name in samples[0]}
    return Case(transformers.WhisperForConditionalGeneration(config), axes, ["logits"], samples)


# ---------------------------------------------------------------- networks written out here


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


BUILDERS: dict[str, Callable[[str, str], Case]] = {
    builder.__name__: builder
    for builder in (bert, distilbert, minilm, roberta, albert, t5, gpt2, llama, qwen2, opt)
    + (vit, swin, clip, resnet, mobilenetv2, efficientnet, convnext, unet, whisper, yolo)
}
