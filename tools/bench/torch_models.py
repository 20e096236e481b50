# SPDX-License-Identifier: Apache-2.0
"""torch.compile(backend="tenon") beside eager PyTorch: small models with random weights, by turns in this process.

PYTHONPATH=build/python .venv-models/bin/python tools/bench/torch_models.py [NAME...]

A line a model: median times of a call, the ratio (above 1: slower than eager) with the range of its rounds, segments of Tenon and of
PyTorch, and whether results are those of eager. Decoders generate: their tokens must be equal.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import torch
import transformers as hf
from tenon.torch.dynamo import backend
from torch import nn

Call = Callable[[], Any]
WIDTH = {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 4, "num_attention_heads": 8, "vocab_size": 1000}
GROUPED = WIDTH | {"num_key_value_heads": 4, "max_position_embeddings": 256}


class Inverted(nn.Module):
    """A small network of inverted residuals."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.SiLU())
        self.blocks = nn.ModuleList(self._block(16, 64) for _ in range(4))
        self.head = nn.Linear(16, 10)

    @staticmethod
    def _block(wide: int, inner: int) -> nn.Module:
        rows = [(wide, inner, 1, 1), (inner, inner, 3, inner)]
        parts = [m for a, b, k, g in rows for m in (nn.Conv2d(a, b, k, 1, k // 2, groups=g, bias=False), nn.BatchNorm2d(b), nn.SiLU())]
        return nn.Sequential(*parts, nn.Conv2d(inner, wide, 1, bias=False), nn.BatchNorm2d(wide))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.stem(x)
        for block in self.blocks:
            x = x + block(x)
        return self.head(x.mean((2, 3)))


class Tagger(nn.Module):
    """Embeddings, a recurrent layer in both directions, a class for each token."""

    def __init__(self, kind: type[nn.RNNBase]) -> None:
        super().__init__()
        self.words = nn.Embedding(1000, 64)
        self.layer = kind(64, 128, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(256, 20)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer(self.words(tokens))[0])


class Perceptron(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def tokens(batch: int, length: int) -> torch.Tensor:
    return torch.randint(0, 1000, (batch, length))


def padded(batch: int, length: int) -> dict[str, torch.Tensor]:
    """Tokens whose first ones are padding in all sequences but the last."""
    mask = torch.ones(batch, length, dtype=torch.int64)
    for row in range(batch - 1):
        mask[row, : 3 + row] = 0
    return {"input_ids": tokens(batch, length), "attention_mask": mask}


def plain(module: nn.Module, **given: torch.Tensor) -> tuple[nn.Module, Callable[[nn.Module], Any]]:
    return module, lambda m: m(**given)


def decoding(module: Any, cache: str, new: int = 24) -> tuple[nn.Module, Callable[[nn.Module], Any]]:
    """Greedy decoding, token by token, with a cache."""
    prompt = tokens(1, 16)

    def generate(run: Any) -> torch.Tensor:
        kept = hf.StaticCache(config=module.config, max_cache_len=64) if cache == "static" else hf.DynamicCache(config=module.config)
        ids, out = prompt, []
        for _ in range(new):
            ids = run(input_ids=ids, past_key_values=kept, use_cache=True).logits[:, -1:].argmax(-1)
            out.append(ids)
        return torch.cat(out, 1)

    return module, generate


def llama() -> Any:
    return hf.LlamaForCausalLM(hf.LlamaConfig(**GROUPED))


def whisper() -> tuple[nn.Module, Callable[[nn.Module], Any]]:
    sizes = {
        f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in (("layers", 3), ("attention_heads", 4), ("ffn_dim", 256))
    }
    special = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    config = hf.WhisperConfig(d_model=128, vocab_size=1000, max_source_positions=100, **sizes, **special)
    return plain(hf.WhisperModel(config).encoder, input_features=torch.randn(1, 80, 200))


def gpt2() -> Any:
    return hf.GPT2LMHeadModel(
        hf.GPT2Config(n_embd=256, n_layer=4, n_head=8, vocab_size=1000, n_positions=128, bos_token_id=1, eos_token_id=2)
    )


def vit() -> Any:
    sizes = {"hidden_size": 192, "intermediate_size": 384, "num_hidden_layers": 4, "num_attention_heads": 6}
    return hf.ViTModel(hf.ViTConfig(image_size=64, patch_size=8, **sizes))


MODELS: dict[str, Callable[[], tuple[nn.Module, Callable[[nn.Module], Any]]]] = {
    "bert": lambda: plain(hf.BertModel(hf.BertConfig(**WIDTH)), **padded(2, 48)),
    "distilbert": lambda: plain(
        hf.DistilBertModel(hf.DistilBertConfig(dim=256, hidden_dim=512, n_layers=3, n_heads=8, vocab_size=1000)), input_ids=tokens(1, 32)
    ),
    "t5 encoder": lambda: plain(
        hf.T5EncoderModel(hf.T5Config(d_model=256, d_kv=32, d_ff=512, num_layers=4, num_heads=8, vocab_size=1000)), input_ids=tokens(1, 48)
    ),
    "whisper encoder": whisper,
    "llama prefill": lambda: plain(llama(), **padded(2, 64), use_cache=False),
    "llama dynamic": lambda: decoding(llama(), "dynamic"),
    "llama static": lambda: decoding(llama(), "static"),
    "qwen3 dynamic": lambda: decoding(hf.Qwen3ForCausalLM(hf.Qwen3Config(**GROUPED, head_dim=32)), "dynamic"),
    "gpt2 dynamic": lambda: decoding(gpt2(), "dynamic"),
    "vit": lambda: plain(vit(), pixel_values=torch.randn(1, 3, 64, 64)),
    "inverted residuals": lambda: plain(Inverted(), x=torch.randn(2, 3, 64, 64)),
    "lstm tagger": lambda: plain(Tagger(nn.LSTM), tokens=tokens(2, 40)),
    "gru tagger": lambda: plain(Tagger(nn.GRU), tokens=tokens(2, 40)),
    "perceptron": lambda: plain(Perceptron(), x=torch.randn(2, 16)),
}


def equal(made: Any, expected: Any) -> bool:
    if isinstance(expected, torch.Tensor) and not expected.dtype.is_floating_point:
        return torch.equal(made, expected)
    first, second = (torch.utils._pytree.tree_leaves(x) for x in (made, expected))
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if isinstance(b, torch.Tensor)]
    return all(torch.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=True) for a, b in pairs)


def timed_ms(call: Call, times: int) -> float:
    start = time.perf_counter()
    for _ in range(times):
        call()
    return 1000 * (time.perf_counter() - start) / times


def measure(name: str, rounds: int, options: dict[str, Any]) -> str:
    torch.manual_seed(0)
    torch._dynamo.reset()
    module, call = MODELS[name]()
    module.eval()
    reports: list[dict[str, Any]] = []
    fast = torch.compile(module, backend=backend, options=options | {"on_report": reports.append})
    with torch.no_grad():
        expected, made = call(module), call(fast)
        right = equal(made, expected) and equal(call(fast), expected)
        once = timed_ms(lambda: call(module), 1)
        times = max(1, round(30 / once))
        timed_ms(lambda: call(fast), times)
        pairs = [(timed_ms(lambda: call(fast), times), timed_ms(lambda: call(module), times)) for _ in range(rounds)]
    ratios = sorted(a / b for a, b in pairs)
    ours, theirs = (statistics.median(p[k] for p in pairs) for k in (0, 1))
    kinds = [s["backend"] for r in reports for s in r["segments"]]
    parts = f"{len(reports)} pieces: {kinds.count('tenon')} segments of Tenon, {kinds.count('torch')} of PyTorch"
    spread = f"{statistics.median(ratios):5.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    return f"{name:20} {ours:9.3f} ms  eager {theirs:9.3f} ms  {spread}  {parts}; {'equal' if right else 'NOT EQUAL'}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="; ".join(MODELS))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    warnings.simplefilter("ignore")
    for name in asked.names or MODELS:
        print(measure(name, asked.rounds, {}), flush=True)


if __name__ == "__main__":
    main()
