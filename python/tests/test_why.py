# SPDX-License-Identifier: Apache-2.0
"""Why a rule does not match, asked from Python."""

import pytest
from tenon import TenonError
from tenon.rewriting import Graph, Rule, rewrite, why_not

MODEL = (
    "graph main(x: bool[4], c: bool[]) {\n a = Not(x)\n b = Not(a)\n d = And(b, a)\n e = Not(d)\n"
    " y = If(c) then_branch={ graph(h: bool[4]) { p = Not(h)\n q = Not(p)\n return q } } captures=[e]"
    " else_branch={ graph(h: bool[4]) { r = Or(h, h)\n return r } } captures=[e]\n return y\n}\n"
)
NOT_NOT = Rule.equation("not_not: Not(Not(?x)) => ?x")


@pytest.fixture
def graph():
    return Graph.parse(MODEL)


def look(m):
    before = m.root.inputs[0].producer
    if before is None or before.op_type != "Not":
        return m.refuse("no Not before")
    m.take(before)
    return True


def apply(m, w):
    w.replace(m.root.outputs[0], m.root.inputs[0].producer.inputs[0])


def test_the_best_partial_matches_come_first(graph):
    found = why_not(graph, NOT_NOT, most=10)
    assert [w.outcome for w in found] == ["applies", "refused", "no_match", "no_match", "no_match"]
    assert "it applies" in str(found[0]) and "users outside" in found[1].reason
    assert len(why_not(graph, NOT_NOT, most=2)) == 2


def test_a_partial_match_says_which_part_fails_and_what_would_do(graph):
    (w,) = why_not(graph, NOT_NOT, "e")
    assert w.rule == "not_not" and w.outcome == "no_match" and (w.depth, w.parts) == (1, 3)
    assert "Not" in w.expected and "And" in w.found and w.matched
    assert "it does not match (1 of 3 parts do)" in str(w) and repr(w).startswith("<Why not_not at ")


def test_as_a_dict_it_has_all_and_the_text(graph):
    (w,) = why_not(graph, NOT_NOT, "b")
    report = w.as_dict()
    assert report["text"] == str(w) and report["outcome"] == w.outcome == "refused" and report["would_do"] == w.would_do
    assert set(report) == {n for n in dir(w) if not n.startswith("_")} - {"as_dict"} | {"text"}


def test_a_node_is_named_by_itself_its_value_or_a_name(graph):
    node = graph.find("e").producer
    node.name = "the_node"
    answers = [why_not(graph, NOT_NOT, n)[0].as_dict() for n in (node, graph.find("e"), "e", "the_node")]
    assert all(a == answers[0] for a in answers)
    inner = graph.nodes[-1].bodies[0][1].nodes[1]
    assert why_not(graph, NOT_NOT, inner)[0].outcome == why_not(graph, NOT_NOT, "q")[0].outcome == "applies"


def test_what_is_no_node_of_the_graph_is_refused(graph):
    for bad in ("nobody", graph.find("x"), Graph.parse(MODEL).nodes[0]):
        with pytest.raises(TenonError, match="bad_usage at node"):
            why_not(graph, NOT_NOT, bad)


def test_limits_are_reasons(graph):
    (w,) = why_not(graph, Rule.equation("wild: And(?x, ?y) => Or(?x, ?y)", numerics="approximate"), "d")
    assert w.outcome == "refused" and "numerics" in w.reason
    (w,) = why_not(graph, Rule.equation("drop: And(?x, ?y) => ?x"), "d", keep={"d"})
    assert w.outcome == "refused" and "kept" in w.reason


def test_rules_in_python_say_their_reason(graph):
    rule = Rule.code("python", {"match": look, "rewrite": apply}, roots=["Not"])
    assert [w.outcome for w in why_not(graph, rule, most=9)] == ["applies", "refused", "no_match", "no_match", "no_match"]
    (w,) = why_not(graph, rule, "e")
    assert w.reason == "no Not before" and "no Not before" in str(w)
    assert why_not(graph, rule, "d")[0].outcome == "elsewhere"


def test_a_rule_in_python_that_raises_raises_here_and_the_graph_is_free_again(graph):
    with pytest.raises(ZeroDivisionError):
        why_not(graph, Rule.code("broken", {"match": lambda m: 1 / 0, "rewrite": apply}))
    with pytest.raises(TenonError, match="must not be changed here"):
        why_not(graph, Rule.code("edits", {"match": lambda m: m.graph.add_constant([1.0]), "rewrite": apply}))
    assert rewrite(graph, [NOT_NOT])["changed"]


def test_why_not_refuses_a_python_rule_in_one_go(graph):
    with pytest.raises(TenonError, match="not supported yet: why_not"):
        why_not(graph, Rule.code("both", {"match_and_rewrite": lambda m, w: False}))


def test_queries_change_nothing(graph):
    before = str(graph)
    why_not(graph, NOT_NOT)
    why_not(graph, NOT_NOT, "q")
    assert str(graph) == before
