// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rewrite/driver/driver.h"
#include "rewrite/driver/history.h"
#include "rewrite/driver/journal.h"
#include "rewrite/driver/worklist.h"

namespace tenon::rewrite {

using Clock = std::chrono::steady_clock;

/// The state that the run over a graph shares with the runs over its bodies.
struct SharedRunState {
  int64_t budget = 0;          ///< rewrites left
  int64_t applied = 0;         ///< rewrites so far
  std::vector<bool> left_out;  ///< by rule: it is disabled, because it broke a promise or reached a limit
};

/// Order sweep: a rule and a node at which it may match.
struct RulePlace {
  uint32_t rule, position;  ///< position: of the node, in the graph's order
  NodeId node;
};

/// One run over one graph (bodies have runs of their own).
class Run {
 public:
  Run(ir::Graph& graph, const RuleSet& rules, const Options& options, SharedRunState& shared);
  ~Run() { graph_.set_listener(outer_listener_); }
  Run(const Run&) = delete;

  Result<Statistics> run();

 private:
  Result<void> run_bodies();
  // The functions that return Result<bool> return whether the graph changed.
  Result<bool> run_one_sweep();
  Result<bool> run_worklist();  ///< from all nodes until it is empty
  Result<bool> sweep();         ///< one sweep of the order `sweep`
  Result<std::vector<RulePlace>> candidate_places();
  void screen(uint32_t index, std::vector<RulePlace>& places);
  std::vector<RulePlace> select_disjoint_matches(std::span<const RulePlace> places);
  bool carry_out_matches(std::span<const RulePlace> places);
  Result<bool> run_in_turn();  ///< one sweep of the order `in_turn`
  void report_unsettled(std::span<const int64_t> applied_before);
  void push_all();
  bool visit(NodeId node);
  bool attempt(uint32_t index, NodeId node);
  bool fold(NodeId node);
  bool may_run(uint32_t index) const;
  void record_progress(uint32_t index, NodeId node) const;  ///< in Options::progress
  bool is_kept(NodeId node) const;
  Result<void> check_cancelled() const;

  /// Attempt::decide with statistics. True where the match may be carried out.
  bool decide(uint32_t index, Match& match);
  /// Attempt::carry_out with statistics; then queues the affected nodes and erases dead ones. True where the rewrite was applied.
  bool carry_out(uint32_t index, Match& match);
  /// Counts the reason; disables a rule that is broken.
  void record_refusal(uint32_t index, const Outcome& outcome, NodeId root);
  void disable_rule(uint32_t index, std::string sentence);

  void record_rewrite(uint32_t index, std::span<const NodeId> matched);
  /// Disables the rule where its rewrites chain too long or the graph has grown too large.
  void apply_limits(uint32_t index, std::span<const NodeId> matched);
  void push_users(ValueId value);
  void push_with_users(NodeId node);
  int64_t erase_dead(NodeId node);
  /// Queues or erases the producer of a value that has lost a user.
  void on_use_removed(ValueId value);

  ir::Graph& graph_;
  const RuleSet& rules_;
  const Options& options_;
  SharedRunState& shared_;
  Journal journal_;
  ir::Listener* outer_listener_;  ///< the graph's listener before the run
  Attempt attempt_;
  Worklist worklist_;
  History history_;
  Statistics stats_;
  std::vector<uint32_t> candidates_;
  std::vector<NodeId> dead_;  ///< worklist of erase_dead()
  std::set<std::pair<uint32_t, NodeId>>
      failed_matches_;  ///< order sweep: matches (rule, root) that could not be carried out since the last rewrite
  int64_t node_limit_ = 0;
  Clock::time_point attempt_started_;  ///< with timing: when the current attempt began
};

}  // namespace tenon::rewrite
