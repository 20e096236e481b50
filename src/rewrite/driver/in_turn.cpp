// SPDX-License-Identifier: Apache-2.0
// Order `in_turn`: node by node in the graph's order, at each node rule by rule in theirs.
#include <fmt/format.h>

#include "rewrite/driver/run.h"

namespace tenon::rewrite {

Result<bool> Run::run_in_turn() {
  std::vector<NodeId> snapshot;
  for (NodeId node : graph_.nodes()) snapshot.push_back(node);
  std::vector<int64_t> applied_before;
  for (const RuleStatistics& rule : stats_.rules) applied_before.push_back(rule.applied);
  bool changed = false;
  for (NodeId node : snapshot) {
    if (++stats_.visits % 1024 == 0) TRY(check_cancelled());
    if (!graph_.alive(node) || is_kept(node)) continue;
    rules_.candidates(graph_, node, candidates_);
    if (options_.timing) attempt_started_ = Clock::now();
    for (uint32_t index : candidates_) {
      if (!graph_.alive(node) || shared_.budget <= 0) break;
      if (may_run(index)) changed |= attempt(index, node);
    }
  }
  while (worklist_.pop(graph_)) {}  // what a worklist would look at again, the next sweep does
  if (changed && stats_.sweeps == 32 * options_.sweeps) report_unsettled(applied_before);
  return changed;
}

void Run::report_unsettled(std::span<const int64_t> applied_before) {
  std::string names;
  for (size_t k = 0; k < applied_before.size(); ++k)
    if (stats_.rules[k].applied > applied_before[k]) names += (names.empty() ? "" : ", ") + stats_.rules[k].name;
  stats_.reports.push_back(fmt::format("the run ended after {} sweeps with a rewrite each; the last one was by {}", stats_.sweeps, names));
}

}  // namespace tenon::rewrite
