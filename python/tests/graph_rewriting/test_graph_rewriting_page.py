# SPDX-License-Identifier: Apache-2.0
"""Code written for TensorRT-LLM's graph rewriting, with nothing changed but its imports."""

import numpy as np
import pytest
from graph_rewriting_networks import (
    BATCH,
    HEAD_SIZE,
    HEADS,
    TOKENS,
    WIDTH,
    attention_by_numpy,
    attention_network,
    ops_of,
    some_input,
    weights,
)
from tenon.graph_rewriting import (
    AnalysisPatternManager,
    FLayerInfoMemo,
    FuseAttentionWithBiasPass,
    Layer,
    Network,
    PatternAnalyzer,
    PatternRewriter,
    RewritePatternManager,
    Tensor,
    functional,
    gpt_attention,
    net_guard,
    optimize,
    trt,
)


class NaivePatternRewriter_ReplaceAddWithSub(PatternRewriter):
    def __init__(self):
        super().__init__("replace_add_with_sub", root_layer={trt.LayerType.ELEMENTWISE}, separate_match_rewrite=True)
        self.rewrite_count = 0

    def match(self, layer: Layer):
        return layer.as_layer().op == trt.ElementWiseOperation.SUM

    def rewrite(self, layer: Layer) -> None:
        self.rewrite_count += 1
        with net_guard(layer.network):
            a, b = layer.get_inputs(0, 1)
            o = layer.get_outputs(0)[0]
            c = a - b
            o.replace_all_uses_with(c)
            layer.mark_as_removed()


class GPTAttentionPluginRemovePaddingRewritePass(PatternRewriter):
    def __init__(self):
        super().__init__("gpt_attention_plugin_remove_padding", root_layer={trt.LayerType.PLUGIN_V2})
        self.count = 0

    def match_and_rewrite(self, layer: Layer) -> bool:
        if (
            layer.as_layer().type != trt.LayerType.PLUGIN_V2
            or layer.as_layer().plugin.plugin_namespace != "tensorrt_llm"
            or layer.as_layer().plugin.plugin_type != "GPTAttention"
        ):
            return False

        flayer = FLayerInfoMemo.instance().get(layer.name)
        assert flayer
        tensor_input: Tensor = flayer.get_input("qkv")
        if tensor_input.shape[0] == 1:
            return False
        self.count += 1

        assert self.args is not None, "args should be passed in from RewritePatternManager.rewrite()"
        batch_size, in_len, hidden_size = self.args["batch_size"], self.args["in_len"], self.args["hidden_size"]

        with net_guard(layer.network):
            new_inputs = flayer.clone_inputs()
            input = Tensor(
                name="qkv",
                dtype=trt.float16,
                shape=(1, batch_size * in_len, hidden_size),
            )
            new_inputs["qkv"] = input
            new_outs = gpt_attention(**new_inputs)
            flayer.replace_outputs_uses_with(layer.network, new_outs)
            layer.mark_as_removed()

        return True


class NaivePatternAnalyzer_CountAdd(PatternAnalyzer):
    def __init__(self) -> None:
        super().__init__("count_add", root_layer={trt.LayerType.ELEMENTWISE})
        self.count = 0

    def match(self, layer: Layer) -> bool:
        return layer.as_layer().op == trt.ElementWiseOperation.SUM

    def analyze(self, subgraph: list[Layer]) -> None:
        self.count += len(subgraph)


def test_a_sum_becomes_a_difference_with_the_same_operands_and_users():
    network = attention_network()
    (the_sum,) = [layer for layer in network.get_layers() if layer.as_layer().op == trt.ElementWiseOperation.SUM]
    operands, users = the_sum.get_inputs(0, 1), list(the_sum.get_outputs(0)[0].get_users())
    patterns = RewritePatternManager()
    patterns.add(label="replace_add_to_sub", pattern=NaivePatternRewriter_ReplaceAddWithSub())
    patterns.rewrite(network)
    assert patterns.get("replace_add_to_sub").rewrite_count == 1
    assert the_sum.is_removed() and the_sum.name in network.removed_layers
    assert [output.get_users() for output in the_sum.get_outputs()] in ([], [[]])
    (difference,) = [layer for layer in network.get_layers() if layer.as_layer().op == trt.ElementWiseOperation.SUB]
    assert difference.get_inputs(0, 1) == operands
    assert difference.get_outputs(0)[0].get_users() == users
    weight, bias = weights()
    x = some_input()
    qkv = x["input"] @ weight - bias
    expected = np.stack([attention_by_numpy(row) for row in qkv])
    np.testing.assert_allclose(network.evaluate(x)["output"], expected, rtol=1e-4, atol=1e-5)


def test_padding_is_removed_once_because_the_new_shape_does_not_match():
    network = attention_network(dtype=trt.float16, lengths=True)
    before = network.evaluate({**some_input("float16"), "context_lengths": np.asarray([3, 4], np.int32)})
    patterns = RewritePatternManager()
    patterns.add("remove_padding", GPTAttentionPluginRemovePaddingRewritePass())
    patterns.rewrite(network, args={"batch_size": BATCH, "in_len": TOKENS, "hidden_size": 3 * WIDTH})
    assert patterns.get("remove_padding").count == 1
    assert [tensor.name for tensor in network.get_inputs()] == ["input", "context_lengths", "qkv"]
    output, present = network.get_outputs()
    assert (output.shape, present.shape) == ((1, BATCH * TOKENS, WIDTH), (1, 2, HEADS, BATCH * TOKENS, HEAD_SIZE))

    # Seven tokens of two sequences, one after the other, give what the padded network gave for them.
    weight, bias = weights("float16")
    rows = (some_input("float16")["input"].astype("float32") @ weight + bias).astype("float16")
    packed = np.concatenate([rows[0, :3], rows[1, :4], np.ones((1, 3 * WIDTH), np.float16)])[None]
    given = {**some_input("float16"), "context_lengths": np.asarray([3, 4], np.int32), "qkv": packed}
    after = network.evaluate(given)["output"][0]
    np.testing.assert_allclose(after[:3], before["output"][0, :3], rtol=2e-2, atol=2e-2)
    np.testing.assert_allclose(after[3:7], before["output"][1, :4], rtol=2e-2, atol=2e-2)


def test_the_pass_that_needs_args_raises_without_them_and_the_network_stays():
    network = attention_network(dtype=trt.float16)
    before = str(network.graph)
    patterns = RewritePatternManager()
    patterns.add("remove_padding", GPTAttentionPluginRemovePaddingRewritePass())
    with pytest.raises(AssertionError, match="args should be passed in"):
        patterns.rewrite(network)
    assert str(network.graph) == before


def test_an_analyser_counts_one_sum():
    patterns = AnalysisPatternManager()
    patterns.add(label="count_add", pattern=NaivePatternAnalyzer_CountAdd())
    assert patterns.analyze(attention_network()) == 1
    assert patterns.get("count_add").count == 1


def test_the_bias_goes_into_the_attention_and_the_result_stays():
    network = attention_network()
    expected = network.evaluate(some_input())
    statistics = optimize(network)
    assert [rule["applied"] for rule in statistics["rules"] if rule["name"] == "fuse_attention_with_bias"] == [1]
    assert ops_of(network) == ["Constant", "MatMul", "Constant", "GPTAttention"]
    (attention,) = [layer for layer in network.get_layers() if layer.type == trt.LayerType.PLUGIN_V2]
    info = network.flayer_memo.get(attention.name)
    assert info.get_input("qkv_bias").get_parent().type == trt.LayerType.CONSTANT
    assert len(network.flayer_memo.data) == 1
    for name, value in network.evaluate(some_input()).items():
        np.testing.assert_allclose(value, expected[name], rtol=1e-5, atol=1e-6)
    assert [output.name for output in network.get_outputs()] == ["PLUGIN_V2_GPTAttention_0_output_0", "PLUGIN_V2_GPTAttention_0_output_1"]
    assert network.graph.output_names == ["output", "present_key_value"]


def test_the_bias_pass_says_so_once_when_it_is_called_without_a_manager():
    network = attention_network()
    expected = network.evaluate(some_input())["output"]
    fuse = FuseAttentionWithBiasPass()
    assert [fuse.match_and_rewrite(layer) for layer in network.get_layers()].count(True) == 1
    assert [fuse.match_and_rewrite(layer) for layer in network.get_layers()].count(True) == 0
    np.testing.assert_allclose(network.evaluate(some_input())["output"], expected, rtol=1e-5, atol=1e-6)
    assert network.prune() == 2  # the old attention and the sum
    assert ops_of(network) == ["Constant", "MatMul", "Constant", "GPTAttention"]


class FuseByEditingTheInfo(PatternRewriter):
    """As the original does it: the old info is edited in place, and nothing is marked as removed."""

    def __init__(self):
        super().__init__(name="fuse_by_editing", seperate_match_rewrite=False)

    def match_and_rewrite(self, layer: Layer) -> bool:
        with net_guard(layer.network):
            if layer.as_layer().type != trt.LayerType.PLUGIN_V2:
                return False
            info = FLayerInfoMemo.instance().get(layer.name)
            the_sum = info.raw_inputs["qkv"].get_parent()
            if info.raw_inputs["qkv_bias"] is not None or the_sum.as_layer().op != trt.ElementWiseOperation.SUM:
                return False
            info.raw_inputs["qkv"], info.raw_inputs["qkv_bias"] = the_sum.get_inputs(0, 1)
            info.replace_outputs_uses_with(layer.network, gpt_attention(**info.raw_inputs))
        return True


def test_a_pass_that_marks_nothing_as_removed_ends_too():
    network = attention_network()
    expected = network.evaluate(some_input())["output"]
    patterns = RewritePatternManager()
    patterns.add("fuse", FuseByEditingTheInfo())
    patterns.rewrite(network)
    assert ops_of(network) == ["Constant", "MatMul", "Constant", "GPTAttention"]
    np.testing.assert_allclose(network.evaluate(some_input())["output"], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("shape", "fuses"), [((3 * WIDTH,), True), ((1, 1, 3 * WIDTH), True), ((1,), False)])
def test_the_bias_is_one_number_a_column(shape, fuses):
    network = Network()
    weight, bias = weights()
    with net_guard(network):
        x = Tensor(name="input", dtype=trt.float32, shape=(BATCH, TOKENS, WIDTH))
        qkv = x @ functional.constant(weight) + functional.constant(bias[: int(np.prod(shape))].reshape(shape))
        gpt_attention(qkv=qkv, num_heads=HEADS, hidden_size_per_head=HEAD_SIZE)[0].mark_output("output")
    expected = network.evaluate(some_input())["output"]
    optimize(network)
    assert ("Add" not in ops_of(network)) == fuses
    np.testing.assert_allclose(network.evaluate(some_input())["output"], expected, rtol=1e-5, atol=1e-6)


def test_a_sum_with_another_user_stays():
    network = Network()
    weight, bias = weights()
    with net_guard(network):
        x = Tensor(name="input", dtype=trt.float32, shape=(BATCH, TOKENS, WIDTH))
        qkv = x @ functional.constant(weight) + functional.constant(bias)
        gpt_attention(qkv=qkv, num_heads=HEADS, hidden_size_per_head=HEAD_SIZE)[0].mark_output("output")
        functional.relu(qkv).mark_output("other")
    before = str(network.graph)
    optimize(network)
    assert str(network.graph) == before
