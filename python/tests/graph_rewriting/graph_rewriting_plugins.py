# SPDX-License-Identifier: Apache-2.0
"""Run by test_graph_rewriting_plugins.py in a process of its own, whose registry it fills: LIBRARIES of tests/plugin/fixtures.

What inserts plugins is written as TensorRT-LLM's functionals are, imports apart.
"""

import sys

import numpy as np
import tenon
from tenon.graph_rewriting import (
    FLayerInfoMemo,
    Layer,
    Network,
    PatternRewriter,
    RewritePatternManager,
    Tensor,
    default_trtnet,
    functional,
    net_guard,
    record_signature,
    trt,
)
from tenon.graph_rewriting.functional import _create_tensor

TRT_LLM_PLUGIN_NAMESPACE = "tensorrt_llm"


@record_signature
def gemm(input: Tensor, mat2: Tensor, transa: bool = False, transb: bool = False) -> Tensor:
    plg_creator = trt.get_plugin_registry().get_plugin_creator("Gemm", "1", TRT_LLM_PLUGIN_NAMESPACE)
    assert plg_creator is not None
    transa = trt.PluginField("transa", np.array(1 if transa else 0, dtype=np.int32), trt.PluginFieldType.INT32)
    transb = trt.PluginField("transb", np.array(1 if transb else 0, dtype=np.int32), trt.PluginFieldType.INT32)
    type_id = trt.PluginField("type_id", np.array([0], np.int32), trt.PluginFieldType.INT32)
    pfc = trt.PluginFieldCollection([transa, transb, type_id])
    gemm_plug = plg_creator.create_plugin("gemm", pfc)
    plug_inputs = [input.trt_tensor, mat2.trt_tensor]
    layer = default_trtnet().add_plugin_v2(plug_inputs, gemm_plug)
    return _create_tensor(layer.get_output(0), layer)


def gpt_attention(qkv: Tensor, past: Tensor, num_heads: int, head_size: int) -> tuple[Tensor, Tensor]:
    plg_creator = trt.get_plugin_registry().get_plugin_creator("GPTAttention", "1", TRT_LLM_PLUGIN_NAMESPACE)
    ints = {"layer_idx": 0, "num_heads": num_heads, "vision_start": -1, "vision_length": -1, "num_kv_heads": num_heads}
    ints |= {"head_size": head_size, "mask_type": 1, "block_sparse_block_size": 64, "block_sparse_num_local_blocks": 16}
    ints |= {"block_sparse_vertical_stride": 8, "type_id": 0}
    fields = [trt.PluginField(name, np.array(value, dtype=np.int32), trt.PluginFieldType.INT32) for name, value in ints.items()]
    for name in ("remove_input_padding", "block_sparse_homo_head_pattern"):
        fields.append(trt.PluginField(name, np.array(0, dtype=np.int8), trt.PluginFieldType.INT8))
    fields.append(trt.PluginField("q_scaling", np.array(1.0, dtype=np.float32), trt.PluginFieldType.FLOAT32))
    attn_plug = plg_creator.create_plugin("causal_attn", trt.PluginFieldCollection(fields))
    layer = default_trtnet().add_plugin_v2([qkv.trt_tensor, past.trt_tensor], attn_plug)
    assert layer.num_outputs == 2, "as many as the plugin says"
    return _create_tensor(layer.get_output(0), layer), _create_tensor(layer.get_output(1), layer)


class MatmulByGemmPlugin(PatternRewriter):
    """Stands for any pass that puts a plugin where a layer was."""

    def __init__(self):
        super().__init__("matmul_by_gemm_plugin", root_layer={trt.LayerType.MATRIX_MULTIPLY}, separate_match_rewrite=True)

    def match(self, layer: Layer) -> bool:
        return True

    def rewrite(self, layer: Layer) -> None:
        with net_guard(layer.network):
            a, b = layer.get_inputs(0, 1)
            layer.get_outputs(0)[0].replace_all_uses_with(gemm(a, b))
            layer.mark_as_removed()


class GemmTransposed(PatternRewriter):
    """Finds the plugin again, asks how it was made, and makes it otherwise."""

    def __init__(self):
        super().__init__("gemm_turned", root_layer={trt.LayerType.PLUGIN_V2})

    def match_and_rewrite(self, layer: Layer) -> bool:
        if (
            layer.as_layer().type != trt.LayerType.PLUGIN_V2
            or layer.as_layer().plugin.plugin_namespace != "tensorrt_llm"
            or layer.as_layer().plugin.plugin_type != "Gemm"
        ):
            return False
        flayer = FLayerInfoMemo.instance().get(layer.name)
        assert flayer
        if flayer.get_input("transb"):
            return False
        with net_guard(layer.network):
            new_inputs = flayer.clone_inputs()
            new_inputs["mat2"] = functional.transpose(new_inputs["mat2"], 0, 1)
            new_inputs["transb"] = True
            new_outs = gemm(**new_inputs)
            flayer.replace_outputs_uses_with(layer.network, new_outs)
            layer.mark_as_removed()
        return True


def check_registry(registry) -> None:
    creator = registry.get_plugin_creator("Gemm", "1", "tensorrt_llm")
    assert registry.get_plugin_creator("Gemm", "2", "tensorrt_llm") is None
    assert registry.get_creator("Gemm", "1", "") is None
    assert [f.name for f in creator.field_names] == ["transA", "transB", "type_id"], "what it advertises"
    assert {c.name for c in registry.plugin_creator_list} >= {"Gemm", "GPTAttention", "Swish", "NonZeroValues", "Halved"}
    assert registry.get_creator("Halved", "1", "mine").num_outputs == 1
    attention = [c for c in registry.all_creators if c.name == "GPTAttention"]
    assert len(attention) == 1 and attention[0].library != "tenon", "that of a library takes the place of the one of Tenon's op"
    for field, error in (
        (trt.PluginField("type_id", np.array([1.5]), trt.PluginFieldType.INT32), TypeError),
        (trt.PluginField("d", np.zeros(9, np.int64), trt.PluginFieldType.DIMS), NotImplementedError),
    ):
        try:
            creator.create_plugin("it", trt.PluginFieldCollection([field]))
        except error:
            continue
        raise AssertionError(f"{field} was taken")


def check_versions(registry) -> None:
    """Each version is there by its own number, and what has no namespace is there without one."""
    assert sorted(c.plugin_version for c in registry.all_creators if c.name == "Scale") == ["1", "10"]
    network = Network()
    with net_guard(network):
        x = Tensor(name="x", dtype=trt.float32, shape=(-1, 3))
        for name, version, name_space in (("Scale", "1", "test"), ("Scale", "10", "test"), ("Scale3", "1", "")):
            creator = registry.get_creator(name, version, name_space)
            assert (creator.name, creator.plugin_version, creator.plugin_namespace) == (name, version, name_space)
            made = network.add_plugin_v2([x], creator.create_plugin("it", trt.PluginFieldCollection()))
            plugin = made.plugin
            assert (plugin.plugin_type, plugin.plugin_version, plugin.plugin_namespace) == (name, version, name_space)
            x = made.get_output(0)
        x.mark_output("y")
    x = np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(tenon.compile(network).run({"x": x})["y"], x * 60)


def check_gemm() -> None:
    network = Network()
    with net_guard(network):
        x = Tensor(name="x", dtype=trt.float32, shape=(-1, 3))
        product = functional.matmul(x, functional.constant(np.arange(12, dtype=np.float32).reshape(3, 4)))
        functional.neg(product).mark_output("y")
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    wanted = -x @ np.arange(12, dtype=np.float32).reshape(3, 4)
    for pattern, layers in (
        (MatmulByGemmPlugin(), ["Constant", "Gemm", "Neg"]),
        (GemmTransposed(), ["Constant", "Transpose", "Gemm", "Neg"]),
    ):
        manager = RewritePatternManager()
        manager.add("it", pattern)
        manager.rewrite(network)
        network.prune()
        assert [layer.op_type for layer in network.get_layers()] == layers, [layer.op_type for layer in network.get_layers()]
        np.testing.assert_allclose(tenon.compile(network).run({"x": x})["y"], wanted, rtol=1e-5)
    plugin = network.get_layers()[-2]
    assert plugin.type == trt.LayerType.PLUGIN_V2 and plugin.name.startswith("PLUGIN_V2_Gemm_")


def check_attention() -> None:
    network = Network()
    with net_guard(network):
        qkv = Tensor(name="qkv", dtype=trt.float32, shape=(-1, -1, 24))
        past = Tensor(name="past", dtype=trt.float32, shape=(-1, 2, 2, -1, 4))
        context, present = gpt_attention(qkv, past, num_heads=2, head_size=4)
        context.mark_output("context")
        present.mark_output("present")
    qkv, past = np.random.default_rng(1).normal(size=(1, 1, 24)).astype(np.float32), np.zeros((1, 2, 2, 0, 4), np.float32)
    results = tenon.compile(network).run({"qkv": qkv, "past": past})
    np.testing.assert_allclose(results["context"][0, 0], qkv[0, 0, 16:], rtol=1e-6)  # one token sees itself alone
    assert results["present"].shape == (1, 2, 2, 1, 4)


def check_third_generation(registry) -> None:
    creator = registry.get_creator("Swish", "1", "fixture")
    beta = trt.PluginField("beta", np.array([1.5], np.float32), trt.PluginFieldType.FLOAT32)
    plugin = creator.create_plugin("swish", trt.PluginFieldCollection([beta]), trt.TensorRTPhase.BUILD)
    network = Network()
    with net_guard(network):
        x = Tensor(name="x", dtype=trt.float32, shape=(-1, 3))
        network.add_plugin_v3([x], [], plugin).get_output(0).mark_output("y")
        halved = registry.get_creator("Halved", "1", "mine").create_plugin("it", trt.PluginFieldCollection())
        network.add_plugin_v3([x], [], halved).get_output(0).mark_output("h")
    x = np.linspace(-3, 3, 6, dtype=np.float32).reshape(2, 3)
    results = tenon.compile(network).run({"x": x})
    np.testing.assert_allclose(results["y"], x / (1 + np.exp(-1.5 * x)), rtol=1e-5)
    np.testing.assert_allclose(results["h"], x / 2)
    wrong = creator.create_plugin("swish", [trt.PluginField("gamma", np.array([1.5], np.float32), trt.PluginFieldType.FLOAT32)])
    try:
        with net_guard(network):
            network.add_plugin_v3([network.get_inputs()[0]], [], wrong)
    except tenon.TenonError as error:
        assert "there is no field 'gamma'" in str(error), str(error)
    else:
        raise AssertionError("a field that the plugin does not have was taken")


def main() -> None:
    registry = trt.get_plugin_registry()
    for library in sys.argv[1:]:
        registry.load_library(library)
    before = len(registry.all_creators)
    registry.load_library(sys.argv[1])
    assert len(registry.all_creators) == before, "the same bytes again are nothing new"
    tenon.plugin("mine::Halved")(lambda x: x / 2)
    check_registry(registry)
    check_versions(registry)
    check_gemm()
    check_attention()
    check_third_generation(registry)
    print("all is well")


if __name__ == "__main__":
    main()
