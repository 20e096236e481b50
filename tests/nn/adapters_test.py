# SPDX-License-Identifier: Apache-2.0
"""Options of checkpoints (`--lora`, `--weights`, `--kv`, `--batch`, `--window`): engines and those of checkpoints changed before."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

import checkpoint_files as files
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from small_models import report, tenon  # noqa: E402

QUERY, DOWN = "model.layers.0.self_attn.q_proj", "model.layers.1.mlp.down_proj"


def q8_0(weight: np.ndarray) -> np.ndarray:
    """What is left of a matrix in Q8_0 (gguf.quants.Q8_0): rounded half away from zero, the scale as f16."""
    blocks = weight.astype(np.float32).reshape(-1, 32)
    scale = np.abs(blocks).max(axis=1, keepdims=True) / np.float32(127)
    with np.errstate(divide="ignore"):
        factor = np.where(scale == 0, np.float32(0), np.float32(1) / scale)
    scaled = blocks * factor
    codes = np.trunc(scaled + np.copysign(np.float32(0.5), scaled))
    return (codes * scale.astype(np.float16).astype(np.float32)).reshape(weight.shape)


class Adapters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.gguf, cls.hf, cls.adapter = cls.folder / "small.gguf", cls.folder / "hf", cls.folder / "adapter"
        cls.gguf.write_bytes(files.small_gguf())
        cls.hf.mkdir()
        files.write_folder(cls.hf)
        random = np.random.default_rng(7)
        shapes = {QUERY: (files.WIDTH, files.WIDTH), DOWN: (files.WIDTH, files.INNER)}
        cls.parts = {f"{name}.lora_A.weight": random.normal(0, 0.3, (2, n)).astype(np.float32) for name, (_, n) in shapes.items()}
        cls.parts |= {f"{name}.lora_B.weight": random.normal(0, 0.3, (m, 2)).astype(np.float32) for name, (m, _) in shapes.items()}
        files.write_adapter(cls.adapter, cls.parts)
        cls.tokens = cls.folder / "tokens.npy"
        np.save(cls.tokens, np.array([[3, 30, 7, 7, 1]]))

    def logits(self, model: Path, *options: object, tokens: Path | None = None) -> np.ndarray:
        engine, out = self.folder / "engine.tenon", self.folder / "out.npz"
        built = tenon("build", model, "-o", engine, *options)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.stderr = built.stderr
        done = tenon("run", engine, "--input", f"tokens={tokens or self.tokens}", "--output", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(out)["logits"]

    def logits_of(self, changed: dict[str, np.ndarray]) -> np.ndarray:
        other = self.folder / "changed"
        other.mkdir(exist_ok=True)
        files.write_folder(other, changed=changed)
        return self.logits(other)

    def merged(self, scale: float) -> dict[str, np.ndarray]:
        have = files.weights()
        change = {name: self.parts[f"{name}.lora_B.weight"] @ self.parts[f"{name}.lora_A.weight"] for name in (QUERY, DOWN)}
        return {name: have[name].astype(np.float32) + np.float32(2 * scale) * change[name] for name in change}

    def error(self, *arguments: object) -> dict:
        done = tenon(*arguments, "--json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return json.loads(done.stdout)["error"]

    def test_adapters_give_the_logits_of_the_changed_weights(self):
        plain = self.logits(self.hf)
        for options, scale in ((["--lora", self.adapter], 1), (["--lora", f"{self.adapter}=0.25"], 0.25)):
            want = self.logits_of(self.merged(scale))
            self.assertGreater(np.abs(want - plain).max(), 0.1)
            np.testing.assert_allclose(self.logits(self.hf, *options), want, rtol=1e-4, atol=1e-4)
            np.testing.assert_allclose(self.logits(self.gguf, *options), want, rtol=1e-4, atol=1e-4)
        both = self.logits(self.gguf, "--lora", f"{self.adapter}=1.5", "--lora", f"{self.adapter}=-0.5")
        np.testing.assert_allclose(both, self.logits_of(self.merged(1)), rtol=1e-4, atol=1e-4)

    def test_magnitudes_are_the_norms_of_rows(self):
        dora, changed = self.folder / "dora", {}
        magnitudes = {name: np.linspace(0.5, 2, files.WIDTH, dtype=np.float32) for name in (QUERY, DOWN)}
        parts = self.parts | {f"{name}.lora_magnitude_vector": m for name, m in magnitudes.items()}
        files.write_adapter(dora, parts, {"peft_type": "LORA", "r": 2, "lora_alpha": 4, "use_dora": True})
        for name, sums in self.merged(0.5).items():
            norms = np.sqrt((sums.astype(np.float64) ** 2).sum(axis=1, keepdims=True))
            changed[name] = (magnitudes[name][:, None] * sums / norms).astype(np.float32)
        want = self.logits_of(changed)
        np.testing.assert_allclose(self.logits(self.gguf, "--lora", f"{dora}=0.5"), want, rtol=1e-4, atol=1e-4)

    def test_weights_of_eight_bits_are_those_of_the_reference(self):
        changed = {name: q8_0(w) for name, w in files.weights().items() if w.ndim == 2}
        stored = self.logits(self.gguf, "--weights", "int8")
        self.assertIn("matrices to Q8_0", self.stderr)
        np.testing.assert_allclose(stored, self.logits_of(changed), rtol=1e-4, atol=1e-4)
        changed |= {name: q8_0(w) for name, w in self.merged(1).items()}
        both = self.logits(self.gguf, "--weights", "int8", "--lora", self.adapter)
        np.testing.assert_allclose(both, self.logits_of(changed), rtol=1e-3, atol=1e-3)

    def test_weights_of_four_bits_take_half_the_bytes(self):
        sizes = {}
        for kind in ("f32", "int8", "int4"):
            self.logits(self.gguf, "--weights", kind, "--context", 5)
            sizes[kind] = sum(s["bytes"] for s in report("inspect", self.folder / "engine.tenon")["sections"] if s["name"] == "weights")
        self.assertGreater(sizes["f32"], 2 * sizes["int8"])
        self.assertGreater(sizes["int8"], 1.5 * sizes["int4"])

    def test_keys_and_values_of_eight_bits_change_little(self):
        plain = self.logits(self.gguf, "--context", 16)
        for kv, dtype, most in (("int8", "i8", 0.1), ("fp8", "f8e4m3fn", 0.3)):
            difference = np.abs(self.logits(self.gguf, "--kv", kv, "--context", 16) - plain).max()
            self.assertGreater(difference, 1e-5)
            self.assertLess(difference, most * np.abs(plain).max())
            found = report("inspect", self.folder / "engine.tenon")
            states = {s["name"]: s["dtype"] for s in found["states"]}
            self.assertEqual((states["keys.0"], states["keys.0.scales"]), (dtype, "f32"))

    def test_sequences_of_a_batch_have_the_bits_of_each_alone(self):
        two = self.folder / "two.npy"
        np.save(two, np.array([[9, 1, 1, 4, 0], [3, 30, 7, 7, 1]]))
        found = self.logits(self.gguf, "--batch", 2, tokens=two)
        self.assertEqual(found[1].tolist(), self.logits(self.gguf)[0].tolist())
        refused = tenon("run", self.folder / "engine.tenon", "--input", f"tokens={two}")
        self.assertNotEqual(refused.returncode, 0)

    def test_bad_options_are_one_error(self):
        mlp = Path(__file__).resolve().parents[2] / "examples/mlp.onnx"
        self.assertEqual(self.error("build", mlp, "--lora", self.adapter)["place"], "--lora")
        self.assertEqual(self.error("build", mlp, "--weights", "int8")["place"], "--weights")
        self.assertEqual(self.error("build", mlp, "--kv", "f16")["place"], "--kv")
        self.assertEqual(self.error("build", mlp, "--batch", 4)["place"], "--batch")
        self.assertEqual(self.error("build", mlp, "--window", 4)["place"], "--window")
        self.assertIn("--window", self.error("build", self.gguf, "--sinks", 4)["expected"])
        self.assertIn("at most 24 tokens", self.error("build", self.gguf, "--window", 23, "--sinks", 2)["expected"])
        self.assertNotEqual(tenon("build", self.gguf, "--window", 0).returncode, 0)
        self.assertEqual(self.error("build", self.gguf, "--batch=-1")["found"], "-1")
        self.assertIn("did you mean 'int8'?", tenon("build", self.gguf, "--kv", "int9").stderr)
        self.assertNotEqual(tenon("build", self.gguf, "--weights", "int3").returncode, 0)
        self.assertEqual(self.error("build", self.gguf, "--lora", f"{self.adapter}=much")["found"], "'much'")
        self.assertEqual(self.error("build", self.gguf, "--lora", self.folder / "none")["name"], "file_missing")
        other = self.folder / "other"
        files.write_adapter(other, {name.replace("q_proj", "q_prj"): t for name, t in self.parts.items()})
        found = self.error("build", self.gguf, "--lora", other)
        self.assertIn(f"1 that match no weight: {QUERY.replace('q_proj', 'q_prj')}.weight", found["found"])
        self.assertIn(f"{QUERY}.weight", found["advice"])


if __name__ == "__main__":
    unittest.main()
