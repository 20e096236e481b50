# SPDX-License-Identifier: Apache-2.0
"""Writes the LLaMA of checkpoint_files as ONNX decoders with past_key_values: as optimum exports it, merged or not, with names for sizes
of each past, and as onnxruntime-genai builds it (GroupQueryAttention)."""

from __future__ import annotations

import json
import struct
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bad_input"))
import onnx_bytes as o  # noqa: E402
from checkpoint_files import HEADS, KEY_HEADS, LAYERS, TEMPLATE, VOCABULARY, WIDTH, weights  # noqa: E402

SIZE = WIDTH // HEADS
I32, I64, BOOL = 6, 7, 9
FLOAT_ATTRIBUTE = 1


def attribute_float(name: str, value: float) -> bytes:
    return o.message(5, o.text(1, name), o.varint(2 << 3 | 5) + struct.pack("<f", value), o.number(20, FLOAT_ATTRIBUTE))


def opsets(**versions: int) -> bytes:
    return b"".join(o.message(8, o.text(1, domain.replace("_", ".")), o.number(2, version)) for domain, version in versions.items())


class Decoder:
    """The nodes of a decoder. grouped: as onnxruntime-genai. length: the name of the length of a past, of each its own where it has {}."""

    def __init__(self, grouped: bool = False, length: str = "past_sequence_length") -> None:
        self.nodes: list[bytes] = []
        self.initializers: list[bytes] = []
        self.grouped = grouped
        self.length = length
        self.made = 0
        for name, w in weights().items():
            self.weight(name, w.astype(np.float32) if w.ndim == 1 or "embed" in name else w.astype(np.float32).T)
        self.ports()
        self.body()

    def ports(self) -> None:
        mask = "total_sequence_length" if "{}" in self.length else f"{self.length} + sequence_length"
        self.inputs = [
            o.value_info("input_ids", ["batch_size", "sequence_length"], I64),
            o.value_info("attention_mask", ["batch_size", mask], I64),
        ]
        if not self.grouped:
            self.inputs.append(o.value_info("position_ids", ["batch_size", "sequence_length"], I64))
        self.outputs = [o.value_info("logits", ["batch_size", "sequence_length", VOCABULARY])]
        for k in range(LAYERS):
            for part, kind in enumerate(("key", "value")):
                past = self.length.format(2 * k + part)
                self.inputs.append(o.value_info(f"past_key_values.{k}.{kind}", ["batch_size", KEY_HEADS, past, SIZE]))
                self.outputs.append(o.value_info(f"present.{k}.{kind}", ["batch_size", KEY_HEADS, "total", SIZE]))

    def weight(self, name: str, value: np.ndarray) -> str:
        dtype = {"float32": o.F32, "int64": I64, "int32": I32}[value.dtype.name]
        self.initializers.append(o.tensor(name, list(value.shape), np.ascontiguousarray(value).tobytes(), dtype))
        return name

    def constant(self, value: object, dtype: str = "int64") -> str:
        self.made += 1
        return self.weight(f"constant_{self.made}", np.array(value, dtype))

    def op(self, op: str, inputs: list[str], *attributes: bytes, to: str = "", domain: str = "") -> str:
        self.made += 1
        out = to or f"{op.lower()}_{self.made}"
        self.nodes.append(o.node(op, inputs, [out], *attributes, domain=domain))
        return out

    def normalized(self, x: str, weight: str) -> str:
        mean = self.op("ReduceMean", [self.op("Mul", [x, x]), self.constant([-1])], o.attribute_int("keepdims", 1))
        root = self.op("Sqrt", [self.op("Add", [mean, self.constant(2.0**-17, "float32")])])
        return self.op("Mul", [self.op("Div", [x, root]), weight])

    def heads(self, x: str, heads: int) -> str:
        split = self.op("Reshape", [x, self.constant([0, 0, heads, SIZE])])
        return self.op("Transpose", [split], o.attribute_ints("perm", [0, 2, 1, 3]))

    def rotated(self, x: str) -> str:
        half = [self.constant([0]), self.constant([SIZE // 2]), self.constant([SIZE]), self.constant([3])]
        first = self.op("Slice", [x, half[0], half[1], half[3]])
        second = self.op("Slice", [x, half[1], half[2], half[3]])
        turned = self.op("Concat", [self.op("Neg", [second]), first], o.attribute_int("axis", -1))
        return self.op("Add", [self.op("Mul", [x, self.cosines]), self.op("Mul", [turned, self.sines])])

    def frequencies(self) -> np.ndarray:
        return (500.0 ** (-np.arange(0, SIZE, 2) / SIZE)).astype(np.float32)

    def rotation(self) -> None:
        places = self.op("Unsqueeze", [self.op("Cast", ["position_ids"], o.attribute_int("to", o.F32)), self.constant([2])])
        half = self.op("Mul", [places, self.constant(self.frequencies()[None, None], "float32")])
        angles = self.op("Unsqueeze", [self.op("Concat", [half, half], o.attribute_int("axis", -1)), self.constant([1])])
        self.cosines, self.sines = self.op("Cos", [angles]), self.op("Sin", [angles])

    def size(self, x: str, axis: int) -> str:
        return self.op("Gather", [self.op("Shape", [x]), self.constant(axis)])

    def mask(self) -> None:
        """Scores to add: of keys after the query, and of padding, the least number."""
        past, fresh = self.size("past_key_values.0.key", 2), self.size("input_ids", 1)
        total = self.op("Add", [past, fresh])
        key = self.op("Range", [self.constant(0), total, self.constant(1)])
        query = self.op("Unsqueeze", [self.op("Range", [past, total, self.constant(1)]), self.constant([1])])
        padding = self.op("Equal", [self.op("Unsqueeze", ["attention_mask", self.constant([1, 2])]), self.constant(0)])
        hidden = self.op("Or", [self.op("Greater", [key, query]), padding])
        least, zero = self.constant(np.finfo(np.float32).min, "float32"), self.constant(0, "float32")
        self.scores = self.op("Where", [hidden, least, zero])

    def lengths(self) -> None:
        """As the builder of onnxruntime-genai computes them."""
        counted = self.op("ReduceSum", ["attention_mask", self.constant([1])], o.attribute_int("keepdims", 0))
        last = self.op("Sub", [counted, self.constant(1)])
        self.last = self.op("Cast", [last], o.attribute_int("to", I32))
        self.total = self.op("Cast", [self.size("attention_mask", 1)], o.attribute_int("to", I32))
        angles = np.outer(np.arange(4096), self.frequencies()).astype(np.float32)
        self.cosines, self.sines = self.constant(np.cos(angles), "float32"), self.constant(np.sin(angles), "float32")

    def joined(self, k: int, kind: str, rows: str) -> str:
        return self.op("Concat", [f"past_key_values.{k}.{kind}", rows], o.attribute_int("axis", -2), to=f"present.{k}.{kind}")

    def repeated(self, x: str) -> str:
        """Each head of the cache for the queries that share it."""
        apart = self.op("Unsqueeze", [x, self.constant([2])])
        many = self.op("Expand", [apart, self.constant([1, 1, HEADS // KEY_HEADS, 1, 1])])
        return self.op("Reshape", [many, self.constant([0, HEADS, -1, SIZE])])

    def attended(self, k: int, q: str, key: str, value: str) -> str:
        q, key, value = self.heads(q, HEADS), self.heads(key, KEY_HEADS), self.heads(value, KEY_HEADS)
        keys = self.repeated(self.joined(k, "key", self.rotated(key)))
        values = self.repeated(self.joined(k, "value", value))
        product = self.op("MatMul", [self.rotated(q), self.op("Transpose", [keys], o.attribute_ints("perm", [0, 1, 3, 2]))])
        scores = self.op("Add", [self.op("Mul", [product, self.constant(SIZE**-0.5, "float32")]), self.scores])
        together = self.op("MatMul", [self.op("Softmax", [scores], o.attribute_int("axis", -1)), values])
        turned = self.op("Transpose", [together], o.attribute_ints("perm", [0, 2, 1, 3]))
        return self.op("Reshape", [turned, self.constant([0, 0, WIDTH])])

    def grouped_attended(self, k: int, q: str, key: str, value: str) -> str:
        pasts = [f"past_key_values.{k}.key", f"past_key_values.{k}.value"]
        inputs = [q, key, value, *pasts, self.last, self.total, self.cosines, self.sines]
        how = [o.attribute_int(name, n) for name, n in (("num_heads", HEADS), ("kv_num_heads", KEY_HEADS), ("do_rotary", 1))]
        outputs = [f"attended_{k}", f"present.{k}.key", f"present.{k}.value"]
        self.nodes.append(o.node("GroupQueryAttention", inputs, outputs, *how, domain="com.microsoft"))
        return outputs[0]

    def body(self) -> None:
        self.lengths() if self.grouped else (self.rotation(), self.mask())
        x = self.op("Gather", ["model.embed_tokens", "input_ids"])
        for k in range(LAYERS):
            layer = f"model.layers.{k}."
            y = self.normalized(x, layer + "input_layernorm")
            parts = [self.op("MatMul", [y, f"{layer}self_attn.{p}_proj"]) for p in "qkv"]
            y = self.grouped_attended(k, *parts) if self.grouped else self.attended(k, *parts)
            x = self.op("Add", [x, self.op("MatMul", [y, layer + "self_attn.o_proj"])])
            y = self.normalized(x, layer + "post_attention_layernorm")
            gate = self.op("MatMul", [y, layer + "mlp.gate_proj"])
            gate = self.op("Mul", [gate, self.op("Sigmoid", [gate])])
            y = self.op("Mul", [gate, self.op("MatMul", [y, layer + "mlp.up_proj"])])
            x = self.op("Add", [x, self.op("MatMul", [y, layer + "mlp.down_proj"])])
        table = self.op("Transpose", ["model.embed_tokens"], o.attribute_ints("perm", [1, 0]))
        self.op("MatMul", [self.normalized(x, "model.norm"), table], to="logits")

    def model(self) -> bytes:
        return o.model(o.graph(self.nodes, self.inputs, self.outputs, self.initializers)) + opsets(com_microsoft=1)

    def merged(self) -> bytes:
        """As optimum merges the decoders with and without a past; the latter, which nothing reads here, gives nothing."""
        outputs = ["logits"] + [f"present.{k}.{kind}" for k in range(LAYERS) for kind in ("key", "value")]
        inner = o.graph(self.nodes, [], self.outputs)
        empty = self.weight("nothing", np.zeros((1, 1, 1, 1), np.float32))
        other = o.graph(
            [o.node("Identity", [empty], [f"{name}_none"]) for name in outputs], [], [o.value_info(f"{n}_none", None) for n in outputs]
        )
        branch = o.node(
            "If", ["use_cache_branch"], outputs, o.attribute_graph("then_branch", inner), o.attribute_graph("else_branch", other)
        )
        inputs = [*self.inputs, o.value_info("use_cache_branch", [1], BOOL)]
        return o.model(o.graph([branch], inputs, self.outputs, self.initializers))


def write_text(folder: Path, context: int = 2000, genai: bool = False) -> None:
    """A tokenizer whose tokens are letters, a chat template, and the context length."""
    tokens = {character: id for id, character in enumerate("abcdefghijklmnopqrstuvwxyz:; ")}
    ends = [{"content": "</s>", "id": len(tokens), "special": True}]
    model = {"type": "BPE", "vocab": tokens, "merges": []}
    (folder / "tokenizer.json").write_text(json.dumps({"model": model, "decoder": {"type": "Fuse"}, "added_tokens": ends}))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    names = {"context_length": context, "eos_token_id": len(tokens), "decoder": {"filename": "model.onnx"}}
    config = ("genai_config.json", {"model": names}) if genai else ("config.json", {"max_position_embeddings": context})
    (folder / config[0]).write_text(json.dumps(config[1]))
