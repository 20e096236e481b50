// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver/rule_set.h"

#include <algorithm>

namespace tenon::rewrite {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

const ir::Op* op_named(std::string_view name, const ir::OpTable& ops) {
  const size_t colons = name.rfind("::");
  return colons == name.npos ? ops.find("", name) : ops.find(name.substr(0, colons), name.substr(colons + 2));
}

bool has_name(const ir::Op& op, std::string_view name) {
  if (op.domain.empty()) return name == op.name;
  return name.size() == op.domain.size() + 2 + op.name.size() && name.starts_with(op.domain) && name.ends_with(op.name);
}

/// Merges `more` into `list`; both are sorted and disjoint.
void merge_into(std::vector<uint32_t>& list, std::span<const uint32_t> more) {
  size_t left = list.size(), right = more.size();
  list.resize(left + right);
  while (right > 0) {
    const bool take_left = left > 0 && list[left - 1] > more[right - 1];
    const uint32_t largest = take_left ? list[left - 1] : more[right - 1];
    list[left + right - 1] = largest;
    --(take_left ? left : right);
  }
}

}  // namespace

Result<RuleSet> RuleSet::make(std::span<const Rule* const> rules, const ir::OpTable& ops) {
  std::vector<RulePtr> compiled;
  std::vector<std::string> missing;
  for (const Rule* rule : rules) {
    auto one = compile(*rule, ops);
    if (one) compiled.push_back(std::move(*one));
    else if (one.error().code() == Code::not_supported) missing.push_back(std::string(rule->name) + ": " + one.error()->what);
    else return std::unexpected(std::move(one).error());
  }
  RuleSet set(std::move(compiled), ops);
  set.inactive_.insert(set.inactive_.end(), missing.begin(), missing.end());
  return set;
}

RuleSet::RuleSet(std::vector<RulePtr> rules, const ir::OpTable& ops) {
  std::vector<std::pair<int, size_t>> order;
  for (size_t i = 0; i < rules.size(); ++i) order.push_back({-rules[i]->benefit, i});
  std::ranges::sort(order);
  for (auto [_, i] : order) rules_.push_back(std::move(rules[i]));
  const auto automaton = std::make_shared<Automaton>();
  for (uint32_t i = 0; i < rules_.size(); ++i) add_to_automaton(*rules_[i], i, ops, *automaton);
  automaton->finish();
  automaton_ = automaton;
  automaton_rules_ = rules_;
}

void RuleSet::add_to_automaton(const CompiledRule& rule, uint32_t index, const ir::OpTable& ops, Automaton& automaton) {
  if (rule.equation) return automaton.add(*rule.equation, index);
  if (rule.roots.empty()) rules_for_all_ops_.push_back(index);
  for (const std::string& name : rule.roots) {
    if (name == "*") rules_for_all_ops_.push_back(index);
    else {
      const ir::Op* op = op_named(name, ops);
      if (op && !op->unknown) {
        automaton.add(op, index);
      } else {
        rules_by_op_name_.emplace_back(name, index);
        inactive_.push_back(rule.name + ": op " + name);
      }
    }
  }
}

RuleSet RuleSet::where(const std::function<bool(const CompiledRule&)>& predicate) const {
  RuleSet out;
  std::vector<uint32_t> index(rules_.size(), kNone);
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (!predicate(*rules_[i])) continue;
    index[i] = static_cast<uint32_t>(out.rules_.size());
    out.rules_.push_back(rules_[i]);
  }
  for (uint32_t i : rules_for_all_ops_)
    if (index[i] != kNone) out.rules_for_all_ops_.push_back(index[i]);
  for (const auto& [name, i] : rules_by_op_name_)
    if (index[i] != kNone) out.rules_by_op_name_.emplace_back(name, index[i]);
  out.automaton_ = automaton_;
  out.automaton_rules_ = automaton_rules_;
  out.index_of_automaton_rule_ = index_of_automaton_rule_.empty() ? index : index_of_automaton_rule_;
  for (uint32_t& number : out.index_of_automaton_rule_)
    if (!index_of_automaton_rule_.empty() && number != kNone) number = index[number];
  return out;
}

void RuleSet::candidates(const ir::Graph& graph, ir::NodeId node, std::vector<uint32_t>& out) const {
  out.clear();
  automaton_->candidates(graph, node, out);
  if (!index_of_automaton_rule_.empty()) {
    for (uint32_t& rule : out) rule = index_of_automaton_rule_[rule];
    std::erase(out, kNone);
  }
  for (const auto& [name, rule] : rules_by_op_name_)
    if (has_name(*graph.node(node).op, name)) out.push_back(rule);
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  merge_into(out, rules_for_all_ops_);
}

}  // namespace tenon::rewrite
