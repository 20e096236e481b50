// SPDX-License-Identifier: Apache-2.0
#include "rewrite/rule_set.h"

#include <algorithm>

namespace tenon::rewrite {
namespace {

const ir::Op* op_named(std::string_view name, const ir::OpTable& ops) {
  const size_t colons = name.rfind("::");
  return colons == name.npos ? ops.find("", name) : ops.find(name.substr(0, colons), name.substr(colons + 2));
}

/// The ops that may make what `term` stands for; empty where it could be anything.
std::vector<int> op_terms(const Equation& e, int term) {
  const Term& t = e.terms[term];
  if (t.kind == Term::Kind::op) return {term};
  if (t.kind != Term::Kind::either) return {};
  std::vector<int> all;
  for (int choice : t.operands) {
    auto some = op_terms(e, choice);
    if (some.empty()) return {};
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace

Result<RuleSet> RuleSet::make(std::span<const Rule* const> rules, const ir::OpTable& ops) {
  RuleSet set;
  std::vector<const Rule*> order(rules.begin(), rules.end());
  std::vector<size_t> place(order.size());
  for (size_t i = 0; i < place.size(); ++i) place[i] = i;
  std::ranges::sort(
      place, [&](size_t a, size_t b) { return order[a]->benefit != order[b]->benefit ? order[a]->benefit > order[b]->benefit : a < b; });
  for (size_t i : place) TRY(set.add(*order[i], ops));
  return set;
}

Result<void> RuleSet::add(const Rule& rule, const ir::OpTable& ops) {
  const auto index = static_cast<uint32_t>(rules_.size());
  if (!rule.equation.empty()) {
    auto equation = Equation::parse(rule.equation, ops);
    if (!equation && equation.error().code() == Code::not_supported) {
      inactive_.push_back(std::string(rule.name) + ": " + equation.error()->what);
      return {};
    }
    if (!equation) return std::unexpected(std::move(equation).error().at(std::string(rule.name)));
    rules_.push_back({&rule, std::make_unique<Equation>(std::move(*equation))});
    hang(*rules_.back().equation, index);
    return {};
  }
  if (!rule.match || !rule.rewrite) return fail(Code::bad_rule, std::string(rule.name), "a rule needs an equation, or match and rewrite");
  rules_.push_back({&rule, nullptr});
  for (std::string_view rest = rule.roots; !rest.empty();) {
    const size_t blank = std::min(rest.find(' '), rest.size());
    const std::string_view name = rest.substr(0, blank);
    rest.remove_prefix(std::min(blank + 1, rest.size()));
    if (name == "*") any_.push_back(index);
    else if (const ir::Op* op = op_named(name, ops)) root_.next[op].rules.push_back(index);
    else inactive_.push_back(std::string(rule.name) + ": op " + std::string(name));
  }
  return {};
}

void RuleSet::hang(const Equation& e, uint32_t index) {
  for (int term : op_terms(e, e.left[0])) hang_below(e, term, 1, root_.next[e.terms[term].op], index);
}

void RuleSet::hang_below(const Equation& e, int term, int depth, Branch& branch, uint32_t index) {
  // One operand that must be made by an op is enough: the trie sends away, the search decides.
  if (depth < 3) {
    for (int operand : e.terms[term].operands) {
      const auto below = op_terms(e, operand);
      if (below.empty()) continue;
      for (int t : below) hang_below(e, t, depth + 1, branch.next[e.terms[t].op], index);
      return;
    }
  }
  if (branch.rules.empty() || branch.rules.back() != index) branch.rules.push_back(index);
}

void RuleSet::candidates(const ir::Graph& graph, ir::NodeId node, std::vector<uint32_t>& out) const {
  out = any_;
  const ir::Node& n = graph.node(node);
  const auto first = root_.next.find(n.op);
  if (first == root_.next.end()) return;
  const auto append = [&out](const Branch& b) { out.insert(out.end(), b.rules.begin(), b.rules.end()); };
  append(first->second);
  const auto producer = [&graph](ir::ValueId v) -> const ir::Node* {
    if (!v) return nullptr;
    const ir::Value& value = graph.value(v);
    return value.kind == ir::Value::Kind::result ? &graph.node(value.producer) : nullptr;
  };
  if (!first->second.next.empty()) {
    for (ir::ValueId operand : n.inputs) {
      const ir::Node* below = producer(operand);
      if (!below) continue;
      const auto second = first->second.next.find(below->op);
      if (second == first->second.next.end()) continue;
      append(second->second);
      if (second->second.next.empty()) continue;
      for (ir::ValueId deep : below->inputs)
        if (const ir::Node* last = producer(deep))
          if (const auto third = second->second.next.find(last->op); third != second->second.next.end()) append(third->second);
    }
  }
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

}  // namespace tenon::rewrite
