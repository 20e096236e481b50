# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of language models: GGUF files and folders of Hugging Face, built, run and refused."""

from __future__ import annotations

import json
import sys
import tempfile
import unittest
from pathlib import Path

import checkpoint_files as files
import numpy as np
import quantized_files as quantized

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

from small_models import report, tenon  # noqa: E402


class Checkpoints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.gguf, cls.hf = cls.folder / "small.gguf", cls.folder / "hf"
        cls.gguf.write_bytes(files.small_gguf())
        cls.hf.mkdir()
        files.write_folder(cls.hf)
        cls.tokens = cls.folder / "tokens.npy"
        np.save(cls.tokens, np.array([[3, 30, 7, 7, 1]]))

    def logits(self, model: Path) -> np.ndarray:
        out = self.folder / "out.npz"
        done = tenon("run", model, "--input", f"tokens={self.tokens}", "--output", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(out)["logits"]

    def error(self, *arguments: object) -> dict:
        done = tenon(*arguments, "--json")
        self.assertNotEqual(done.returncode, 0, done.stdout)
        return json.loads(done.stdout)["error"]

    def test_both_files_give_the_same_logits(self):
        engine = self.folder / "small.tenon"
        done = tenon("build", self.gguf, "-o", engine)
        self.assertEqual(done.returncode, 0, done.stderr)
        logits = self.logits(engine)
        self.assertEqual(logits.shape, (1, files.VOCABULARY))
        np.testing.assert_allclose(self.logits(self.hf), logits, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(self.logits(self.gguf), logits, rtol=0, atol=0)

    def test_inspect_shows_the_decoder(self):
        found = report("inspect", self.hf)
        self.assertEqual((found["format"], found["producer"]), ("checkpoint", "llama"))
        self.assertEqual(found["inputs"][0], {"name": "tokens", "dtype": "i64", "shape": [1, "new"]})
        self.assertIn("hf: checkpoint of the family llama; ", tenon("inspect", self.hf).stdout)
        self.assertIn("state keys.0(keys.0) = ", tenon("inspect", self.gguf, "--text").stdout)
        self.assertIn("architecture", tenon("inspect", self.gguf).stdout)

    def test_context_sizes_the_states(self):
        engine = self.folder / "short.tenon"
        self.assertEqual(tenon("build", self.gguf, "--context", 4, "-o", engine).returncode, 0)
        states = report("inspect", engine)["states"]
        self.assertEqual(len(states), 2 * files.LAYERS)
        self.assertEqual(self.error("run", engine, "--input", f"tokens={self.tokens}")["place"], "input 'tokens'")
        self.assertEqual(self.error("build", self.gguf, "--context", 25)["expected"], f"at most {files.CONTEXT}")
        self.assertEqual(self.error("build", self.gguf, "--context", -1)["name"], "bad_usage")

    def built(self, name: str, **fields: object) -> Path:
        """The engine of a BuildConfig."""
        config, engine = self.folder / f"{name}.json", self.folder / f"{name}.tenon"
        config.write_text(json.dumps(fields))
        done = tenon("build", self.gguf, "--build-config", config, "-o", engine)
        self.assertEqual(done.returncode, 0, done.stderr)
        return engine

    def test_a_build_config_shapes_the_engine(self):
        last = self.logits(self.gguf)
        rows = self.logits(self.built("all", gather_context_logits=True, max_seq_len=16))
        self.assertEqual(rows.shape, (1, 5, files.VOCABULARY))
        np.testing.assert_allclose(rows[:, -1], last, rtol=1e-5, atol=1e-5)
        whole = self.built("whole", kv_cache_type="DISABLED", gather_context_logits=True)
        self.assertEqual(report("inspect", whole)["states"], [])
        np.testing.assert_allclose(self.logits(whole), rows, rtol=1e-5, atol=1e-5)
        plain = self.built("plain", plugin_config={"gpt_attention_plugin": None})
        np.testing.assert_allclose(self.logits(plain), last, rtol=1e-5, atol=1e-5)
        self.assertNotIn("Attention(", tenon("inspect", plain, "--text").stdout)
        short = self.built("short", max_num_tokens=4)
        self.assertEqual(self.error("run", short, "--input", f"tokens={self.tokens}")["place"], "input 'tokens'")

    def test_quantized_folders_give_the_logits_of_decoded_weights(self):
        self.assertEqual(quantized.words(np.arange(8)[None], 4, quantized.AWQ_ORDER)[0, 0], 0x75316420)
        bytes_of_groups = {"bits": 8, "group_size": -1, "checkpoint_format": "gptq_v2"}
        in_any_order = {"desc_act": True}
        for how in (
            quantized.AWQ,
            quantized.GPTQ,
            quantized.GPTQ | {"sym": True},
            quantized.GPTQ | bytes_of_groups,
            quantized.GPTQ | in_any_order,
            quantized.GPTQ | in_any_order | {"bits": 8, "sym": True},
        ):
            with self.subTest(how=how):
                folder = self.folder / "quantized"
                plain = quantized.write_quantized(folder, how)
                np.testing.assert_allclose(self.logits(folder), self.logits(plain), rtol=1e-5, atol=1e-5)

    def test_adapters_of_matrices_in_the_order_of_groups_are_refused(self):
        folder, adapter, name = self.folder / "act", self.folder / "adapter", "model.layers.1.mlp.down_proj"
        quantized.write_quantized(folder, quantized.GPTQ | {"desc_act": True})
        parts = {"lora_A": np.ones((2, files.INNER), np.float32), "lora_B": np.ones((files.WIDTH, 2), np.float32)}
        files.write_adapter(adapter, {f"{name}.{part}.weight": t for part, t in parts.items()})
        found = self.error("build", folder, "--lora", adapter)
        self.assertEqual((found["name"], found["found"]), ("not_supported", "blk.1.ffn_down.weight"))

    def test_quantized_folders_that_cannot_be_read_are_one_error(self):
        folder, name = self.folder / "odd", "model.layers.1.mlp.down_proj"
        outputs, inputs = files.WIDTH, files.INNER

        def error(how: dict, changed: dict[str, np.ndarray] | None = None) -> dict:
            quantized.write_quantized(folder, quantized.GPTQ | how, changed)
            return self.error("build", folder)

        for how, what, expected in (
            ({"quant_method": "bitsandbytes"}, "quant_method bitsandbytes", "awq or gptq"),
            ({"checkpoint_format": "marlin"}, "checkpoint_format marlin", "gptq or gptq_v2"),
            ({"dynamic": {"+:.*": {"bits": 8}}}, "other formats for some modules", "no dynamic"),
        ):
            found = error(how)
            self.assertEqual((found["name"], found["what"]), ("not_supported", f"not supported yet: {what}"))
            self.assertEqual((found["place"], found["expected"]), (f"{folder / 'config.json'}, quantization_config", expected))
        for group in (1, -1, 3, 2**31 - 1):  # 31 of group 0, or 32 groups and one more
            groups = np.arange(inputs, dtype=np.int32) // 32
            groups[5] = group
            found = error({}, {f"{name}.g_idx": groups})
            self.assertEqual((found["place"], found["found"]), (f"tensor '{name}.g_idx'", "another number of group 0"))
        found = error({}, {f"{name}.scales": np.ones((2, outputs), np.float16)})
        self.assertEqual((found["place"], found["found"]), (f"tensor '{name}.scales'", f"f16[2,{outputs}]"))
        found = error({}, {f"{name}.scales": np.full((3, outputs), np.inf, np.float16)})
        self.assertTrue(found["place"].startswith(f"tensor '{name}.scales', row "), found)
        found = error({"group_size": 16})
        self.assertEqual((found["name"], found["found"]), ("not_supported", "group_size 16"))
        quantized.write_quantized(folder, quantized.GPTQ)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"quantization_config": None}))
        self.assertIn("quantization_config in config.json", self.error("build", folder)["expected"])

    def test_a_build_config_that_does_not_fit_is_an_error(self):
        config = self.folder / "bad.json"
        config.write_text('{\n"max_seq_len": 25}')
        found = self.error("build", self.gguf, "--build-config", config)
        self.assertEqual((found["place"], found["expected"]), (f"{config}:2, max_seq_len", f"at most {files.CONTEXT}"))
        self.assertEqual(self.error("build", self.gguf, "--context", 8, "--build-config", config)["place"], "--context")
        mlp = Path(__file__).resolve().parents[2] / "examples/mlp.onnx"
        self.assertEqual(self.error("build", mlp, "--build-config", config)["place"], "--build-config")
        config.write_text('{"kv_cache_type": "DISABLED"}')
        self.assertEqual(self.error("build", self.gguf, "--kv", "f16", "--build-config", config)["place"], "--kv")
        config.write_text('{"dry_run": true}')
        engine = self.folder / "dry.tenon"
        done = tenon("build", self.gguf, "--build-config", config, "-o", engine)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("planned peak", done.stdout)
        self.assertFalse(engine.exists())

    def test_engines_keep_the_tokenizer_of_a_folder(self):
        folder = self.folder / "with text"
        folder.mkdir()
        files.write_folder(folder)
        (folder / "tokenizer.json").write_text("{}")
        for extra in ((), ("--portable",)):
            engine = self.folder / "text.tenon"
            self.assertEqual(tenon("build", folder, "-o", engine, *extra).returncode, 0)
            kept = [s for s in report("inspect", engine)["sections"] if s["name"] == "language text"]
            self.assertEqual([s["bytes"] for s in kept], [2])

    def test_options_of_onnx_models_are_refused(self):
        self.assertEqual(self.error("build", self.gguf, "--shape", "tokens=1x5")["place"], "--shape")
        self.assertEqual(self.error("build", self.hf, "--only-output", "logits")["place"], "--only-output")
        mlp = Path(__file__).resolve().parents[2] / "examples/mlp.onnx"
        self.assertEqual(self.error("build", mlp, "--context", 8)["place"], "--context")

    def test_files_that_cannot_be_read_are_one_error(self):
        damaged = self.folder / "damaged.gguf"
        whole = self.gguf.read_bytes()
        for cut in (5, 40, 300, len(whole) // 2, len(whole) - 1):
            damaged.write_bytes(whole[:cut])
            self.assertIn("GGUF", self.error("build", damaged)["what"], cut)
        damaged.write_bytes(files.small_gguf("lama"))
        self.assertEqual(self.error("build", damaged)["advice"], "did you mean 'llama'?")
        damaged.write_bytes(whole.replace(b"blk.1.ffn_up.weight", b"blk.1.ffn_op.weight"))
        found = self.error("build", damaged)["found"]
        self.assertIn("missing: blk.1.ffn_up.weight [96, 64]", found)
        self.assertIn("left over: blk.1.ffn_op.weight", found)
        empty = self.folder / "empty"
        empty.mkdir()
        missing = self.error("build", empty)
        self.assertEqual(missing["name"], "file_missing")
        self.assertIn("config.json", missing["place"])


if __name__ == "__main__":
    unittest.main()
