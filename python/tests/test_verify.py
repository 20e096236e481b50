# SPDX-License-Identifier: Apache-2.0
"""Rewrites run beside what they replace, and rules tried in a process of their own."""

import resource
import threading

import pytest
from tenon import TenonError
from tenon.rewriting import Graph, Rule, RuleSet, Verifier, rewrite, rules_from, select

MODEL = (
    "graph main(x: f32[4]) {\n const one: f32[] = [1]\n a = Mul(x, one)\n b = Mul(a, one)\n c = Neg(b)\n d = Neg(c)\n"
    " e = Relu(d)\n y = Relu(e)\n return y\n}\n"
)
RIGHT = "times_one: Mul(?x, 1) => ?x\nrelu_relu: Relu(Relu(?x)) => Relu(?x)\n"
WRONG = "neg_neg: Neg(Neg(?x)) => Neg(?x)\n"


def ops(graph):
    return " ".join(n.op_type for n in graph.nodes)


@pytest.mark.parametrize("mode", ["first", "all"])
def test_right_rewrites_are_verified(mode):
    graph = Graph.parse(MODEL)
    statistics = rewrite(graph, rules_from(RIGHT), verify=mode)
    seen = statistics["verification"]
    assert ops(graph) == "Neg Neg Relu" and statistics["reports"] == []
    assert seen["asked"] == 3 and seen["verified"] + seen["known"] == 3 and seen["wrong"] == 0 and seen["instances"] > 0
    assert seen["known"] == 0 or mode == "first"
    assert seen["unverified"] == {} and seen["ms"] > 0 and seen["text"].startswith("3 rewrites: ")


def test_a_wrong_rewrite_is_undone_its_rule_named_and_the_others_go_on():
    graph = Graph.parse(MODEL)
    statistics = rewrite(graph, rules_from(RIGHT + WRONG), verify="first")
    assert ops(graph) == "Neg Neg Relu" and statistics["verification"]["wrong"] == 1
    (report,) = statistics["reports"]
    assert report.startswith("rule neg_neg was undone and left out") and "changes the result" in report
    assert next(r for r in statistics["rules"] if r["name"] == "neg_neg")["left_out"]


def test_rules_in_python_are_verified_too():
    def drop(m, w):
        w.replace(m.root.outputs[0], m.root.inputs[0])

    graph = Graph.parse(MODEL)
    statistics = rewrite(graph, [Rule.code("drop", {"match": lambda m: True, "rewrite": drop}, roots=["Neg"])], verify="all")
    assert statistics["verification"]["wrong"] == 1 and statistics["rules"][0]["left_out"] and ops(graph).count("Neg") == 2


def test_nothing_is_verified_unless_requested():
    graph = Graph.parse(MODEL)
    assert rewrite(graph, rules_from(RIGHT + WRONG))["verification"] is None and ops(graph) == "Neg Relu"


def test_what_cannot_be_verified_is_done_and_reported():
    graph = Graph.parse("graph main(x: f32[4]) {\n a = RandomNormalLike(x)\n b = Neg(a)\n y = Neg(b)\n return y\n}\n")
    rule = "noise: Neg(Neg(RandomNormalLike(?x))) => RandomNormalLike(?x)"
    seen = rewrite(graph, rules_from(rule), verify="all")["verification"]
    assert ops(graph) == "RandomNormalLike" and seen["asked"] == 1 and seen["verified"] == 0
    assert list(seen["unverified"]) == ["noise"] and "1 could not be verified" in seen["text"]


def test_the_check_runs_after_verification():
    asked = []
    statistics = rewrite(Graph.parse(MODEL), rules_from(RIGHT + WRONG), verify="all", check=lambda e: asked.append(e["rule"]))
    assert "neg_neg" not in asked and len(asked) == 3 and statistics["verification"]["asked"] == 4


def test_a_verifier_keeps_what_it_has_seen():
    verifier, rules = Verifier("first"), RuleSet(rules_from(RIGHT))
    for _ in range(2):
        result = rewrite(Graph.parse(MODEL), rules, verify=verifier)["verification"]
    assert result == verifier.result and result["asked"] == 6 and result["known"] >= 3 and verifier.mode == "first"


def test_a_verifier_serves_one_run_at_a_time():
    verifier, errors = Verifier("all"), []

    def inside(event):
        try:
            rewrite(Graph.parse(MODEL), [], verify=verifier)
        except TenonError as error:
            errors.append(str(error))

    rewrite(Graph.parse(MODEL), rules_from(RIGHT), verify=verifier, applied=inside)
    assert errors and all("another run is using this verifier" in e for e in errors)
    assert verifier.result["asked"] == 3


@pytest.mark.parametrize("make", [lambda: Verifier("some"), lambda: rewrite(Graph.parse(MODEL), [], verify="some")])
def test_modes_are_named(make):
    with pytest.raises(TenonError, match="expected: *off, first or all"):
        make()


# --- in a process of its own ------------------------------------------------------------------------------------------


def children():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_minflt


def test_isolated_rules_run_in_a_child_first_and_the_result_is_the_same():
    one, other = Graph.parse(MODEL), Graph.parse(MODEL)
    rules = RuleSet([*rules_from(RIGHT), *select("default")])
    before = children()
    plain = rewrite(one, rules)
    assert children() == before
    statistics = rewrite(other, rules, isolate=True, verify="first", fold=True, applied=lambda e: None)
    assert children() > before and ops(one) == ops(other) and plain["changed"] and statistics["reports"] == []
    assert statistics["verification"]["wrong"] == 0


def test_isolation_works_next_to_threads_that_run_python():
    stop = threading.Event()
    thread = threading.Thread(target=lambda: [sum(range(1000)) for _ in iter(stop.is_set, True)])
    thread.start()
    try:
        for _ in range(10):
            graph = Graph.parse(MODEL)
            assert rewrite(graph, rules_from(RIGHT), isolate=True)["reports"] == [] and ops(graph) == "Neg Neg Relu"
    finally:
        stop.set()
        thread.join()


def test_python_is_not_isolated():
    python = Rule.code("python", {"match": lambda m: False, "rewrite": lambda m, w: None})
    for rules, options, named in (([python], {}, "rule python"), ([], {"check": lambda e: None}, "a check")):
        graph = Graph.parse(MODEL)
        with pytest.raises(TenonError, match=f"not_supported.*\n.*\n.*{named}"):
            rewrite(graph, rules, isolate=True, **options)
        assert ops(graph) == "Mul Mul Neg Neg Relu Relu"
