# SPDX-License-Identifier: Apache-2.0
"""Networks, layers and infos of tenon.graph_rewriting: what the originals promise, and where they are wrong what is right."""

import numpy as np
import pytest
import tenon
from graph_rewriting_networks import HEAD_SIZE, HEADS, attention_network, names_of, small
from tenon.graph_rewriting import FLayerInfoMemo, Network, Tensor, default_net, functional, gpt_attention, net_guard, record_signature, trt

SUM = trt.ElementWiseOperation.SUM


@pytest.fixture
def network():
    return attention_network()


# --- looking at a network ------------------------------------------------------------------------------------------


def test_inputs_and_outputs_say_so(network):
    assert len(network.get_inputs()) == 1 and all(network.is_input(x) and x.is_network_input() for x in network.get_inputs())
    assert len(network.get_outputs()) == 2 and all(network.is_output(y) and y.is_network_output() for y in network.get_outputs())
    assert not any(network.is_input(y) for y in network.get_outputs())


def test_two_inputs_or_outputs_of_one_name_are_refused():
    network = small(lambda x: x + x)
    with net_guard(network):
        with pytest.raises(tenon.TenonError, match="input 'x'"):
            Tensor(name="x", dtype=trt.float32, shape=(4,))
        with pytest.raises(tenon.TenonError, match="output 'y0'"):
            network.get_inputs()[0].mark_output("y0")
    assert len(network.graph.inputs) == len(network.graph.outputs) == 1


def test_every_layer_is_found_by_its_name_and_has_a_kind(network):
    assert names_of(network) == ["CONSTANT_0", "MATRIX_MULTIPLY_0", "CONSTANT_1", "ELEMENTWISE_SUM_0", "PLUGIN_V2_GPTAttention_0"]
    for layer in network.get_layers():
        assert network.get_layer_by_name(layer.name) == layer
        assert hash(network.get_layer_by_name(layer.name)) == hash(layer)
        assert layer.as_layer().type == layer.type
    assert network.get_layer_by_name("no such layer") is None


def test_producers_and_users_agree(network):
    for layer in network.get_layers():
        assert all(tensor.get_parent() == layer for tensor in layer.get_outputs())
        assert all(layer in tensor.get_users() for tensor in layer.get_inputs())


def test_dot_text(network, tmp_path):
    text = network.to_dot(tmp_path / "network.dot")
    assert "digraph" in text and (tmp_path / "network.dot").read_text() == text


def test_layers_and_tensors_of_an_imported_graph():
    graph = tenon.rewriting.Graph.parse("graph main(x: f32[2]) {\n const w: f32[2] = [1, 2]\n y = Add(x, w)\n z = Mish(y)\n return z\n}\n")
    add, mish = Network(graph).get_layers()
    assert add.as_layer().op == SUM and add.name == "ELEMENTWISE_SUM_0"
    assert mish.type == trt.LayerType.PLUGIN_V2 and mish.as_layer().plugin.plugin_type == "Mish"
    weight = add.get_inputs(1)[0].get_parent()
    assert weight.type == trt.LayerType.CONSTANT and weight.get_inputs() == [] and weight.as_layer()


def test_queries_for_missing_names():
    network = small(lambda x: functional.softmax(x, 1))
    (layer,) = network.get_layers()
    with pytest.raises(IndexError, match="has 1 inputs: there is no input 1"):
        layer.get_inputs(1)
    assert layer.as_layer().axis == 1
    with pytest.raises(AttributeError, match="has no attribute 'kernel_size'; it has axis"):
        _ = layer.as_layer().kernel_size
    with pytest.raises(AttributeError, match="has no attribute 'plugin'"):
        _ = layer.as_layer().plugin


def test_queries_never_list_the_graph():
    network = Network()
    with net_guard(network):
        tensor = Tensor(name="x", dtype=trt.float32, shape=(1,))
        for _ in range(20_000):
            tensor = functional.relu(tensor)
        tensor.mark_output("y")

    class Watched:
        """The graph, but that whoever lists its nodes or values is found out."""

        def __init__(self, graph):
            self.graph, self.asked = graph, []

        def __getattr__(self, name):
            self.asked.append(name)
            return getattr(self.graph, name)

    layers = network.get_layers()
    watched = network.graph = Watched(network.graph)
    for layer in layers:
        (source,), (result,) = layer.get_inputs(0), layer.get_outputs(0)
        assert source.get_users() == [layer] and result.get_parent() == layer
        assert network.get_layer_by_name(layer.name) == layer
        assert not network.is_input(result) and network.is_output(result) == (layer == layers[-1])
    assert watched.asked == []


# --- building ------------------------------------------------------------------------------------------------------


def test_net_guard_gives_the_default_back_after_an_exception():
    outer, inner = Network(), Network()
    with net_guard(outer):
        with pytest.raises(ValueError), net_guard(inner):
            raise ValueError
        assert default_net() is outer
    with pytest.raises(RuntimeError, match="there is no default network"):
        default_net()


def test_the_memo_is_that_of_the_default_network(network):
    with net_guard(network):
        assert FLayerInfoMemo.instance() is network.flayer_memo
    with pytest.raises(RuntimeError):
        FLayerInfoMemo.instance()


def test_an_info_has_every_argument_and_the_result(network):
    info = network.flayer_memo.get("PLUGIN_V2_GPTAttention_0")
    assert (info.layer_kind, info.layer_name) == ("gpt_attention", "PLUGIN_V2_GPTAttention_0")
    assert info.get_input("num_heads") == HEADS and info.get_input("qkv_bias") is None
    assert info.signature[1]["qkv"] is Tensor and info.signature[1]["hidden_size_per_head"] == HEAD_SIZE
    assert info.raw_outputs == tuple(network.get_outputs())
    copied = info.clone_inputs()
    copied["qkv"] = None
    assert info.get_input("qkv") is not None
    with pytest.raises(KeyError):
        info.get_input("kqv")


def test_arguments_that_are_not_supported_are_named_and_may_be_none(network):
    info = network.flayer_memo.get("PLUGIN_V2_GPTAttention_0")
    with net_guard(network):
        with pytest.raises(NotImplementedError, match="not supported yet: host_request_types"):
            gpt_attention(**{**info.clone_inputs(), "host_request_types": info.get_input("qkv")})
        again = gpt_attention(**{**info.clone_inputs(), "host_request_types": None})
        once_more = network.flayer_memo.get(again[0].get_parent().name).clone_inputs()
        assert once_more["host_request_types"] is None
        gpt_attention(**once_more)


def test_recording_does_not_nest_and_needs_a_layer():
    @record_signature
    def inner(x):
        return functional.relu(x)

    @record_signature
    def outer(x):
        return inner(x)

    @record_signature
    def nothing(x):
        return x

    @record_signature
    def fails(x):
        functional.relu(x)
        raise ValueError("no")

    network = Network()
    with net_guard(network):
        x = Tensor(name="x", dtype=trt.float32, shape=(2,))
        with pytest.raises(RuntimeError, match="recording does not nest"):
            outer(x)
        with pytest.raises(RuntimeError, match="nothing is recorded and has made no layer"):
            nothing(x)
        with pytest.raises(ValueError):
            fails(x)
        assert network.flayer_memo.data == {}
        name = inner(x).get_parent().name
        assert list(network.flayer_memo.data) == [name]
        with pytest.raises(ValueError, match="has an FLayerInfo already"):
            network.flayer_memo.add(name, network.flayer_memo.get(name))


# --- redirecting ---------------------------------------------------------------------------------------------------


def test_a_layer_that_uses_a_tensor_twice_gets_both_replaced_and_outputs_stay():
    network = small(lambda x: (functional.relu(x), functional.relu(x) * 2))
    relu = network.get_layers()[0].get_outputs(0)[0]
    with net_guard(network):
        square = functional.mul(relu, relu)
        square.replace_all_uses_with(square)
        other = functional.tanh(network.get_inputs()[0])
    assert not network.is_graph_altered
    relu.replace_all_uses_with(other)
    assert network.is_graph_altered
    assert square.get_parent().get_inputs() == [other, other]
    assert network.get_outputs()[0] == relu and relu.get_users() == []


def test_the_info_of_a_user_follows_a_tensor_that_is_replaced(network):
    info = network.flayer_memo.get("PLUGIN_V2_GPTAttention_0")
    qkv = info.get_input("qkv")
    with net_guard(network):
        doubled = qkv.get_parent().get_inputs(0)[0] * 2
    qkv.replace_all_uses_with(doubled)
    assert info.get_input("qkv") == doubled


def test_replacing_an_input_of_an_info_reaches_into_containers():
    @record_signature
    def joined(parts, named):
        return functional.concat([*parts, *named.values()])

    network = Network()
    with net_guard(network):
        a, b, c = (Tensor(name=name, dtype=trt.float32, shape=(2,)) for name in "abc")
        info = network.flayer_memo.get(joined((a, b), {"last": a}).get_parent().name)
        info.replace_input_with(a, c)
    assert info.raw_inputs == {"parts": (c, b), "named": {"last": c}}


def test_a_tensor_cannot_be_replaced_by_what_is_computed_from_its_users():
    network = small(lambda x: functional.tanh(functional.relu(x)))
    relu = network.get_layers()[0].get_outputs(0)[0]
    with net_guard(network):
        wrapped = functional.neg(relu)
    before = str(network.graph)
    with pytest.raises(tenon.TenonError, match="computed from a layer that is to use it"):
        relu.replace_all_uses_with(wrapped)
    assert str(network.graph) == before


def recorded_split(network):
    @record_signature
    def halves(x):
        return functional.split(x, 1, 0)

    with net_guard(network):
        x = Tensor(name="x", dtype=trt.float32, shape=(2, 3))
        return x, halves(x)


def test_outputs_of_the_network_keep_their_places_and_names():
    network = Network()
    x, (first, second) = recorded_split(network)
    with net_guard(network):
        for tensor, name in ((functional.relu(x), "a"), (second, "b"), (functional.tanh(first), "c"), (second, "d")):
            tensor.mark_output(name)
        info = network.flayer_memo.get(second.get_parent().name)
        old_name = second.name
        new = functional.split(x * 3, 1, 0)
        info.replace_outputs_uses_with(network, new)
    assert [tensor == new[1] for tensor in network.get_outputs()] == [False, True, False, True]
    assert network.graph.output_names == ["a", "b", "c", "d"]
    assert (new[1].name, second.name) == (old_name, old_name + "_deprecated")
    values = network.evaluate({"x": np.arange(6, dtype=np.float32).reshape(2, 3)})
    assert values["b"].tolist() == [[9, 12, 15]] and values["d"].tolist() == [[9, 12, 15]]
    np.testing.assert_allclose(values["c"], np.tanh([[0, 3, 6]]), rtol=1e-5)


def test_another_element_type_is_cast_back_where_it_is_used():
    network = Network()
    x, (first, second) = recorded_split(network)
    with net_guard(network):
        functional.relu(first).mark_output("y")
        second.mark_output("z")
        info = network.flayer_memo.get(second.get_parent().name)
        info.replace_output_uses_with(network, [tensor.cast(trt.float16) for tensor in functional.split(x, 1, 0)])
    y, z = network.get_outputs()
    assert (y.dtype, z.dtype) == (trt.float32, trt.float32)
    assert y.get_parent().get_inputs(0)[0].get_parent().type == trt.LayerType.CAST
    assert z.get_parent().type == trt.LayerType.CAST
    assert network.evaluate({"x": np.ones((2, 3), np.float32)})["y"].tolist() == [[1, 1, 1]]


def test_outputs_are_replaced_by_as_many_of_the_same_kind():
    network = Network()
    x, (first, second) = recorded_split(network)
    info = network.flayer_memo.get(second.get_parent().name)
    with pytest.raises(ValueError, match="halves has 2 parts, and 1 cannot replace them"):
        info.replace_outputs_uses_with(network, [first])
    with pytest.raises(TypeError, match="halves was of type list, and tuple cannot replace it"):
        info.replace_outputs_uses_with(network, (first, second))
