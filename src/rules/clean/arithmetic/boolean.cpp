// SPDX-License-Identifier: Apache-2.0
// Conditions: where one is known, the branch of If, the operand of Where, or the operand of And, Or and Xor that it selects; other forms of
// conditions get one canonical form.
#include <unordered_map>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_boolean {
using namespace rewrite;
namespace {

struct BranchChoice {
  size_t body;
};

bool decided(Match& m) {
  const Node& node = m.node(m.root());
  const auto condition = m.number(m.operand(m.root(), 0));
  if (!condition || node.bodies.size() != 2) return m.refuse("the condition is not known");
  const size_t taken = node.bodies[0].name == (*condition != 0 ? "then_branch" : "else_branch") ? 0 : 1;
  const Graph& graph = *node.bodies[taken].graph;
  for (NodeId n : graph.nodes())
    if (!graph.node(n).bodies.empty()) return m.refuse("the body has bodies inside");
  return m.accept(BranchChoice{taken});
}

/// The body's nodes take the place of the branch; its captures are the outer values themselves.
bool put_in_place(const Match& m, Rewriter& w) {
  const Node& node = m.node(m.root());
  const ir::Body& body = node.bodies[m.state<BranchChoice>().body];
  const Graph& graph = *body.graph;
  std::unordered_map<ValueId, ValueId> names;
  for (uint32_t k = 0; k < body.captures; ++k) names[graph.inputs()[k]] = node.inputs[body.first_capture + k];
  auto outside = [&](ValueId v) {
    if (v && !names.contains(v)) names[v] = w.constant(graph.value(v).constant);
    return v ? names.at(v) : ValueId{};
  };
  for (NodeId n : graph.nodes()) {
    const Node& inner = graph.node(n);
    std::vector<ValueId> operands;
    for (ValueId v : inner.inputs) operands.push_back(outside(v));
    const std::string op = inner.op->domain.empty() ? inner.op->name : inner.op->domain + "::" + inner.op->name;
    const auto made = w.many(op, std::move(operands), inner.outputs.size(), {inner.attributes.begin(), inner.attributes.end()});
    for (size_t k = 0; k < inner.outputs.size(); ++k)
      if (inner.outputs[k]) names[inner.outputs[k]] = made[k];
  }
  if (!w.status()) return false;
  for (size_t k = 0; k < node.outputs.size(); ++k)
    if (node.outputs[k]) w.replace(node.outputs[k], outside(graph.outputs()[k]));
  return true;
}

bool same_result(Match& m, ValueId value) {
  m.accept(value);
  return value && m.same_type(m.result(m.root()), value);
}

/// Matches a Where whose selected operand is known, And with true, Or with false, and Xor with false.
bool known_choice(Match& m) {
  const Node& node = m.node(m.root());
  const auto known = [&](size_t i) { return m.is_constant(m.operand(m.root(), i)) ? m.number(m.operand(m.root(), i)) : std::nullopt; };
  if (node.is("Where")) {
    const auto condition = known(0);
    return condition && same_result(m, m.operand(m.root(), *condition != 0 ? 1 : 2));
  }
  const double neutral = node.is("And") ? 1 : 0;
  for (size_t i : {0, 1})
    if (known(i) == neutral && same_result(m, m.operand(m.root(), 1 - i))) return true;
  return false;
}

}  // namespace

RULES(clean_boolean) {
    .rules =
        {
            {.name = "if_known",
             .docs = "a branch whose condition is known is the body that it takes",
             .roots = "If",
             .match = decided,
             .rewrite = put_in_place},
            {.name = "known_choice",
             .docs = "Where with a known condition; And, Or, Xor with their neutral value",
             .roots = "Where And Or Xor",
             .match = known_choice,
             .rewrite = replace_root_with_state,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon canonical"},
            {.name = "where_not",
             .docs = "Where(Not(c), a, b) is Where(c, b, a)",
             .equation = "Where(Not(?c), ?a, ?b) => Where(?c, ?b, ?a)",
             .benefit = 3,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "NotWhere"},
            {.name = "or_same",
             .docs = "Or(a, a) is a",
             .equation = "Or(?a, ?a) => ?a",
             .benefit = 3,
             .allow_outside_uses = true,
             .sets = "tenon canonical"},
            {.name = "and_same",
             .docs = "And(a, a) is a",
             .equation = "And(?a, ?a) => ?a",
             .benefit = 3,
             .allow_outside_uses = true,
             .sets = "tenon canonical"},
            {.name = "not_not",
             .docs = "Not(Not(x)) is x",
             .equation = "Not(Not(?x)) => ?x",
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "NotNot"},
        },
};

}  // namespace tenon::rules::clean_boolean
