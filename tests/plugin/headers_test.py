# SPDX-License-Identifier: Apache-2.0
"""tenon/plugin.hpp and tenon/trt.hpp: plugins in C++, built by the system's own compiler on the public headers alone, tried by a host that
does the least and by Tenon."""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))
import small_models  # noqa: E402
from small_models import ROOT, np, o  # noqa: E402

FIXTURES = Path(__file__).resolve().parent / "fixtures"
CHECKED = ("cpp_ops", "trt_gemm_v2", "trt_swish_v3", "trt_kinds")
LIBRARIES = (*CHECKED, "trt_attention_v2")


def attribute_float(name: str, value: float) -> bytes:
    return o.message(5, o.text(1, name), o.varint(2 << 3 | 5) + struct.pack("<f", value), o.number(20, 1))


def attribute_text(name: str, value: str) -> bytes:
    return o.message(5, o.text(1, name), o.text(4, value), o.number(20, 3))


@unittest.skipUnless(shutil.which("c++"), "needs a C++ compiler")
class Headers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.library = {name: cls.compiled(name, f"{name}.so", "-shared", "-fPIC") for name in LIBRARIES}

    @classmethod
    def compiled(cls, source: str, name: str, *options: str) -> Path:
        out = cls.folder / name
        flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'include'}", *options]
        subprocess.run(["c++", *flags, FIXTURES / f"{source}.cpp", "-o", out, "-ldl"], check=True)
        return out

    def run_check(self, name: str, *libraries: str, **environment: str):
        program = self.compiled(name, name)
        done = subprocess.run(
            [program, *(self.library[lib] for lib in libraries)], capture_output=True, text=True, env={**os.environ, **environment}
        )
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_after_a_host_that_does_the_least(self):
        self.run_check("check", *CHECKED)

    def test_a_library_that_registers_itself_when_it_is_opened(self):
        self.run_check("check", *CHECKED, TRT_LLM_LOAD_PLUGINS="1")

    def test_creators_are_registered_once_however_the_library_is_opened(self):
        library, line = self.library["trt_gemm_v2"], "Registered plugin creator Gemm version 1 in namespace tensorrt_llm"
        for environment in ({}, {"TRT_LLM_LOAD_PLUGINS": "0"}, {"TRT_LLM_LOAD_PLUGINS": "1"}):
            with self.subTest(environment):
                kept = {name: value for name, value in os.environ.items() if name != "TRT_LLM_LOAD_PLUGINS"}
                done = small_models.tenon("plugin", "list", library, "--json", env={**kept, **environment})
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                (listed,) = json.loads(done.stdout)["libraries"]
                self.assertEqual([(op["namespace"], op["name"], op["version"]) for op in listed["ops"]], [("tensorrt_llm", "Gemm", "1")])
                verbose = small_models.tenon("plugin", "list", library, "--verbose", env={**kept, **environment})
                self.assertEqual(len([text for text in verbose.stderr.splitlines() if text.endswith(line)]), 1, verbose.stderr)

    def test_the_registry_as_an_application_uses_it(self):
        self.run_check("registry_check", "trt_kinds")

    def model(self, name: str, node: bytes, inputs: dict[str, list], output: list, domain: str, before: tuple = ()) -> Path:
        path = self.folder / f"{name}.onnx"
        values = [o.value_info(k, shape) for k, shape in inputs.items()]
        graph = o.graph([*before, node], values, [o.value_info("y", output)])
        path.write_bytes(o.model(graph) + o.message(8, o.text(1, domain), o.number(2, 1)))
        return path

    def results(self, model: Path, library: str, inputs: dict[str, np.ndarray]) -> np.ndarray:
        """Of an engine that is built, and loaded again."""
        engine = model.with_suffix(".tenon")
        plugin = ("--plugin", self.library[library])
        built = small_models.tenon("build", model, "-o", engine, *plugin)
        self.assertEqual(built.returncode, 0, built.stderr)
        arguments = []
        for name, value in inputs.items():
            np.save(self.folder / f"{name}.npy", value)
            arguments += ["--input", f"{name}={self.folder / name}.npy"]
        done = small_models.tenon("run", engine, *plugin, *arguments, "--output-dir", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(self.folder / "y.npy")

    def error(self, model: Path, library: str) -> str:
        done = small_models.tenon("run", model, "--plugin", self.library[library], "--shape", "x=2x3", "--json")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        return json.loads(done.stdout)["error"]["what"]

    def gemm(self, transb: int = 1, type_id: int = 0, **more: int) -> Path:
        fields = {"transa": 0, "transb": transb, "type_id": type_id, **more}
        node = o.node("Gemm", ["x", "b"], ["y"], *(o.attribute_int(*f) for f in fields.items()), domain="tensorrt_llm", name="it")
        return self.model("gemm", node, {"x": ["n", 3], "b": [4, 3]}, ["n", 4], "tensorrt_llm")

    def test_gemm_of_the_second_generation(self):
        x, b = np.random.default_rng(1).normal(size=(5, 3)), np.random.default_rng(2).normal(size=(4, 3))
        x, b = x.astype(np.float32), b.astype(np.float32)
        np.testing.assert_allclose(self.results(self.gemm(), "trt_gemm_v2", {"x": x, "b": b}), x @ b.T, rtol=1e-5)

    def attention(self, seq: object, past: object, **more: int) -> Path:
        fields = {"layer_idx": 0, "num_heads": 2, "vision_start": -1, "vision_length": -1, "num_kv_heads": 2, "head_size": 4}
        fields |= {"remove_input_padding": 0, "mask_type": 1, "block_sparse_block_size": 64, "block_sparse_homo_head_pattern": 0}
        fields |= {"block_sparse_num_local_blocks": 16, "block_sparse_vertical_stride": 8, "type_id": 0, **more}
        attributes = [*(o.attribute_int(*f) for f in fields.items()), attribute_float("q_scaling", 1.0)]
        node = o.node("GPTAttention", ["qkv", "past"], ["y", "present"], *attributes, domain="tensorrt_llm", name="it")
        path = self.folder / "attention.onnx"
        inputs = [o.value_info("qkv", ["b", seq, 24]), o.value_info("past", ["b", 2, 2, past, 4])]
        graph = o.graph([node], inputs, [o.value_info("y", ["b", seq, 8]), o.value_info("present", ["b", 2, 2, None, 4])])
        path.write_bytes(o.model(graph) + o.message(8, o.text(1, "tensorrt_llm"), o.number(2, 1)))
        return path

    def test_attention_as_the_page_has_it(self):
        """A context of five tokens, then two of generation, beside all seven at once."""
        qkv = np.random.default_rng(3).normal(size=(2, 7, 24)).astype(np.float32)
        q, k, v = (qkv.reshape(2, 7, 3, 2, 4)[:, :, part].transpose(0, 2, 1, 3) for part in range(3))
        scores = np.where(np.tril(np.ones((7, 7), bool)), q @ k.transpose(0, 1, 3, 2) / 2, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        wanted = (weights / weights.sum(-1, keepdims=True) @ v).transpose(0, 2, 1, 3).reshape(2, 7, 8)
        past = np.zeros((2, 2, 2, 0, 4), np.float32)
        for begin, end in ((0, 5), (5, 6), (6, 7)):
            model = self.attention("s", "p")
            got = self.results(model, "trt_attention_v2", {"qkv": qkv[:, begin:end], "past": past})
            np.testing.assert_allclose(got, wanted[:, begin:end], rtol=2e-5, atol=1e-6)
            past = np.load(self.folder / "present.npy")
        np.testing.assert_array_equal(past, np.stack([k, v], axis=1))

    def test_attention_says_what_it_cannot(self):
        done = small_models.tenon("compare", self.attention("s", "p", num_kv_heads=1), "--plugin", self.library["trt_attention_v2"])
        self.assertIn("num_kv_heads: grouped queries are not in this fixture", done.stderr)

    def test_what_a_creator_logs_is_reported(self):
        said = self.error(self.gemm(type_id=1), "trt_gemm_v2")
        self.assertIn("creator 'Gemm' version '1' of namespace 'tensorrt_llm'", said)
        self.assertIn("type_id 1 is not supported", said)

    def test_swish_of_the_third_generation(self):
        node = o.node("Swish", ["x"], ["y"], attribute_float("beta", 1.5), domain="fixture", name="it")
        x = np.linspace(-3, 3, 6, dtype=np.float32).reshape(2, 3)
        got = self.results(self.model("swish", node, {"x": ["n", 3]}, ["n", 3], "fixture"), "trt_swish_v3", {"x": x})
        np.testing.assert_allclose(got, x / (1 + np.exp(-1.5 * x)), rtol=1e-5)
        unknown = o.node("Swish", ["x"], ["y"], attribute_float("gamma", 1.5), domain="fixture", name="it")
        done = small_models.tenon(
            "run", self.model("gamma", unknown, {"x": [2, 3]}, [2, 3], "fixture"), "--plugin", self.library["trt_swish_v3"]
        )
        self.assertIn("there is no field 'gamma'", done.stderr)

    def test_tactics_and_formats_of_the_third_generation_are_measured(self):
        self.library["hwc"] = self.compiled("trt_swish_v3", "hwc.so", "-shared", "-fPIC", "-DHWC")
        node = o.node("Swish", ["x"], ["y"], attribute_float("beta", 1.5), domain="fixture", name="it")
        model = self.model("swish_hwc", node, {"x": [2, 3, 4, 5]}, [2, 3, 4, 5], "fixture")
        x = np.linspace(-3, 3, 120, dtype=np.float32).reshape(2, 3, 4, 5)
        np.testing.assert_allclose(self.results(model, "hwc", {"x": x}), x / (1 + np.exp(-1.5 * x)), rtol=1e-5)
        done = small_models.tenon("build", model, "-o", self.folder / "hwc.tenon", "--plugin", self.library["hwc"], "--measure", "--json")
        (measured,) = json.loads(done.stdout)["plugin_times"]
        ways = [f"tactic {k}, channels-last" for k in ("0", "1 (tactic 1)", "2 (tactic 2)")]
        self.assertEqual([c["name"] for c in measured["candidates"]], ways)
        self.assertEqual([c["dropped"] for c in measured["candidates"]], [""] * 3)

    def test_data_dependent_sizes(self):
        node = o.node("NonZeroValues", ["x"], ["y"], domain="fixture", name="it")
        x = np.array([[0, 1, 0], [2, 0, 3]], dtype=np.float32)
        got = self.results(self.model("nonzero", node, {"x": ["n", 3]}, ["k"], "fixture"), "trt_swish_v3", {"x": x})
        self.assertEqual(got.tolist(), [1, 2, 3])

    def test_shape_inputs_and_outputs_over_inputs(self):
        before = (o.node("Shape", ["x"], ["s"]),)
        which = o.attribute_ints("tensorrt_plugin_shape_input_indices", [0])
        node = o.node("Fill", ["s", "x"], ["y"], which, domain="kinds", name="it")
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        got = self.results(self.model("fill", node, {"x": ["n", 3]}, ["n", 3], "kinds", before), "trt_kinds", {"x": x})
        np.testing.assert_array_equal(got, x + 7)

    def test_plugins_without_the_batch(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        for op, wanted in (("Scale", 3 * x), ("AddOne", x + 1), ("Negate", -x)):
            node = o.node(op, ["x"], ["y"], domain="kinds", name="it")
            got = self.results(self.model(op, node, {"x": ["n", 3]}, ["n", 3], "kinds"), "trt_kinds", {"x": x})
            np.testing.assert_array_equal(got, wanted)

    def test_exceptions_are_errors(self):
        for where in ("create", "infer", "enqueue"):
            node = o.node("Throws", ["x"], ["y"], attribute_text("where", where), domain="fixture", name="it")
            said = self.error(self.model("throws", node, {"x": ["n", 3]}, ["n", 3], "fixture"), "cpp_ops")
            self.assertIn(f"told to fail in {where}", said)


if __name__ == "__main__":
    unittest.main()
