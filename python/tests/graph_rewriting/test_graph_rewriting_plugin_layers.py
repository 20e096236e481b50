# SPDX-License-Identifier: Apache-2.0
"""What layers of plugins say of themselves in declared networks, whoever put them there, and passes that make them anew."""

import importlib
from pathlib import Path

import numpy as np
import onnx.helper as oh
import pytest
import tenon
from onnx_models import F, model
from plugin_libraries import compiled
from tenon.graph_rewriting import (
    AnalysisPatternManager,
    FLayerInfoMemo,
    Network,
    PatternAnalyzer,
    PatternRewriter,
    RewritePatternManager,
    Tensor,
    functional,
    net_guard,
    trt,
)
from tenon.rewriting import Graph

ROOT = Path(__file__).resolve().parents[3]
X = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)


@pytest.fixture(scope="module", autouse=True)
def ops():
    """Late: other modules' tests are to know nothing of them."""
    return importlib.import_module("python_plugins")


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """A library with test::Scale in the versions 1 and 10."""
    return compiled("tests/plugin/fixtures/versions.c", tmp_path_factory.mktemp("plugins"))


def network_of(text: str, **options) -> Network:
    return Network(Graph.parse(text, **options))


def plugin_layers(network: Network) -> list:
    return [layer for layer in network.get_layers() if layer.type == trt.LayerType.PLUGIN_V2]


def info_of(layer):
    with net_guard(layer.network):
        return FLayerInfoMemo.instance().get(layer.name)


def rewritten(network: Network, function) -> Network:
    class Pass(PatternRewriter):
        def __init__(self):
            super().__init__("pass", root_layer={trt.LayerType.PLUGIN_V2})

        def match_and_rewrite(self, layer):
            return bool(function(layer))

    manager = RewritePatternManager()
    manager.add("pass", Pass())
    manager.rewrite(network)
    network.prune()
    return network


def swish_by_hand(beta: float | None = None, version: str = "add_plugin_v2") -> Network:
    network = Network()
    with net_guard(network):
        x = Tensor(name="x", dtype=trt.float32, shape=(-1, 3))
        fields = [] if beta is None else [trt.PluginField("beta", np.array([beta], np.float32), trt.PluginFieldType.FLOAT32)]
        plugin = trt.get_plugin_registry().get_creator("Swish", "1", "acme").create_plugin("it", trt.PluginFieldCollection(fields))
        made = network.add_plugin_v2([x], plugin) if version == "add_plugin_v2" else network.add_plugin_v3([x], [], plugin)
        functional.neg(made.get_output(0)).mark_output("y")
    return network


def swish_from_onnx() -> Network:
    nodes = [oh.make_node("Swish", ["x"], ["h"], "it", domain="acme", beta=1.5), oh.make_node("Neg", ["h"], ["y"])]
    given = model(nodes, {"x": (F, ["n", 3])}, {"y": (F, ["n", 3])}, domains=["acme"])
    return Network(Graph.from_onnx(given.SerializeToString()))


MADE = {
    "v2": lambda: swish_by_hand(1.5),
    "v3": lambda: swish_by_hand(1.5, "add_plugin_v3"),
    "onnx": swish_from_onnx,
    "text": lambda: network_of("graph g(x: f32[n,3]) { h = acme::Swish(x, beta=1.5) y = Neg(h) return y }"),
}


@pytest.mark.parametrize("how", MADE)
def test_an_info_has_operands_and_fields_by_name_whoever_made_the_layer(how):
    network = MADE[how]()
    (layer,) = plugin_layers(network)
    info = info_of(layer)
    assert info.layer_kind == "Swish" and info.layer_name == layer.name
    assert list(info.raw_inputs) == ["x", "beta"]
    assert info.get_input("x") == network.get_inputs()[0] and info.get_input("beta") == 1.5
    assert info.signature == ("Swish", {"x": Tensor, "beta": 1.5})
    assert info.raw_outputs == layer.get_outputs(0)[0]
    plugin = layer.as_layer().plugin
    assert (plugin.plugin_namespace, plugin.plugin_type, plugin.plugin_version, plugin.num_outputs) == ("acme", "Swish", "1", 1)


def test_defaults_missing_operands_and_any_number_of_operands_are_reported_too():
    network = network_of("graph g(a: f32[n,3], b: f32[5]) { y, s = py::Everything(a, _, b, b, needed=7, flag=0) return y, s }")
    (layer,) = plugin_layers(network)
    a, b = network.get_inputs()
    info = info_of(layer)
    fields = {"scale": 2.0, "times": 3, "mode": "plain", "flag": 0, "needed": 7, "maybe": None, "weights": None}
    assert info.raw_inputs == {"a": a, "b": None, "rest": [b, b], **fields}
    assert info.raw_outputs == tuple(layer.get_outputs(0, 1))


@pytest.mark.parametrize("how", MADE)
def test_a_pass_makes_the_plugin_anew_with_other_fields(how):
    def doubles_beta(layer):
        info = info_of(layer)
        if info is None or info.get_input("beta") > 10:
            return False
        new_inputs = info.clone_inputs()
        new_inputs["beta"] *= 2
        info.replace_outputs_uses_with(layer.network, layer.as_layer().plugin.creator(**new_inputs))
        layer.mark_as_removed()
        return True

    network = rewritten(MADE[how](), doubles_beta)
    assert [layer.op_type for layer in network.get_layers()] == ["Swish", "Neg"]
    assert info_of(plugin_layers(network)[0]).get_input("beta") == 12
    wanted = -X / (1 + np.exp(-12 * X))
    np.testing.assert_allclose(network.evaluate({"x": X})["y"], wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(tenon.compile(network).run({"x": X})["y"], wanted, rtol=1e-4, atol=1e-6)


def test_a_pass_replaces_one_plugin_by_another():
    def by_another(layer):
        if layer.as_layer().plugin.plugin_type != "Swish":
            return False
        creator = trt.get_plugin_registry().get_creator("Into", "1", "py")
        layer.get_outputs(0)[0].replace_all_uses_with(creator(layer.get_inputs(0)[0]))
        layer.mark_as_removed()
        return True

    network = rewritten(MADE["text"](), by_another)
    assert [layer.op_type for layer in network.get_layers()] == ["Into", "Neg"]
    np.testing.assert_allclose(network.evaluate({"x": X})["y"], -(X + 1), rtol=1e-6)


def test_several_outputs_and_a_list_of_operands_come_again():
    def with_another_scale(layer):
        info = info_of(layer)
        if info.get_input("scale") != 2.0:
            return False
        new_outs = layer.as_layer().plugin.creator(**{**info.clone_inputs(), "scale": 3.0})
        info.replace_outputs_uses_with(layer.network, new_outs)
        layer.mark_as_removed()
        return True

    text = "graph g(a: f32[n,3], b: f32[5]) { y, s = py::Everything(a, _, b, b, needed=7) return y, s }"
    network = rewritten(network_of(text), with_another_scale)
    assert network.graph.output_names == ["y", "s"]
    out = tenon.compile(network).run({"a": X, "b": np.ones(5, np.float32)})
    np.testing.assert_array_equal(out["y"], np.concatenate([X * 3, X * 3], axis=-1) + np.float32(3))
    np.testing.assert_array_equal(out["s"], (-1, 2, 16))


def test_infos_stay_true_when_tensors_are_replaced():
    network = MADE["v2"]()
    (layer,) = plugin_layers(network)
    (x,) = network.get_inputs()
    with net_guard(network):
        other = Tensor(name="other", dtype=trt.float32, shape=(-1, 3))
        x.replace_all_uses_with(other)
    assert info_of(layer).get_input("x") == other == layer.get_inputs(0)[0]
    info = info_of(layer)
    info.replace_input_with(other, x)
    assert info.get_input("x") == x


def test_a_layer_that_was_recorded_keeps_what_its_functional_was_called_with():
    network = Network()

    @tenon.graph_rewriting.record_signature
    def activation(hidden, kind="swish"):
        assert kind == "swish"
        return trt.get_plugin_registry().get_creator("Swish", "1", "acme")(hidden, beta=1.5)

    with net_guard(network):
        activation(Tensor(name="x", dtype=trt.float32, shape=(-1, 3))).mark_output("y")
    info = info_of(plugin_layers(network)[0])
    assert info.layer_kind == "activation" and list(info.raw_inputs) == ["hidden", "kind"]


def test_layers_that_are_gone_marked_or_no_plugins_have_no_info():
    network = MADE["v2"]()
    swish, neg = network.get_layers()
    assert info_of(neg) is None
    swish.mark_as_removed()
    assert info_of(swish) is None


def test_an_analyser_reads_fields_of_plugins():
    class Betas(PatternAnalyzer):
        def __init__(self):
            super().__init__("betas", root_layer={trt.LayerType.PLUGIN_V3})
            self.found = []

        def match(self, layer):
            return layer.as_layer().plugin.plugin_name == "Swish"

        def analyze(self, subgraph):
            self.found += [info_of(layer).get_input("beta") for layer in subgraph]

    text = "graph g(x: f32[n,3]) { a = acme::Swish(x, beta=2.5) b = acme::Swish(a) y = py::Into(b) return y }"
    manager, pattern = AnalysisPatternManager(), Betas()
    manager.add("betas", pattern)
    assert manager.analyze(network_of(text)) == 2 and pattern.found == [2.5, 1.0]


def test_layers_have_their_version(versions):
    text = "graph g(x: f32[n,3]) { a = test::Scale(x) b = test::Scale$1(a) y = trt.plugins::Scale3(b) return y }"
    network = network_of(text, plugins=[versions])
    plugins = [layer.as_layer().plugin for layer in plugin_layers(network)]
    assert [p.plugin_version for p in plugins] == ["10", "1", "1"]
    assert [p.plugin_type for p in plugins] == ["Scale", "Scale", "Scale3"]
    assert [p.plugin_namespace for p in plugins] == ["test", "test", ""]
    assert [info_of(layer).layer_kind for layer in plugin_layers(network)] == ["Scale", "Scale", "Scale3"]

    def newest_is_oldest(layer):
        plugin = layer.as_layer().plugin
        if plugin.plugin_version != "10":
            return False
        info = info_of(layer)
        info.replace_outputs_uses_with(layer.network, plugins[1].creator(**info.clone_inputs()))
        layer.mark_as_removed()
        return True

    rewritten(network, newest_is_oldest)
    np.testing.assert_allclose(network.evaluate({"x": X})["y"], X * 2 * 2 * 3, rtol=1e-6)


def test_a_creator_says_what_is_wrong_with_a_call():
    network = MADE["v2"]()
    creator = plugin_layers(network)[0].as_layer().plugin.creator
    (x,) = network.get_inputs()
    with net_guard(network):
        for call, said in (
            (lambda: creator(x, x), "takes 1 operand"),
            (lambda: creator(x, x=x), "'x' is given twice"),
            (lambda: creator(), "operand 'x' is missing"),
        ):
            with pytest.raises(TypeError, match=said):
                call()
        with pytest.raises(tenon.TenonError, match="there is no field 'bet'"):
            creator(x, bet=1.0)
