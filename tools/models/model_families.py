# SPDX-License-Identifier: Apache-2.0
"""The network families that make_models.py exports, each as a function of size and attention that gives a Case."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import torch
import transformers
from model_cases import (
    TEXT_AXES,
    TEXT_SHAPES,
    Arrays,
    Case,
    image_case,
    pixels,
    ragged_mask,
    text_case,
    text_samples,
    tokens,
)
from torch import nn
from torch.nn import functional
from written_networks import unet, yolo

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


BUILDERS: dict[str, Callable[[str, str], Case]] = {
    builder.__name__: builder
    for builder in (bert, distilbert, minilm, roberta, albert, t5, gpt2, llama, qwen2, opt)
    + (vit, swin, clip, resnet, mobilenetv2, efficientnet, convnext, unet, whisper, yolo)
}
