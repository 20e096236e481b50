// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "rewrite/apply.h"
#include "rewrite/worklist.h"

namespace tenon::rewrite {
namespace {

using Clock = std::chrono::steady_clock;
double ms_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

/// One run over one graph (bodies have runs of their own).
class Run {
 public:
  Run(ir::Graph& graph, const RuleSet& rules, const Options& options, int64_t& budget)
      : graph_(graph), rules_(rules), options_(options), budget_(budget), journal_(graph), outer_(graph.listener()) {
    stats_.rules.resize(rules.size() + 1);
    for (size_t i = 0; i < rules.size(); ++i) stats_.rules[i].name = rules[i].rule->name;
    stats_.rules.back().name = "fold_constants";
    stats_.nodes_before = static_cast<int64_t>(graph.node_count());
    node_limit_ = options.growth * stats_.nodes_before + 10000;
    graph_.set_listener(&journal_);
  }
  ~Run() { graph_.set_listener(outer_); }

  Result<Statistics> run() {
    const auto start = Clock::now();
    if (options_.bodies) TRY(bodies());
    for (bool again = true; again && stats_.sweeps < options_.sweeps && budget_ > 0;) {
      again = false;
      ++stats_.sweeps;
      for (NodeId node : graph_.nodes()) work_.push(node);
      while (NodeId node = work_.pop(graph_)) {
        if (++stats_.visits % 1024 == 0 && options_.cancelled && options_.cancelled())
          return fail(Code::cancelled, "", "rewriting was cancelled");
        again |= visit(node);
        if (budget_ <= 0) break;
      }
    }
    stats_.nodes_after += static_cast<int64_t>(graph_.node_count());
    stats_.ms = ms_since(start);
    return std::move(stats_);
  }

 private:
  Result<void> bodies() {
    for (NodeId node : graph_.nodes()) {
      for (size_t i = 0; i < graph_.node(node).bodies.size(); ++i) {
        Run inner(graph_.body(node, i), rules_, options_, budget_);
        stats_.add(TRY(inner.run()));
      }
    }
    stats_.sweeps = 0;
    return {};
  }

  /// True where the graph changed.
  bool visit(NodeId node) {
    if (is_dead(graph_, node)) {
      bury(node);
      stats_.changed = true;
      return true;
    }
    if (options_.fold && fold(node)) return true;
    rules_.candidates(graph_, node, candidates_);
    for (uint32_t index : candidates_) {
      if (stats_.rules[index].unsettled || rules_[index].rule->numerics > options_.allowed) continue;
      if (!attempt(index, node)) continue;
      return true;
    }
    return false;
  }

  bool attempt(uint32_t index, NodeId node) {
    const auto start = options_.timing ? Clock::now() : Clock::time_point();
    const bool done = try_rule(index, node);
    if (options_.timing) stats_.rules[index].ms += ms_since(start);
    return done;
  }

  bool try_rule(uint32_t index, NodeId node) {
    const CompiledRule& rule = rules_[index];
    RuleStatistics& stats = stats_.rules[index];
    ++stats.tried;
    Match match(graph_, node);
    if (!matches(rule, match)) {
      if (!match.reason().empty()) count(stats.refused, match.reason());
      return false;
    }
    ++stats.matches;
    std::string refused(guard(match, *rule.rule));
    if (refused.empty()) refused = apply(graph_, rule, match, journal_);
    if (!refused.empty()) {
      count(stats.refused, refused);
      return false;
    }
    settle(stats, match.nodes);
    return true;
  }

  bool fold(NodeId node) {
    auto constants = options_.fold(graph_, node);
    if (!constants) return false;
    journal_.begin();
    std::vector<ValueId> made;
    for (size_t i = 0; i < constants->size(); ++i) {
      const ValueId from = graph_.node(node).outputs[i];
      if (!from) continue;
      made.push_back(graph_.add_constant((*constants)[i]));
      if (replace(graph_, from, made.back(), journal_).empty()) continue;
      journal_.constants_made(std::move(made));
      journal_.undo();
      return false;
    }
    ++stats_.rules.back().matches;
    settle(stats_.rules.back(), std::span(&node, 1));
    return true;
  }

  static void count(std::map<std::string, int64_t, std::less<>>& counts, std::string_view reason) {
    const auto it = counts.find(reason);
    if (it != counts.end()) ++it->second;
    else counts.emplace(reason, 1);
  }

  /// After a rewrite: books, limits, who is looked at again, who died.
  void settle(RuleStatistics& stats, std::span<const NodeId> matched) {
    --budget_;
    ++stats.applied;
    stats.added += static_cast<int64_t>(journal_.nodes().size());
    stats_.changed = true;
    limit(stats, matched);
    for (NodeId node : journal_.nodes()) push_with_users(node);
    for (ValueId value : journal_.retyped())
      if (graph_.alive(value)) push_users(value);
    for (const Journal::Edit& e : journal_.edits()) {
      if (e.node) push_with_users(e.node);
      if (!graph_.alive(e.before)) continue;
      push_users(e.before);
      if (const NodeId producer = graph_.value(e.before).producer) work_.push(producer);
    }
    for (NodeId node : matched)
      if (graph_.alive(node) && is_dead(graph_, node)) stats.removed += bury(node);
    for (NodeId node : matched)
      if (graph_.alive(node)) push_with_users(node);
  }

  void limit(RuleStatistics& stats, std::span<const NodeId> matched) {
    int deepest = 0;
    for (NodeId node : matched)
      if (node.slot() < depth_.size()) deepest = std::max(deepest, depth_[node.slot()]);
    for (NodeId node : journal_.nodes()) {
      if (node.slot() >= depth_.size()) depth_.resize(node.slot() + 1);
      depth_[node.slot()] = deepest + 1;
    }
    const bool grown = static_cast<int64_t>(graph_.node_count()) > node_limit_;
    if (deepest < options_.repeats && !grown) return;
    stats.unsettled = true;
    const Node& root = graph_.node(matched[0]);
    stats_.reports.push_back(fmt::format(
        "rule {} does not settle: {} at node '{}' ({}){}; it was left out for the rest of the run", stats.name,
        grown ? fmt::format("the graph grew past {} nodes", node_limit_) : fmt::format("{} rewrites one upon the other", deepest),
        root.name, root.op->name, root.provenance ? fmt::format(", after rule {}", root.provenance->rule) : ""));
  }

  void push_users(ValueId value) {
    for (const ir::Use& use : graph_.value(value).uses) work_.push(use.node);
  }
  void push_with_users(NodeId node) {
    if (!graph_.alive(node)) return;
    work_.push(node);
    for (ValueId v : graph_.node(node).outputs)
      if (v && graph_.value(v).uses.size() <= kManyUsers) push_users(v);
  }

  /// Erases a dead node and what dies with it; who only lost a user is looked at again. Returns how many nodes died.
  int64_t bury(NodeId node) {
    dead_.push_back(node);
    int64_t buried = 0;
    while (!dead_.empty()) {
      const NodeId id = dead_.back();
      dead_.pop_back();
      if (!graph_.alive(id) || !is_dead(graph_, id)) continue;
      const auto operands = graph_.node(id).inputs;
      graph_.erase(id);
      ++buried;
      for (ValueId operand : operands) lost_user(operand);
    }
    return buried;
  }

  void lost_user(ValueId value) {
    if (!value || !graph_.alive(value)) return;
    const Value& v = graph_.value(value);
    if (v.kind == Value::Kind::constant && v.uses.empty()) return graph_.erase_value(value);
    if (v.kind != Value::Kind::result) return;
    if (v.uses.empty()) return dead_.push_back(v.producer);
    work_.push(v.producer);
    if (v.uses.size() <= 2) push_users(value);
  }

  /// A value with more users than this is no part of a local pattern; its users are not looked at again for its sake.
  static constexpr size_t kManyUsers = 64;

  ir::Graph& graph_;
  const RuleSet& rules_;
  const Options& options_;
  int64_t& budget_;
  Journal journal_;
  ir::Listener* outer_;
  Worklist work_;
  Statistics stats_;
  std::vector<uint32_t> candidates_;
  std::vector<NodeId> dead_;  ///< bury: who is still to be looked at
  std::vector<int> depth_;    ///< by slot: rewrites one upon the other
  int64_t node_limit_ = 0;
};

}  // namespace

Result<Statistics> rewrite(ir::Graph& graph, const RuleSet& rules, const Options& options) {
  int64_t budget = options.stop_after;
  return Run(graph, rules, options, budget).run();
}

int64_t remove_dead(ir::Graph& graph) {
  int64_t buried = 0;
  for (NodeId node = graph.last(); node;) {
    const NodeId before = graph.previous(node);
    for (size_t i = 0; i < graph.node(node).bodies.size(); ++i) buried += remove_dead(graph.body(node, i));
    if (is_dead(graph, node)) {
      graph.erase(node);
      ++buried;
    }
    node = before;
  }
  for (ValueId value : graph.values())
    if (graph.value(value).kind == Value::Kind::constant && graph.value(value).uses.empty()) graph.erase_value(value);
  return buried;
}

}  // namespace tenon::rewrite
