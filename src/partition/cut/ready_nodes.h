// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/problem.h"

namespace tenon::partition {

/// Tracks which nodes of a problem have run and which are ready (all predecessors have run), by target. Cost: linear over all calls.
class ReadyNodes {
 public:
  ReadyNodes(const Problem& problem, const Successors& successors)
      : problem_(&problem), successors_(&successors), missing_(problem.nodes.size()), ready_(problem.targets) {
    remaining_ = problem.nodes.size();
    for (uint32_t n = 0; n < problem.size(); ++n) {
      missing_[n] = static_cast<uint32_t>(problem.predecessors(n).size());
      if (missing_[n] == 0) ready_[problem.nodes[n].target].push_back(n);
    }
  }

  /// The number of nodes that have not run.
  size_t remaining() const { return remaining_; }
  bool has_ready(uint16_t target) const { return !ready_[target].empty(); }
  /// Runs all nodes of the target that are ready or become ready; calls `visit` for each.
  template <typename Visit>
  void run_all_ready(uint16_t target, Visit visit) {
    for (std::vector<uint32_t>& list = ready_[target]; !list.empty();) {
      const uint32_t n = list.back();
      list.pop_back();
      if (missing_[n] == kDone) continue;
      visit(n);
      done(n);
    }
  }
  /// Marks nodes as run and calls `visit` for each that had not run.
  template <typename Visit>
  void mark_run(std::span<const uint32_t> nodes, Visit visit) {
    for (uint32_t n : nodes) {
      if (missing_[n] == kDone) continue;
      visit(n);
      done(n);
    }
  }

 private:
  static constexpr uint32_t kDone = UINT32_MAX;

  void done(uint32_t node) {
    missing_[node] = kDone;
    --remaining_;
    for (uint32_t f : (*successors_)[node])
      if (missing_[f] != kDone && --missing_[f] == 0) ready_[problem_->nodes[f].target].push_back(f);
  }

  const Problem* problem_;
  const Successors* successors_;
  std::vector<uint32_t> missing_;  ///< per node: predecessors that have not run; kDone: it has run
  std::vector<std::vector<uint32_t>> ready_;
  size_t remaining_;
};

}  // namespace tenon::partition
