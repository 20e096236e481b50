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

/// Both are sorted and have nothing in common.
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
  for (uint32_t i = 0; i < rules_.size(); ++i) hang(*rules_[i], i, ops, *automaton);
  automaton->finish();
  automaton_ = automaton;
  walked_ = rules_;
}

void RuleSet::hang(const CompiledRule& rule, uint32_t index, const ir::OpTable& ops, Automaton& automaton) {
  if (rule.equation) return automaton.add(*rule.equation, index);
  if (rule.roots.empty()) any_.push_back(index);
  for (const std::string& name : rule.roots) {
    if (name == "*") any_.push_back(index);
    else {
      const ir::Op* op = op_named(name, ops);
      if (op && !op->unknown) {
        automaton.add(op, index);
      } else {
        by_name_.emplace_back(name, index);
        inactive_.push_back(rule.name + ": op " + name);
      }
    }
  }
}

RuleSet RuleSet::where(const std::function<bool(const CompiledRule&)>& wanted) const {
  RuleSet out;
  std::vector<uint32_t> index(rules_.size(), kNone);
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (!wanted(*rules_[i])) continue;
    index[i] = static_cast<uint32_t>(out.rules_.size());
    out.rules_.push_back(rules_[i]);
  }
  for (uint32_t i : any_)
    if (index[i] != kNone) out.any_.push_back(index[i]);
  for (const auto& [name, i] : by_name_)
    if (index[i] != kNone) out.by_name_.emplace_back(name, index[i]);
  out.automaton_ = automaton_;
  out.walked_ = walked_;
  out.renamed_ = renamed_.empty() ? index : renamed_;
  for (uint32_t& number : out.renamed_)
    if (!renamed_.empty() && number != kNone) number = index[number];
  return out;
}

void RuleSet::candidates(const ir::Graph& graph, ir::NodeId node, std::vector<uint32_t>& out) const {
  out.clear();
  automaton_->candidates(graph, node, out);
  if (!renamed_.empty()) {
    for (uint32_t& rule : out) rule = renamed_[rule];
    std::erase(out, kNone);
  }
  for (const auto& [name, rule] : by_name_)
    if (has_name(*graph.node(node).op, name)) out.push_back(rule);
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  merge_into(out, any_);
}

}  // namespace tenon::rewrite
