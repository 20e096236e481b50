# SPDX-License-Identifier: Apache-2.0
"""A decoder of PyTorch's exporters whose past and present are states: prefill and decode over one cache."""

import subprocess
import sys
import warnings

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("onnxscript")
import numpy as np  # noqa: E402
import tenon  # noqa: E402
from torch import nn  # noqa: E402

HEADS, WIDTH, WORDS, MOST = 4, 32, 50, 256
PAST = [f"past_{layer}_{what}" for layer in range(2) for what in ("key", "value")]
PRESENT = [name.replace("past", "present") for name in PAST]
STATES = f"past_*=present_*:{MOST}"


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.queries, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x, key, value, mask):
        n = x.shape[1]
        q, k, v = (t.reshape(1, n, HEADS, -1).transpose(1, 2) for t in self.queries(self.first(x)).chunk(3, dim=-1))
        key, value = torch.cat([key, k], dim=2), torch.cat([value, v], dim=2)
        scores = q @ key.transpose(2, 3) / (WIDTH // HEADS) ** 0.5 + mask
        x = x + self.out((scores.softmax(-1) @ value).transpose(1, 2).reshape(1, n, WIDTH))
        return x + self.down(torch.relu(self.up(self.second(x)))), key, value


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(MOST, WIDTH)
        self.layers, self.head = nn.ModuleList([Layer(), Layer()]), nn.Linear(WIDTH, WORDS)

    def forward(self, tokens, k0, v0, k1, v1):
        past, n = k0.shape[2], tokens.shape[1]
        at = torch.arange(past, past + n)
        x = self.words(tokens) + self.places(at)
        mask = torch.where(torch.arange(past + n)[None, :] <= at[:, None], 0.0, float("-inf"))
        x, k0, v0 = self.layers[0](x, k0, v0, mask)
        x, k1, v1 = self.layers[1](x, k1, v1, mask)
        return self.head(x), k0, v0, k1, v1


def empty():
    return [torch.zeros(1, HEADS, 0, WIDTH // HEADS) for _ in PAST]


@pytest.fixture(scope="module", params=["torchscript", "dynamo"])
def decoder(request, tmp_path_factory):
    """The module and its model."""
    torch.manual_seed(3)
    module = Decoder().eval()
    path = tmp_path_factory.mktemp("decoder") / "decoder.onnx"
    example = (torch.randint(0, WORDS, (1, 3)), *(torch.randn(1, HEADS, 5, WIDTH // HEADS) for _ in PAST))
    names = {"input_names": ["tokens", *PAST], "output_names": ["logits", *PRESENT], "verbose": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if request.param == "dynamo":
            n, past = torch.export.Dim("n", min=1, max=128), torch.export.Dim("past", min=0, max=MOST)
            shapes = {"tokens": {1: n}, **{name: {2: past} for name in ("k0", "v0", "k1", "v1")}}
            torch.onnx.export(module, example, path, dynamo=True, dynamic_shapes=shapes, **names)
        else:
            axes = {"tokens": {1: "n"}, **{name: {2: "past"} for name in PAST}}
            torch.onnx.export(module, example, path, dynamo=False, dynamic_axes=axes, **names)
    return module, path


def build(path, *options):
    engine = path.with_suffix(".tenon")
    done = subprocess.run([sys.executable, "-m", "tenon", "build", path, "-o", engine, *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return tenon.load(engine)


def test_prefill_and_decode_give_the_tokens_of_the_whole_sequence(decoder):
    module, path = decoder
    engine = build(path, "--shape", "tokens=1x1", "--entry", f"prefill={path}", "--state", STATES)
    assert [state.name for state in engine.states] == PAST
    assert [port.name for port in engine.inputs] == ["tokens"]
    assert [port.name for port in engine.outputs] == ["logits"]
    context = tenon.Context(engine)
    tokens = np.random.default_rng(5).integers(0, WORDS, (1, 17))
    logits = context.run({"tokens": tokens}, entry="prefill")["logits"][:, -1:]
    steps = []
    for _ in range(200):
        tokens = np.concatenate([tokens, logits.argmax(-1)], axis=1)
        logits = context.run({"tokens": tokens[:, -1:]})["logits"]
        steps.append(logits)
    assert context.length("past_0_key") == 217
    with torch.no_grad():
        whole, *caches = module(torch.from_numpy(tokens), *empty())
    assert np.array_equal(whole[0, 16:-1].argmax(-1).numpy(), tokens[0, 17:])
    np.testing.assert_allclose(np.concatenate(steps, axis=1), whole[:, 17:].numpy(), rtol=1e-4, atol=1e-4)
    for name, cache in zip(PAST, caches, strict=True):
        np.testing.assert_allclose(context.state(name), cache.numpy(), rtol=1e-4, atol=1e-5)


def test_a_run_beyond_the_capacity_changes_nothing(decoder):
    context = tenon.Context(tenon.compile(decoder[1], states=["past_*=present_*:4"]))
    context.run({"tokens": np.array([[1, 2, 3]])})
    before = context.state("past_1_value")
    with pytest.raises(tenon.TenonError, match="capacity"):
        context.run({"tokens": np.array([[4, 5]])})
    assert context.length("past_1_value") == 3
    assert np.array_equal(context.state("past_1_value"), before)
    context.run({"tokens": np.array([[4]])})
