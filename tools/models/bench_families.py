# SPDX-License-Identifier: Apache-2.0
"""Families of which `./dev bench` alone has need: a network of model_families.py of which less is asked, parts, and small ones."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import torch
import transformers
from model_cases import Case, pixels
from model_families import bert, configured, efficientnet, gpt2
from torch import nn


def bert_pooled(size: str, attention: str) -> Case:
    whole = bert(size, attention)
    return Case(whole.network, whole.axes, ["pooler_output"], whole.samples)


class LastLogits(nn.Module):
    """A language model that is asked for the next token alone."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, **inputs: torch.Tensor) -> SimpleNamespace:
        return SimpleNamespace(logits=self.network(**inputs).logits[:, -1])


def gpt2_last(size: str, attention: str) -> Case:
    whole = gpt2(size, attention)
    return Case(LastLogits(whole.network), whole.axes, ["logits"], whole.samples)


def whisper_encoder(size: str, attention: str) -> Case:
    """Whisper-tiny's: 30 s of sound as 3,000 spectra."""
    full = {"d_model": 384, "encoder_layers": 4, "encoder_attention_heads": 6, "encoder_ffn_dim": 1536}
    small = {"d_model": 32, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 64}
    small |= {"num_mel_bins": 8, "max_source_positions": 20}
    config = configured(transformers.WhisperConfig, full, small, size, attention)
    network = transformers.models.whisper.modeling_whisper.WhisperEncoder(config)
    samples = [{"input_features": pixels(k, 2 + k, config.num_mel_bins, 2 * config.max_source_positions)} for k in range(2)]
    return Case(network, {"input_features": {0: "batch"}}, ["last_hidden_state"], samples)


def efficientnet_global(size: str, attention: str) -> Case:
    """With the last pool that its authors have, over the whole image: transformers' has windows of 1280 x 1280, which OpenVINO refuses."""
    case = efficientnet(size, attention)
    case.network.efficientnet.pooler = nn.AdaptiveAvgPool2d(1)
    return case


class Recurrent(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.LSTM(width, width, num_layers=2, batch_first=True)

    def forward(self, sequence: torch.Tensor) -> SimpleNamespace:
        return SimpleNamespace(states=self.layers(sequence)[0])


def lstm(size: str, attention: str) -> Case:
    width, steps = (16, 7) if size == "small" else (256, 100)
    samples = [{"sequence": pixels(k, 2 + k, steps, width)} for k in range(2)]
    return Case(Recurrent(width), {"sequence": {0: "batch"}}, ["states"], samples)


FAMILIES = (bert_pooled, gpt2_last, whisper_encoder, lstm, efficientnet_global)
BUILDERS: dict[str, Callable[[str, str], Case]] = {each.__name__: each for each in FAMILIES}
