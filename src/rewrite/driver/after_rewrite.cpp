// SPDX-License-Identifier: Apache-2.0
// After a rewrite: statistics, limits, nodes that are visited again, nodes that are erased.
#include <fmt/format.h>

#include <algorithm>

#include "rewrite/driver/run.h"

namespace tenon::rewrite {
namespace {

/// A value with more users than this is no part of a local pattern; a change of it does not push its users.
constexpr size_t kManyUsers = 64;

}  // namespace

void Run::record_rewrite(uint32_t index, std::span<const NodeId> matched) {
  RuleStatistics& stats = stats_.rules[index];
  ++stats.applied;
  stats.added += static_cast<int64_t>(journal_.inserted_nodes().size());
  stats_.changed = true;
  apply_limits(index, matched);
  for (NodeId node : journal_.inserted_nodes()) push_with_users(node);
  for (NodeId node : journal_.nodes_with_new_attributes()) push_with_users(node);
  for (ValueId value : journal_.retyped_values())
    if (graph_.alive(value)) push_users(value);
  for (const Journal::Edit& e : journal_.edits()) {
    if (e.node) push_with_users(e.node);
    if (!e.before || !graph_.alive(e.before)) continue;
    push_users(e.before);
    if (const NodeId producer = graph_.value(e.before).producer) worklist_.push(producer);
  }
  for (NodeId node : matched)
    if (graph_.alive(node) && is_dead(graph_, node)) stats.removed += erase_dead(node);
  for (NodeId node : matched)
    if (graph_.alive(node)) push_with_users(node);
}

void Run::apply_limits(uint32_t index, std::span<const NodeId> matched) {
  const int depth = history_.record(index, matched, journal_.inserted_nodes());
  const bool grown = static_cast<int64_t>(graph_.node_count()) > node_limit_;
  if (depth <= options_.repeats && !grown) return;
  std::string cycle;
  for (uint32_t rule : history_.cycle()) cycle += (cycle.empty() ? "" : " -> ") + stats_.rules[rule].name;
  history_.forget(journal_.inserted_nodes());  // the remaining rules start without these rewrites
  const Node& root = graph_.node(matched[0]);
  disable_rule(
      index,
      fmt::format("rule {} does not settle: {} at node '{}' ({}), by {}; it was left out for the rest of the run", stats_.rules[index].name,
                  grown ? fmt::format("the graph grew past {} nodes", node_limit_) : fmt::format("{} rewrites one upon the other", depth),
                  root.name, root.op->name, cycle));
}

void Run::push_users(ValueId value) {
  for (const ir::Use& use : graph_.value(value).uses) worklist_.push(use.node);
}

void Run::push_with_users(NodeId node) {
  if (!graph_.alive(node)) return;
  worklist_.push(node);
  for (ValueId v : graph_.node(node).outputs)
    if (v && graph_.value(v).uses.size() <= kManyUsers) push_users(v);
}

/// Erases a dead node and what is dead without it; producers that only lost a use are visited again. Returns the number of erased nodes.
int64_t Run::erase_dead(NodeId node) {
  dead_.push_back(node);
  int64_t erased = 0;
  while (!dead_.empty()) {
    const NodeId id = dead_.back();
    dead_.pop_back();
    if (!graph_.alive(id) || !is_dead(graph_, id) || is_kept(id)) continue;
    const auto operands = graph_.node(id).inputs;
    graph_.erase(id);
    ++erased;
    for (ValueId operand : operands) on_use_removed(operand);
  }
  return erased;
}

void Run::on_use_removed(ValueId value) {
  if (!value || !graph_.alive(value)) return;
  const Value& v = graph_.value(value);
  if (v.kind == Value::Kind::constant && v.uses.empty()) return graph_.erase_value(value);
  if (v.kind != Value::Kind::result) return;
  if (v.uses.empty()) return dead_.push_back(v.producer);
  worklist_.push(v.producer);
  if (v.uses.size() <= 2) push_users(value);
}

}  // namespace tenon::rewrite
