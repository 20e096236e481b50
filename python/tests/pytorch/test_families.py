# SPDX-License-Identifier: Apache-2.0
"""Small random models of each family, saved by transformers, as engines: logits beside those of PyTorch in fp64."""

import copy
import dataclasses
from pathlib import Path

import numpy as np
import pytest
import tenon
import torch
import transformers as hf

SMALL = dict(
    vocab_size=97, hidden_size=64, intermediate_size=112, num_hidden_layers=3, num_attention_heads=4, num_key_value_heads=2,
    max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2,
)  # fmt: skip
ROTATION = {"rope_type": "default", "rope_theta": 500.0}
FAMILIES = {
    "llama": hf.LlamaConfig(**SMALL, rope_parameters=ROTATION),
    "llama-biased": hf.LlamaConfig(**SMALL, attention_bias=True, mlp_bias=True, tie_word_embeddings=True),
    "llama-linear": hf.LlamaConfig(**SMALL, rope_parameters={**ROTATION, "rope_type": "linear", "factor": 4.0}),
    "mistral": hf.MistralConfig(**SMALL, sliding_window=5),
    "qwen2": hf.Qwen2Config(**SMALL),
    "qwen3": hf.Qwen3Config(**SMALL, head_dim=24),
    "phi3": hf.Phi3Config(**SMALL),
    "gemma": hf.GemmaConfig(**SMALL, head_dim=24),
    "gemma2": hf.Gemma2Config(**SMALL, head_dim=24, sliding_window=4, query_pre_attn_scalar=20),
    "gemma2-uncapped": hf.Gemma2Config(**SMALL, head_dim=16, attn_logit_softcapping=None, final_logit_softcapping=None),
    "granite": hf.GraniteConfig(**SMALL, embedding_multiplier=3.0, residual_multiplier=0.4, attention_multiplier=0.2, logits_scaling=2.0),
    "llama3": hf.LlamaConfig(
        **SMALL,
        rope_parameters={
            **ROTATION,
            "rope_type": "llama3",
            "factor": 4.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 16,
        },
    ),
    "llama-yarn": hf.LlamaConfig(
        **SMALL, rope_parameters={**ROTATION, "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    ),
    "phi3-long": hf.Phi3Config(
        **SMALL,
        original_max_position_embeddings=64,
        rope_parameters={
            "rope_type": "longrope",
            "rope_theta": 500.0,
            "long_factor": [1.5 + i for i in range(8)],
            "short_factor": [1 + i / 8 for i in range(8)],
            "factor": 2.0,
            "original_max_position_embeddings": 64,
        },
    ),
    "gpt2": hf.GPT2Config(vocab_size=97, n_embd=64, n_layer=3, n_head=4, n_positions=64),
    "phi2": hf.PhiConfig(**SMALL, partial_rotary_factor=0.5),
    "phi2-normed": hf.PhiConfig(**SMALL, partial_rotary_factor=0.5, qk_layernorm=True),
    "gptj": hf.GPTJConfig(vocab_size=97, n_embd=64, n_layer=3, n_head=4, n_positions=64, rotary_dim=8),
    "gptneox": hf.GPTNeoXConfig(**{k: v for k, v in SMALL.items() if k != "num_key_value_heads"}, rotary_pct=0.5),
    "gptneox-sequential": hf.GPTNeoXConfig(**{k: v for k, v in SMALL.items() if k != "num_key_value_heads"}, use_parallel_residual=False),
    "falcon": hf.FalconConfig(vocab_size=97, hidden_size=64, num_hidden_layers=3, num_attention_heads=4, alibi=False, multi_query=True),
    "falcon-grouped": hf.FalconConfig(
        vocab_size=97,
        hidden_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_kv_heads=2,
        new_decoder_architecture=True,
        alibi=False,
    ),
    "falcon-sequential": hf.FalconConfig(
        vocab_size=97,
        hidden_size=64,
        num_hidden_layers=3,
        num_attention_heads=4,
        alibi=False,
        multi_query=False,
        parallel_attn=False,
        bias=True,
    ),
    "bloom": hf.BloomConfig(vocab_size=97, hidden_size=64, n_layer=3, n_head=4),
    "olmo2": hf.Olmo2Config(**SMALL),
    "gemma3": hf.Gemma3TextConfig(**{**SMALL, "num_hidden_layers": 7}, head_dim=24, sliding_window=4, query_pre_attn_scalar=20),
    "starcoder2": hf.Starcoder2Config(**SMALL, sliding_window=6),
}


@dataclasses.dataclass
class Family:
    """A model in fp32 and in fp64, its checkpoint and an engine of that."""

    single: torch.nn.Module
    exact: torch.nn.Module
    folder: Path
    engine: tenon.Engine


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, tmp_path_factory):
    torch.manual_seed(0)
    config = FAMILIES[request.param]
    config._attn_implementation = "eager"
    single = hf.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for p in single.parameters():  # larger than at the start of a training, so that each part counts
            p.copy_(3 * p if p.ndim > 1 else p + 0.1 * torch.randn_like(p))
    folder = tmp_path_factory.mktemp("family")
    single.save_pretrained(folder)
    return Family(single, copy.deepcopy(single).double(), folder, tenon.compile(folder))


def logits_of(model, tokens: np.ndarray) -> np.ndarray:
    with torch.no_grad():
        return model(torch.from_numpy(tokens)).logits[0].double().numpy()


def greedy(context: tenon.Context, prompt: np.ndarray, count: int) -> list[int]:
    """The tokens that follow the prompt, i64[1, n]: each the likeliest one."""
    out = []
    tokens = prompt
    for _ in range(count):
        out.append(int(context.run({"tokens": tokens})["logits"].argmax()))
        tokens = np.array([[out[-1]]])
    return out


def check_logits(family: Family, engine: tenon.Engine) -> None:
    tokens = np.random.default_rng(1).integers(0, 97, (1, 20))
    single, exact = logits_of(family.single, tokens), logits_of(family.exact, tokens)
    context = tenon.Context(engine)
    at = 0
    for size in (7, 1, 1, 5, 6):
        got = context.run({"tokens": tokens[:, at : at + size]})["logits"][0]
        at += size
        error = np.abs(got - exact[at - 1]).max()
        assert error <= 2 * np.abs(single - exact).max() + 1e-6 * np.abs(exact).max(), f"{at} tokens"


def test_logits_are_those_of_transformers(family):
    check_logits(family, family.engine)


@pytest.mark.parametrize("family", ["mistral", "phi3-long"], indirect=True)
def test_logits_do_not_depend_on_the_size_of_the_context(family):
    check_logits(family, tenon.compile(family.folder, context=32))


def test_greedy_tokens_are_those_of_the_whole_sequence(family):
    prompt = np.array([[5, 80, 33]])
    got = greedy(tenon.Context(family.engine), prompt, 40)
    whole = np.concatenate([prompt, np.array([got])], axis=1)
    assert got == logits_of(family.exact, whole)[prompt.shape[1] - 1 : -1].argmax(-1).tolist()


def test_folders_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(tenon.TenonError, match="config.json"):
        tenon.compile(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "mixtral"}')
    with pytest.raises(tenon.TenonError, match="not supported yet: models of the kind 'mixtral'"):
        tenon.compile(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": ')
    with pytest.raises(tenon.TenonError, match="no JSON"):
        tenon.compile(tmp_path)
