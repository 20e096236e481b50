// SPDX-License-Identifier: Apache-2.0
#include "rewrite/driver/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "rewrite/driver/replace.h"
#include "rewrite/driver/run.h"
#include "rewrite/driver/run_progress.h"

namespace tenon::rewrite {
namespace {

double ms_since(Clock::time_point start) { return std::chrono::duration<double, std::milli>(Clock::now() - start).count(); }

void count(std::map<std::string, int64_t, std::less<>>& counts, std::string_view reason) {
  const auto it = counts.find(reason);
  if (it != counts.end()) ++it->second;
  else counts.emplace(reason, 1);
}

}  // namespace

Run::Run(ir::Graph& graph, const RuleSet& rules, const Options& options, SharedRunState& shared)
    : graph_(graph),
      rules_(rules),
      options_(options),
      shared_(shared),
      journal_(graph),
      outer_listener_(graph.listener()),
      attempt_(graph, journal_, options.check) {
  stats_.rules.resize(rules.size() + 1);
  for (size_t i = 0; i < rules.size(); ++i) {
    stats_.rules[i].name = rules[i].name;
    stats_.rules[i].sets = rules[i].sets;
  }
  for (size_t i = 0; i < rules.size(); ++i) stats_.rules[i].left_out = shared.left_out[i];
  stats_.rules.back().name = "fold_constants";
  stats_.nodes_before = static_cast<int64_t>(graph.node_count());
  node_limit_ = options.growth * stats_.nodes_before + 10000;
  graph_.set_listener(&journal_);
}

Result<Statistics> Run::run() {
  const auto start = Clock::now();
  if (options_.bodies) TRY(run_bodies());
  const int limit = std::min(options_.iterations, options_.order == Order::worklist ? options_.sweeps : 32 * options_.sweeps);
  for (bool again = true; again && stats_.sweeps < limit && shared_.budget > 0;) {
    ++stats_.sweeps;
    again = TRY(run_one_sweep());
  }
  stats_.nodes_after += static_cast<int64_t>(graph_.node_count());
  stats_.ms = ms_since(start);
  return std::move(stats_);
}

Result<bool> Run::run_one_sweep() {
  switch (options_.order) {
    case Order::worklist: return run_worklist();
    case Order::sweep: return sweep();
    case Order::in_turn: return run_in_turn();
  }
  return false;
}

Result<void> Run::run_bodies() {
  for (NodeId node : graph_.nodes()) {
    for (size_t i = 0; i < graph_.node(node).bodies.size(); ++i) {
      Run inner(graph_.body(node, i), rules_, options_, shared_);
      stats_.add(TRY(inner.run()));
    }
  }
  stats_.sweeps = 0;
  return {};
}

Result<void> Run::check_cancelled() const {
  if (options_.cancelled && options_.cancelled()) return fail(Code::cancelled, "", "rewriting was cancelled");
  return {};
}

void Run::push_all() {
  if (options_.shuffle_seed == 0) {
    for (NodeId node : graph_.nodes()) worklist_.push(node);
    return;
  }
  std::vector<NodeId> nodes;
  for (NodeId node : graph_.nodes()) nodes.push_back(node);
  std::ranges::shuffle(nodes, std::mt19937_64(options_.shuffle_seed));
  for (NodeId node : nodes) worklist_.push(node);
}

Result<bool> Run::run_worklist() {
  bool changed = false;
  push_all();
  while (NodeId node = worklist_.pop(graph_)) {
    if (++stats_.visits % 1024 == 0) TRY(check_cancelled());
    changed |= visit(node);
    if (shared_.budget <= 0) break;
  }
  return changed;
}

/// True where the graph changed.
bool Run::visit(NodeId node) {
  if (is_kept(node)) return false;
  if (is_dead(graph_, node)) {
    erase_dead(node);
    stats_.changed = true;
    return true;
  }
  if (options_.fold && fold(node)) return true;
  rules_.candidates(graph_, node, candidates_);
  if (options_.timing) attempt_started_ = Clock::now();
  for (uint32_t index : candidates_)
    if (may_run(index) && attempt(index, node)) return true;
  return false;
}

bool Run::may_run(uint32_t index) const {
  return !shared_.left_out[index] && rules_[index].numerics <= options_.allowed && !rules_[index].analyse;
}

bool Run::attempt(uint32_t index, NodeId node) {
  Match match(graph_, node, options_.args);
  const bool done = decide(index, match) && carry_out(index, match);
  if (options_.timing) {
    const auto now = Clock::now();
    stats_.rules[index].ms += std::chrono::duration<double, std::milli>(now - attempt_started_).count();
    attempt_started_ = now;
  }
  return done;
}

bool Run::decide(uint32_t index, Match& match) {
  RuleStatistics& stats = stats_.rules[index];
  ++stats.tried;
  record_progress(index, match.root());
  Outcome outcome = attempt_.decide(rules_[index], match);
  const bool is_protected = !options_.keep.empty() && std::ranges::any_of(match.nodes, [&](NodeId n) { return is_kept(n); });
  if (outcome.kind == Outcome::Kind::applied && is_protected) outcome = {Outcome::Kind::refused, "a node of the match is protected"};
  if (outcome.kind != Outcome::Kind::no_match && !rules_[index].match_and_rewrite) ++stats.matches;
  if (outcome.kind == Outcome::Kind::applied) return true;
  record_refusal(index, outcome, match.root());
  return false;
}

void Run::record_progress(uint32_t index, NodeId node) const {
  if (options_.progress) options_.progress->enter(index, graph_, node);
}

bool Run::carry_out(uint32_t index, Match& match) {
  record_progress(index, match.root());
  const Outcome outcome = attempt_.carry_out(rules_[index], match);
  if (outcome.kind != Outcome::Kind::no_match && rules_[index].match_and_rewrite) ++stats_.rules[index].matches;
  if (outcome.kind != Outcome::Kind::applied) {
    record_refusal(index, outcome, match.root());
    return false;
  }
  --shared_.budget;
  if (options_.applied) options_.applied({graph_, rules_[index], match, journal_.inserted_nodes(), shared_.applied, stats_.sweeps});
  ++shared_.applied;
  record_rewrite(index, match.nodes);
  return true;
}

void Run::record_refusal(uint32_t index, const Outcome& outcome, NodeId root) {
  if (!outcome.reason.empty()) count(stats_.rules[index].refused, outcome.reason);
  if (outcome.kind != Outcome::Kind::broken) return;
  const Node& node = graph_.node(root);
  disable_rule(index, fmt::format("rule {} was undone and left out: {}, at node '{}' ({})", rules_[index].name, outcome.reason,
                                  graph_.node(root).name, node.op->name));
}

void Run::disable_rule(uint32_t index, std::string sentence) {
  stats_.rules[index].left_out = true;
  shared_.left_out[index] = true;
  stats_.reports.push_back(std::move(sentence));
}

bool Run::is_kept(NodeId node) const { return rewrite::is_kept(graph_, node, options_.keep); }

bool Run::fold(NodeId node) {
  auto constants = options_.fold(graph_, node);
  if (!constants) return false;
  journal_.begin();
  for (size_t i = 0; i < constants->size(); ++i) {
    const ValueId from = graph_.node(node).outputs[i];
    if (!from || try_replace_all_uses(graph_, from, graph_.add_constant((*constants)[i]), journal_).empty()) continue;
    journal_.undo();
    return false;
  }
  ++stats_.rules.back().matches;
  record_rewrite(static_cast<uint32_t>(rules_.size()), std::span(&node, 1));
  return true;
}

Result<Statistics> rewrite(ir::Graph& graph, const RuleSet& rules, const Options& options) {
  SharedRunState shared{options.stop_after, 0, std::vector<bool>(rules.size() + 1)};
  for (size_t i = 0; i < rules.size(); ++i) shared.left_out[i] = options.without.contains(rules[i].name);
  return Run(graph, rules, options, shared).run();
}

int64_t eliminate_dead_code(ir::Graph& graph, const NameSet& keep) {
  int64_t erased = 0;
  for (NodeId node = graph.last(); node;) {
    const NodeId before = graph.previous(node);
    for (size_t i = 0; i < graph.node(node).bodies.size(); ++i) erased += eliminate_dead_code(graph.body(node, i), keep);
    if (is_dead(graph, node) && !is_kept(graph, node, keep)) {
      graph.erase(node);
      ++erased;
    }
    node = before;
  }
  for (ValueId value : graph.values())
    if (graph.value(value).kind == Value::Kind::constant && graph.value(value).uses.empty()) graph.erase_value(value);
  return erased;
}

}  // namespace tenon::rewrite
