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

/// What the runs over a graph and its bodies have in common.
struct Shared {
  int64_t budget = 0;          ///< rewrites left
  int64_t applied = 0;         ///< rewrites so far
  std::vector<bool> left_out;  ///< by rule: it broke a promise, or a limit
};

/// Order sweep: a rule and a node that it may begin at.
struct RulePlace {
  uint32_t rule, at;  ///< at: in the graph's order
  NodeId node;
};

/// One run over one graph (bodies have runs of their own).
class Run {
 public:
  Run(ir::Graph& graph, const RuleSet& rules, const Options& options, Shared& shared);
  ~Run() { graph_.set_listener(outer_); }
  Run(const Run&) = delete;

  Result<Statistics> run();

 private:
  Result<void> bodies();
  Result<bool> one_sweep();     ///< true where the graph changed
  Result<bool> work_through();  ///< one pass of the worklist; the same
  Result<bool> sweep();
  Result<std::vector<RulePlace>> candidate_places();
  void screen(uint32_t index, std::vector<RulePlace>& places);
  std::vector<RulePlace> matching_apart(std::span<const RulePlace> places);
  bool carry_out_all(std::span<const RulePlace> places);
  Result<bool> in_turn();
  void report_unsettled(std::span<const int64_t> applied_before);
  void push_all();
  bool visit(NodeId node);
  bool attempt(uint32_t index, NodeId node);
  bool fold(NodeId node);
  bool may_run(uint32_t index) const;
  void enter_probe(uint32_t index, NodeId node) const;  ///< who watches that the rule is about to have the word
  bool is_kept(NodeId node) const;
  Result<void> check_cancelled() const;

  /// Decides; books what is refused or broken. True where the match may be carried out.
  bool decide(uint32_t index, Match& match);
  /// Carries out; books; false where it was refused after all.
  bool carry_out(uint32_t index, Match& match);
  void book(uint32_t index, const Outcome& outcome, NodeId root);
  void disable_rule(uint32_t index, std::string sentence);

  void record_rewrite(uint32_t index, std::span<const NodeId> matched);
  void limit(uint32_t index, std::span<const NodeId> matched);
  void push_users(ValueId value);
  void push_with_users(NodeId node);
  int64_t erase_dead(NodeId node);
  void on_use_removed(ValueId value);

  ir::Graph& graph_;
  const RuleSet& rules_;
  const Options& options_;
  Shared& shared_;
  Journal journal_;
  ir::Listener* outer_;
  Attempt attempt_;
  Worklist work_;
  History history_;
  Statistics stats_;
  std::vector<uint32_t> candidates_;
  std::vector<NodeId> dead_;  ///< nodes that erase_dead() has still to visit
  std::set<std::pair<uint32_t, NodeId>>
      futile_;  ///< order sweep: matches (rule, root) that could not be carried out since the last rewrite
  int64_t node_limit_ = 0;
  Clock::time_point mark_;  ///< with timing: when the last attempt ended, or the first at the node began
};

}  // namespace tenon::rewrite
