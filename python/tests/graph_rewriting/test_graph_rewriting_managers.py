# SPDX-License-Identifier: Apache-2.0
"""Managers of rewrites and of analysis in tenon.graph_rewriting: what the originals promise, and where they are wrong what is right."""

import pytest
import tenon
from graph_rewriting_networks import WIDTH, attention_network, names_of, ops_of, small, some_input
from tenon.graph_rewriting import (
    AnalysisPatternManager,
    FLayerInfoMemo,
    Network,
    PatternAnalyzer,
    PatternRewriter,
    RewritePatternManager,
    RewriteWarning,
    Tensor,
    functional,
    gpt_attention,
    trt,
)


@pytest.fixture
def network():
    return attention_network()


class Rewriter(PatternRewriter):
    """A pattern of one function."""

    def __init__(self, function, roots=None):
        super().__init__("test", root_layer=roots)
        self.function = function
        self.calls = 0

    def match_and_rewrite(self, layer):
        self.calls += 1
        return self.function(layer)


def run(network, *patterns, args=None, **limits):
    manager = RewritePatternManager()
    for name, value in limits.items():
        setattr(manager, name, value)
    for k, (pattern, benefit) in enumerate(patterns):
        manager.add(f"p{k}", pattern, benefit)
    return manager.rewrite(network, args)


def replaced_by(make):
    """A rewrite of any layer with one operand: its output becomes make(operand)."""

    def rewrite(layer):
        layer.get_outputs(0)[0].replace_all_uses_with(make(layer.get_inputs(0)[0]))
        layer.mark_as_removed()
        return True

    return rewrite


def only(layer_type):
    return {layer_type}


def test_labels_are_unique_and_give_the_pattern_back():
    manager, pattern = RewritePatternManager(), Rewriter(lambda layer: False)
    manager.add("a", pattern)
    assert manager.get("a") is pattern
    with pytest.raises(ValueError, match="there is a pattern of label 'a' already"):
        manager.add("a", pattern)
    with pytest.raises(KeyError):
        manager.get("b")
    assert RewritePatternManager.instance() is RewritePatternManager.instance()
    assert AnalysisPatternManager.instance() is AnalysisPatternManager.instance()


def test_a_higher_benefit_goes_first_and_ties_go_by_the_order_of_adding():
    asked = []
    given = (("a", 0), ("b", 5), ("c", 0), ("d", -1))
    patterns = [(Rewriter(lambda layer, name=name: asked.append(name)), benefit) for name, benefit in given]
    run(small(functional.relu), *patterns)
    assert asked == ["b", "a", "c", "d"]


def test_patterns_are_shown_their_roots_alone_and_what_was_given_to_them():
    seen = []
    relus = Rewriter(lambda layer: seen.append(layer.type), only(trt.LayerType.ACTIVATION))
    run(small(lambda x: functional.relu(x) + 1), (relus, 0), args={"n": 3})
    assert seen == [trt.LayerType.ACTIVATION] and relus.args == {"n": 3}
    run(small(functional.relu), (relus, 0))
    assert relus.args is None


def test_both_spellings_of_the_separate_form():
    assert PatternRewriter("a", separate_match_rewrite=True).separate_match_rewrite
    assert PatternRewriter("a", seperate_match_rewrite=True).separate_match_rewrite
    with pytest.raises(NotImplementedError, match="pattern a does not define match"):
        run(small(functional.relu), (PatternRewriter("a", separate_match_rewrite=True), 0))


def test_new_layers_wait_for_the_next_sweep():
    activations = only(trt.LayerType.ACTIVATION)
    first = Rewriter(lambda layer: layer.op_type == "Relu" and replaced_by(functional.tanh)(layer), activations)
    second = Rewriter(lambda layer: layer.op_type == "Tanh" and replaced_by(functional.sigmoid)(layer), activations)
    network = small(lambda x: functional.exp(functional.relu(x)))
    assert run(network, (first, 0), (second, 0))["sweeps"] == 3
    # The Relu is gone before the second pattern would see it.
    assert ops_of(network) == ["Sigmoid", "Exp"] and (first.calls, second.calls) == (3, 2)


def test_a_removed_layer_that_is_still_used_is_shown_to_nobody():
    seen = []
    marks = Rewriter(lambda layer: layer.op_type == "Relu" and replaced_by(functional.tanh)(layer), only(trt.LayerType.ACTIVATION))
    later = Rewriter(lambda layer: seen.append(layer.op_type), only(trt.LayerType.ACTIVATION))
    network = small(lambda x: functional.exp(functional.relu(x)))
    relu = network.get_layers()[0].get_outputs(0)[0]
    relu.mark_output("kept")
    run(network, (marks, 1), (later, 0))
    assert seen == ["Tanh"]
    assert relu.get_parent().is_removed() and relu.get_parent() in network.get_layers()


def test_a_pattern_that_always_rewrites_is_left_out_with_a_warning():
    network = small(lambda x: functional.exp(functional.relu(x)))
    again = Rewriter(replaced_by(functional.relu), only(trt.LayerType.ACTIVATION))
    with pytest.warns(RewriteWarning, match="rule p0 does not settle: 21 rewrites one upon the other"):
        run(network, (again, 0), max_repeats=20)
    assert ops_of(network) == ["Relu", "Exp"]


def test_a_pattern_that_claims_a_change_and_made_none_is_left_out_with_a_warning():
    with pytest.warns(RewriteWarning, match="nothing has changed"):
        run(small(functional.relu), (Rewriter(lambda layer: True), 0))


def test_an_exception_undoes_the_rewrite_and_is_raised_when_the_others_are_done(network):
    attention = network.get_layer_by_name("PLUGIN_V2_GPTAttention_0")
    info = network.flayer_memo.get(attention.name)
    inputs, names, before = info.clone_inputs(), names_of(network), str(network.graph)

    def fails(layer):
        info = FLayerInfoMemo.instance().get(layer.name)
        info.raw_inputs["qkv_bias"] = Tensor(name="extra", dtype=trt.float32, shape=(3 * WIDTH,))
        info.replace_outputs_uses_with(layer.network, gpt_attention(**info.raw_inputs))
        layer.mark_as_removed()
        raise LookupError("half way")

    relabels = Rewriter(replaced_by(functional.relu), only(trt.LayerType.UNARY))
    with pytest.raises(LookupError, match="half way"):
        run(network, (Rewriter(fails, only(trt.LayerType.PLUGIN_V2)), 1), (relabels, 0))
    assert str(network.graph) == before and names_of(network) == names
    assert not attention.is_removed() and network.removed_layers == set()
    assert list(network.flayer_memo.data) == [attention.name] and network.flayer_memo.get(attention.name) is info
    assert info.raw_inputs == inputs
    assert [tensor.name for tensor in network.get_inputs()] == ["input"]

    mixed = small(lambda x: functional.sigmoid(functional.exp(functional.tanh(x))))

    def raises(layer):
        raise LookupError("at once")

    with pytest.raises(LookupError):
        run(mixed, (Rewriter(raises, only(trt.LayerType.ACTIVATION)), 1), (relabels, 0))
    assert ops_of(mixed) == ["Tanh", "Relu", "Sigmoid"]


def test_what_was_done_before_false_is_taken_back():
    def changes_its_mind(layer):
        replaced_by(functional.tanh)(layer)
        return False

    network = small(lambda x: functional.exp(functional.relu(x)))
    before = str(network.graph)
    run(network, (Rewriter(changes_its_mind, only(trt.LayerType.ACTIVATION)), 0))
    assert str(network.graph) == before and network.removed_layers == set() and network.get_layers()[0].name == "ACTIVATION_RELU_0"


def test_another_element_type_for_a_tensor_is_undone_with_a_warning():
    network = small(lambda x: functional.exp(functional.relu(x)))
    before = str(network.graph)
    halves = Rewriter(replaced_by(lambda x: x.cast(trt.float16)), only(trt.LayerType.ACTIVATION))
    with pytest.warns(RewriteWarning, match="p0 was undone and left out: the replacement has another"):
        run(network, (halves, 0))
    assert str(network.graph) == before and network.removed_layers == set()


def test_another_shape_is_inferred_through_all_that_follows():
    network = small(lambda x: functional.exp(functional.relu(x) + 1), shape=(4, 1))
    squeezes = Rewriter(replaced_by(lambda x: functional.squeeze(x, 1)), only(trt.LayerType.ACTIVATION))
    run(network, (squeezes, 0))
    assert network.get_outputs()[0].shape == (4,)
    network.graph.verify()


def test_match_may_only_look():
    class Touches(PatternRewriter):
        def __init__(self):
            super().__init__("touches", separate_match_rewrite=True)

        def match(self, layer):
            functional.relu(layer.get_outputs(0)[0])
            return True

    network = small(functional.tanh)
    before = str(network.graph)
    with pytest.raises(tenon.TenonError, match="must not be changed here"):
        run(network, (Touches(), 0))
    assert str(network.graph) == before


def test_a_new_layer_takes_the_place_of_the_old_one_and_nothing_else_moves():
    network = small(lambda x: [functional.exp(functional.relu(x)), functional.tanh(x)])
    run(network, (Rewriter(lambda layer: layer.op_type == "Relu" and replaced_by(functional.neg)(layer)), 0))
    assert ops_of(network) == ["Neg", "Exp", "Tanh"]


def test_a_new_layer_may_use_what_follows_the_layer_that_it_replaces():
    def later(layer):
        (late,) = [user for user in layer.get_inputs(0)[0].get_users() if user.op_type == "Tanh"]
        layer.get_outputs(0)[0].replace_all_uses_with(functional.neg(late.get_outputs(0)[0]))
        layer.mark_as_removed()
        return True

    network = small(lambda x: [functional.exp(functional.relu(x)), functional.tanh(x)])
    run(network, (Rewriter(lambda layer: layer.op_type == "Relu" and later(layer)), 0))
    assert ops_of(network) == ["Tanh", "Neg", "Exp"]
    network.graph.verify()


def test_a_run_over_many_layers_lists_them_once_a_sweep():
    def build(x):
        for _ in range(2000):
            x = functional.relu(x)
        return functional.exp(x)

    network = small(build)
    counts = Rewriter(lambda layer: layer.op_type == "Relu" and replaced_by(functional.tanh)(layer), only(trt.LayerType.ACTIVATION))
    statistics = run(network, (counts, 0))
    assert statistics["visits"] == 2 * 2001 and counts.calls == 2 * 2000
    assert ops_of(network) == ["Tanh"] * 2000 + ["Exp"]


WITH_BODIES = """graph main(c: bool[], x: f32[4]) {
  a = Relu(x)
  y = If(c) then_branch={ graph(h: f32[4]) { d = Relu(h)
      e = Neg(d)
      return e } } captures=[a] else_branch={ graph(e: f32[4]) { b = Exp(e)
      return b } } captures=[a]
  z = Neg(y)
  return z
}
"""


def test_patterns_see_the_layers_of_bodies():
    network = Network(tenon.rewriting.Graph.parse(WITH_BODIES))
    relus = Rewriter(lambda layer: layer.op_type == "Relu" and replaced_by(functional.tanh)(layer), only(trt.LayerType.ACTIVATION))
    run(network, (relus, 0))
    assert str(network.graph).count("Tanh(") == 2 and "Relu" not in str(network.graph)
    network.graph.verify()
    pattern, manager = Collects(lambda layer: True), AnalysisPatternManager()
    manager.add("collects", pattern)
    assert manager.analyze(network) == 2
    assert pattern.given == [["Tanh"], ["Tanh"]]


# --- analysis ------------------------------------------------------------------------------------------------------


class Collects(PatternAnalyzer):
    def __init__(self, found):
        super().__init__("collects", root_layer=only(trt.LayerType.ACTIVATION))
        self.found, self.asked, self.given = found, 0, []

    def match(self, layer):
        self.asked += 1
        return self.found(layer)

    def analyze(self, subgraph):
        self.given.append([layer.op_type for layer in subgraph])


@pytest.mark.parametrize(
    ("found", "given"),
    [
        (lambda layer: True, [["Relu"], ["Tanh"]]),
        (lambda layer: [layer, *layer.get_outputs(0)[0].get_users()], [["Relu", "Tanh"], ["Tanh"]]),
        (lambda layer: [], []),
        (lambda layer: False, []),
    ],
)
def test_an_analyser_is_called_once_a_layer_with_layers(found, given):
    pattern, manager = Collects(found), AnalysisPatternManager()
    manager.add("collects", pattern)
    assert manager.analyze(small(lambda x: functional.tanh(functional.relu(x))), args=4) == len(given)
    assert (pattern.asked, pattern.given, pattern.args) == (2, given, 4)


def test_an_analyser_is_not_shown_removed_layers():
    network = small(lambda x: functional.tanh(functional.relu(x)))
    network.get_layers()[0].mark_as_removed()
    pattern, manager = Collects(lambda layer: True), AnalysisPatternManager()
    manager.add("collects", pattern)
    assert manager.analyze(network) == 1
    assert pattern.given == [["Tanh"]]


def test_an_analyser_that_raises_or_touches_the_network_says_so():
    network = small(functional.relu)
    touches = lambda layer: functional.tanh(layer.get_inputs(0)[0])  # noqa: E731
    for found, error in ((lambda layer: 1 // 0, ZeroDivisionError), (touches, tenon.TenonError)):
        manager = AnalysisPatternManager()
        manager.add("bad", Collects(found))
        with pytest.raises(error):
            manager.analyze(network)
    assert ops_of(network) == ["Relu"]


def test_the_network_evaluates_after_all_that(network):
    assert network.evaluate(some_input())["output"].shape == (2, 4, WIDTH)
