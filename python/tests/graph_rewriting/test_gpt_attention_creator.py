# SPDX-License-Identifier: Apache-2.0
"""GPTAttention as the page about TensorRT-LLM's plugins creates it: a creator of the registry, fields, a layer. No library has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tenon
from graph_rewriting_networks import HEAD_SIZE, HEADS, attention_by_numpy
from tenon.graph_rewriting import Network, Tensor, default_trtnet, functional, net_guard, trt
from tenon.graph_rewriting.functional import _create_tensor

# In the order of the page's createPlugin, with the types that it reads; then three of those that it leaves out.
INT32, INT8, FLOAT32 = trt.PluginFieldType.INT32, trt.PluginFieldType.INT8, trt.PluginFieldType.FLOAT32
PAGE = {
    "layer_idx": (0, INT32),
    "num_heads": (HEADS, INT32),
    "vision_start": (-1, INT32),
    "vision_length": (-1, INT32),
    "num_kv_heads": (HEADS, INT32),
    "remove_input_padding": (0, INT8),
    "mask_type": (1, INT32),
    "block_sparse_block_size": (64, INT32),
    "block_sparse_homo_head_pattern": (0, INT8),
    "block_sparse_num_local_blocks": (16, INT32),
    "block_sparse_vertical_stride": (8, INT32),
    "head_size": (HEAD_SIZE, INT32),
    "q_scaling": (1.0, FLOAT32),
    "type_id": (0, INT32),
}
NUMPY = {INT32: np.int32, INT8: np.int8, FLOAT32: np.float32}
COLUMNS = 3 * HEADS * HEAD_SIZE


def creator() -> Any:
    return trt.get_plugin_registry().get_plugin_creator("GPTAttention", "1", "tensorrt_llm")


def page_fields(**changed: Any) -> list[trt.PluginField]:
    """Those of the page. changed: a value, (value, type), or None to leave the field out."""
    fields = dict(PAGE)
    for name, value in changed.items():
        fields[name] = value if isinstance(value, tuple) or value is None else (value, fields.get(name, (0, INT32))[1])
    return [trt.PluginField(name, np.array(f[0], dtype=NUMPY[f[1]]), f[1]) for name, f in fields.items() if f is not None]


def gpt_attention(*operands: Tensor | None, **changed: Any) -> Any:
    """The layer, made as the page's functional makes it."""
    attn_plug = creator().create_plugin("causal_attn", trt.PluginFieldCollection(page_fields(**changed)))
    return default_trtnet().add_plugin_v2([None if t is None else t.trt_tensor for t in operands], attn_plug)


def network_of(*, shape: tuple[int, ...] = (2, -1, COLUMNS), lengths: int = 0, bias: bool = False, **changed: Any) -> Network:
    network = Network()
    with net_guard(network):
        qkv = Tensor(name="qkv", dtype=trt.float32, shape=shape)
        operands: list[Tensor | None] = [qkv]
        if lengths or bias:
            operands.append(Tensor(name="lengths", dtype=trt.int32, shape=(lengths,)) if lengths else None)
        if bias:
            operands += [None, Tensor(name="bias", dtype=trt.float32, shape=(COLUMNS,))]
        layer = gpt_attention(*operands, **changed)
        for k in range(layer.num_outputs):
            _create_tensor(layer.get_output(k), layer).mark_output(("context", "present")[k])
    return network


def random_qkv(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal(shape).astype(np.float32)


def test_the_registry_has_the_creator_and_its_fields():
    found = creator()
    assert (found.name, found.plugin_version, found.plugin_namespace) == ("GPTAttention", "1", "tensorrt_llm")
    registry = trt.get_plugin_registry()
    assert [c.name for c in registry.plugin_creator_list].count("GPTAttention") == 1
    assert registry.get_plugin_creator("GPTAttention", "2", "tensorrt_llm") is None
    assert registry.get_plugin_creator("GPTAttention", "1", "") is None
    types = {field.name: field.type for field in found.field_names}
    assert {name: types[name] for name in PAGE} == {name: kind for name, (_, kind) in PAGE.items()}


def test_the_layer_computes_attention_in_context_and_generation():
    """Five tokens of context, then two of generation behind the keys and values of those before."""
    network = network_of()
    (layer,) = network.get_layers()
    assert (layer.op_type, layer.node.domain, layer.name) == ("GPTAttention", "tenon", "PLUGIN_V2_GPTAttention_0")
    assert (layer.as_layer().plugin.plugin_namespace, layer.as_layer().plugin.plugin_type) == ("tensorrt_llm", "GPTAttention")
    assert {k: layer.attributes[k] for k in ("num_heads", "head_size", "causal", "packed")} == {
        "num_heads": HEADS,
        "head_size": HEAD_SIZE,
        "causal": 1,
        "packed": 0,
    }
    qkv = random_qkv(2, 7, COLUMNS)
    wanted = np.stack([attention_by_numpy(sequence) for sequence in qkv])
    np.testing.assert_allclose(tenon.compile(network).run({"qkv": qkv})["context"], wanted, rtol=1e-4, atol=1e-5)
    with_past = Network()
    with net_guard(with_past):
        operands = [
            Tensor(name="qkv", dtype=trt.float32, shape=(2, -1, COLUMNS)),
            None,
            Tensor(name="past", dtype=trt.float32, shape=(2, 2, HEADS, -1, HEAD_SIZE)),
        ]
        layer = gpt_attention(*operands)
        for k, name in enumerate(("context", "present")):
            _create_tensor(layer.get_output(k), layer).mark_output(name)
    engine = tenon.compile(with_past)
    past = np.zeros((2, 2, HEADS, 0, HEAD_SIZE), np.float32)
    for begin, end in ((0, 5), (5, 6), (6, 7)):
        results = engine.run({"qkv": np.ascontiguousarray(qkv[:, begin:end]), "past": past})
        np.testing.assert_allclose(results["context"], wanted[:, begin:end], rtol=1e-4, atol=1e-5)
        past = results["present"]


def test_padding_that_is_removed():
    lengths, qkv = np.array([3, 1, 4], np.int32), random_qkv(1, 8, COLUMNS)
    engine = tenon.compile(network_of(shape=(1, -1, COLUMNS), lengths=3, remove_input_padding=1, use_cache=0))
    wanted = np.concatenate([attention_by_numpy(part) for part in np.split(qkv[0], np.cumsum(lengths)[:-1])])
    results = engine.run({"qkv": qkv, "lengths": lengths})
    assert list(results) == ["context"], "use_cache = 0"
    np.testing.assert_allclose(results["context"][0], wanted, rtol=1e-4, atol=1e-5)


def test_a_bias_and_a_scaling():
    qkv, bias = random_qkv(2, 4, COLUMNS), random_qkv(COLUMNS)
    engine = tenon.compile(network_of(bias=True, qkv_bias_enabled=(1, INT8), q_scaling=2.0))
    wanted = np.stack([attention_by_numpy(sequence, scaling=2.0) for sequence in qkv + bias])
    np.testing.assert_allclose(engine.run({"qkv": qkv, "bias": bias})["context"], wanted, rtol=1e-4, atol=1e-5)


def by_functional(made: dict[str, Tensor | None]) -> tuple[Tensor, Tensor]:
    """The paged layer of the test below."""
    return functional.gpt_attention(
        qkv=made["qkv"],
        context_lengths=made["counts"],
        past_key_value=made["past"],
        past_lengths=made["had"],
        page_table=made["pages"],
        tokens_per_block=2,
        window=made["window"],
        mask_type=2,
        num_heads=HEADS,
        hidden_size_per_head=HEAD_SIZE,
        position_embedding_type=2,
        rotary_embedding_dim=HEAD_SIZE,
    )


@pytest.mark.parametrize("is_functional", [False, True])
def test_sequences_with_pages_go_on_where_they_ended(is_functional):
    """Two steps of two sequences over a pool of pages, rotated and in a window, beside both sequences at once without a past."""
    lengths, qkv = [5, 4], random_qkv(1, 9, COLUMNS)
    options = {"remove_input_padding": 1, "mask_type": 2, "position_embedding_type": (2, INT8), "rotary_embedding_dim": (HEAD_SIZE, INT32)}
    sizes = {"qkv": (1, -1, COLUMNS), "counts": (2,), "past": (6, 2, HEADS, 2, HEAD_SIZE), "had": (2,), "pages": (2, 3), "window": (1,)}
    engines = []
    for more, left_out in ((options, ("past", "had", "pages")), ({**options, "paged_kv_cache": (1, INT32)}, ())):
        network = Network()
        with net_guard(network):
            made = {
                name: None
                if name in left_out
                else Tensor(name=name, dtype=trt.float32 if name in ("qkv", "past") else trt.int32, shape=shape)
                for name, shape in sizes.items()
            }
            if is_functional and not left_out:
                results = by_functional(made)
            else:
                layer = gpt_attention(made["qkv"], made["counts"], made["past"], None, made["had"], made["pages"], made["window"], **more)
                results = [_create_tensor(layer.get_output(k), layer) for k in range(layer.num_outputs)]
            for name, result in zip(("context", "present"), results, strict=True):
                result.mark_output(name)
        engines.append(tenon.compile(network))
    window, pages = np.array([3], np.int32), np.array([[4, 0, 5], [1, 3, -1]], np.int32)
    wanted = engines[0].run({"qkv": qkv, "counts": np.array(lengths, np.int32), "window": window})["context"][0]
    past, had = np.zeros(sizes["past"], np.float32), np.zeros(2, np.int32)
    for counts in (np.array([4, 1], np.int32), np.array([1, 3], np.int32)):
        rows = [begin + int(had[k]) + i for k, begin in enumerate((0, lengths[0])) for i in range(int(counts[k]))]
        step = {"qkv": qkv[:, rows], "counts": counts, "past": past, "had": had, "pages": pages, "window": window}
        results = engines[1].run(step)
        np.testing.assert_allclose(results["context"][0], wanted[rows], rtol=1e-4, atol=1e-5)
        past, had = results["present"], had + counts


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"mask_type": 3}, NotImplementedError, "mask_type 3"),
        ({"mask_type": 0}, NotImplementedError, "remove the padding"),
        ({"mask_type": 2}, ValueError, "needs window"),
        ({"alibi_slopes": 1}, NotImplementedError, "alibi_slopes"),
    ],
)
def test_what_the_functional_refuses(options, error, text):
    with net_guard(Network()), pytest.raises(error, match=text):
        qkv = Tensor(name="qkv", dtype=trt.float32, shape=(2, 4, COLUMNS))
        functional.gpt_attention(qkv=qkv, num_heads=HEADS, hidden_size_per_head=HEAD_SIZE, **options)


def test_the_creator_may_be_called_like_a_functional():
    network = Network()
    with net_guard(network):
        qkv = Tensor(name="qkv", dtype=trt.float32, shape=(2, 4, COLUMNS))
        context, _ = creator()(qkv, num_heads=HEADS, num_kv_heads=HEADS, head_size=HEAD_SIZE, remove_input_padding=0, mask_type=1)
        context.mark_output("context")
    data = random_qkv(2, 4, COLUMNS)
    wanted = np.stack([attention_by_numpy(sequence) for sequence in data])
    np.testing.assert_allclose(network.evaluate({"qkv": data})["context"], wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("changed", "code", "text"),
    [
        ({"num_heads": None}, "bad_attribute", "field 'num_heads' (i32) is missing"),
        ({"num_head": 2}, "bad_attribute", "there is no field 'num_head', did you mean 'num_heads'?"),
        ({"mask_type": (1, INT8)}, "bad_attribute", "field 'mask_type' (i32) is of type i8"),
        ({"q_scaling": (1, INT32)}, "bad_attribute", "field 'q_scaling' (f32) is of type i32"),
        ({"head_size": ([4, 4], INT32)}, "bad_attribute", "field 'head_size' (i32) has 2 elements, not 1"),
        ({"num_kv_heads": 0}, "bad_attribute", "field 'num_kv_heads' (i32) = 0 is not in 1 .. 1048576"),
        ({"num_heads": 3}, "bad_attribute", "num_heads = 3 is no multiple of num_kv_heads = 2"),
        ({"mask_type": 3}, "not_supported", "field 'mask_type' (i32) = 3: not supported yet, masks are 0 (padding), 1 (causal) and 2"),
        ({"paged_kv_cache": (1, INT32)}, "not_supported", "paged_kv_cache = 1 with remove_input_padding = 0"),
        ({"position_embedding_type": (8, INT8)}, "not_supported", "positions are 0 (learned_absolute), 1 (rope_gptj) and 2"),
    ],
)
def test_wrong_fields_are_errors_of_the_creator(changed: dict[str, Any], code: str, text: str):
    with pytest.raises(tenon.TenonError) as raised:
        creator().create_plugin("it", trt.PluginFieldCollection(page_fields(**changed)))
    error = raised.value
    assert error.code == code
    assert text in error.found
    assert "tensorrt_llm::GPTAttention, version 1" in error.place
    assert error.expected and error.advice


def test_all_wrong_fields_are_one_error():
    with pytest.raises(tenon.TenonError) as raised:
        creator().create_plugin("it", page_fields(num_heads=None, mask_type=3, heads=1, head_size=0))
    assert raised.value.code == "bad_attribute"
    for name in ("num_heads", "mask_type", "heads", "head_size"):
        assert f"'{name}'" in raised.value.found


def test_data_that_are_not_of_their_type():
    for data, kind in ((np.array([1.5]), INT32), (300, INT8), ("two", INT32)):
        with pytest.raises(TypeError, match="num_heads"):
            creator().create_plugin("it", [trt.PluginField("num_heads", data, kind)])
    with pytest.raises(tenon.TenonError, match="is of type char"):
        creator().create_plugin("it", page_fields(num_heads=None) + [trt.PluginField("num_heads", "2", trt.PluginFieldType.CHAR)])
    with pytest.raises(ValueError, match="BUILD"):
        creator().create_plugin("it", page_fields(), trt.TensorRTPhase.RUNTIME)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"bias": True}, "operand 'qkv_bias' is given"),
        ({"qkv_bias_enabled": (1, INT8)}, "operand 'qkv_bias' is missing"),
        ({"type_id": 1}, "operand 'qkv' is f32, and type_id is that of f16"),
    ],
)
def test_operands_that_the_fields_do_not_describe(options: dict[str, Any], text: str):
    with pytest.raises(tenon.TenonError) as raised:
        network_of(**options)
    assert text in raised.value.found


def test_what_the_op_refuses():
    for options, text in (
        ({"shape": (2, 4, COLUMNS + 1)}, "last size of qkv"),
        ({"remove_input_padding": 1}, "the packed layout needs context_lengths"),
        ({"shape": (2, 4, COLUMNS), "lengths": 2, "remove_input_padding": 1}, "first size of a packed qkv"),
    ):
        with pytest.raises(tenon.TenonError, match=text):
            network_of(**options)
