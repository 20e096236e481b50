# SPDX-License-Identifier: Apache-2.0
"""Rules from files, sets of rules that are made once, and leaving rules out by name."""

import threading

import pytest
from tenon import TenonError
from tenon.rewriting import Graph, Rule, RuleSet, analyse, rewrite, rules_from, select

FOUR = "graph main(x: bool[4]) {\n a = Not(x)\n b = Not(a)\n c = Not(b)\n d = Not(c)\n y = And(d, x)\n return y\n}\n"
RULES = """set mine
# Not twice is nothing
not_not [benefit 7]: Not(Not(?x)) => ?x

numerics approximate
predicate plain(?x) = float(?x)
gelu_tanh_of_gelu [shared]: Gelu(?x) => Gelu(?x, approximate="tanh") where plain(?x)
"""


def ops(graph):
    return " ".join(n.op_type for n in graph.nodes)


def test_rules_of_a_text():
    rules = rules_from(RULES)
    assert [(r.name, r.sets, r.benefit, r.shared, r.numerics, r.docs) for r in rules] == [
        ("not_not", "mine", 7, False, "exact", "Not twice is nothing"),
        ("gelu_tanh_of_gelu", "mine", 1, True, "approximate", ""),
    ]
    graph = Graph.parse(FOUR)
    assert rewrite(graph, rules)["rules"][0]["applied"] == 2 and ops(graph) == "And"


@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_rules_of_a_file(tmp_path, kind):
    path = tmp_path / "mine.rules"
    path.write_text(RULES)
    assert [r.name for r in rules_from(kind(path))] == ["not_not", "gelu_tanh_of_gelu"]


def test_a_path_may_be_called_anything(tmp_path):
    path = tmp_path / "rules.txt"
    path.write_text(RULES)
    assert len(rules_from(path)) == 2


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(TenonError, match="file_missing at .*none.rules"):
        rules_from(tmp_path / "none.rules")


def test_a_mistake_has_line_column_and_caret(tmp_path):
    text = RULES + "\nbad: Not(?x => ?x\n"
    with pytest.raises(TenonError) as caught:
        rules_from(text, name="mine")
    error = caught.value
    assert error.code == "bad_rule" and error.place == "mine:9:13" and "bad: Not(?x => ?x\n" in str(error) and "^" in str(error)
    path = tmp_path / "mine.rules"
    path.write_text(text)
    with pytest.raises(TenonError) as caught:
        rules_from(path)
    assert caught.value.place == f"{path}:9:13"
    with pytest.raises(TenonError, match="not_supported at rules:1:"):
        rules_from("bad: Nothing(?x) => ?x")


def test_a_set_expression_joins_and_takes_away():
    everything, default, without = (
        {r.name for r in select(e)} for e in ("default+onnxruntime", "default", "default+onnxruntime-gelu_erf,not_not")
    )
    assert default < everything and everything - without == {"gelu_erf"} - ({"gelu_erf"} - everything)


def test_a_set_is_made_once_and_used_on_many_graphs():
    rules = RuleSet(rules_from(RULES))
    assert len(rules) == 2 and [r.name for r in rules] == [r.name for r in rules.rules] == ["not_not", "gelu_tanh_of_gelu"]
    for _ in range(3):
        graph = Graph.parse(FOUR)
        assert rewrite(graph, rules)["changed"] and ops(graph) == "And"


def test_a_part_of_a_set_is_a_set():
    two = RuleSet([Rule.equation("not_not: Not(Not(?x)) => ?x"), Rule.equation("same: And(?x, ?x) => ?x")])
    graph, part = Graph.parse(FOUR), two.only(two.rules[1:])
    assert [r.name for r in part] == ["same"] and two.only([Rule.equation("same: And(?x, ?x) => ?x")]).rules == []
    assert not rewrite(graph, part)["changed"] and [r["name"] for r in rewrite(graph, part)["rules"]] == ["same", "fold_constants"]
    assert rewrite(graph, two)["changed"] and ops(graph) == ""


def test_a_set_says_what_can_never_match():
    assert RuleSet([Rule.code("odd", {"match": lambda m: False, "rewrite": lambda m, w: None}, roots=["Odd"])]).inactive == ["odd: op Odd"]


def test_a_set_is_for_analyses_too():
    seen = []
    rules = RuleSet([Rule.code("look", {"match": lambda m: True, "analyse": lambda m: seen.append(m.root.op_type)}, roots=["Not"])])
    assert analyse(Graph.parse(FOUR), rules) == 4 and seen == ["Not"] * 4


def test_threads_share_a_set():
    rules, applied = RuleSet(rules_from(RULES)), []

    def work():
        for _ in range(20):
            applied.append(rewrite(Graph.parse(FOUR), rules)["rules"][0]["applied"])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert applied == [2] * 80


def test_rules_are_left_out_by_name():
    graph = Graph.parse(FOUR)
    statistics = rewrite(graph, RuleSet(rules_from(RULES)), without={"not_not"})
    assert statistics["rules"][0]["left_out"] and ops(graph) == "Not Not Not Not And"


@pytest.mark.parametrize("rules", ["default", [None], ["gelu_erf"]])
@pytest.mark.parametrize("use", [RuleSet, lambda rules: rewrite(Graph.parse(FOUR), rules)])
def test_what_is_no_rule_is_refused(rules, use):
    with pytest.raises(TenonError, match="this is no rule"):
        use(rules)
