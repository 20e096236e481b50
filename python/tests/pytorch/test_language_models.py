# SPDX-License-Identifier: Apache-2.0
"""Decoders of transformers with their caches, by torch.compile."""

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from tenon.torch.dynamo import backend  # noqa: E402

SIZES = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}


def generated(run, config, kind: str, prompt, mask=None):
    """Six tokens, and the logits of the last."""
    cache = transformers.StaticCache(config=config, max_cache_len=16) if kind == "static" else transformers.DynamicCache(config=config)
    ids, out = prompt, []
    for _ in range(6):
        with torch.no_grad():
            logits = run(input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True).logits[:, -1:]
        ids = logits.argmax(-1)
        out.append(ids)
        mask = None if mask is None else torch.cat([mask, mask[:, -1:]], 1)
    return torch.cat(out, 1), logits


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_a_decoder_of_grouped_heads_is_one_segment(kind, padded):
    torch._dynamo.reset()
    torch.manual_seed(0)
    module = transformers.LlamaForCausalLM(transformers.LlamaConfig(**SIZES, num_key_value_heads=2)).eval()
    prompt, reports = torch.randint(0, 50, (2, 5)), []
    mask = torch.tensor([[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]) if padded else None
    fast = torch.compile(module, backend=backend, options={"min_block_size": 1, "on_report": reports.append})
    tokens, logits = generated(fast, module.config, kind, prompt, mask)
    expected_tokens, expected_logits = generated(module, module.config, kind, prompt, mask)
    assert torch.equal(tokens, expected_tokens)
    torch.testing.assert_close(logits, expected_logits, rtol=1e-4, atol=1e-4)
    decoders = [r for r in reports if len(r["nodes"]) > 50]
    assert decoders and all(sum(s["backend"] == "tenon" for s in r["segments"]) == 1 for r in decoders)
