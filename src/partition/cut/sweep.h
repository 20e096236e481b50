// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "partition/cut/problem.h"

namespace tenon::partition {

/// What has run of a problem, and what is ready, by target. Cost: linear for all that is taken and marked together.
class Sweep {
 public:
  Sweep(const Problem& problem, const Successors& successors)
      : problem_(&problem), successors_(&successors), waits_(problem.nodes.size()), ready_(problem.targets) {
    left_ = problem.nodes.size();
    for (uint32_t n = 0; n < problem.size(); ++n) {
      waits_[n] = static_cast<uint32_t>(problem.predecessors(n).size());
      if (waits_[n] == 0) ready_[problem.nodes[n].target].push_back(n);
    }
  }

  size_t left() const { return left_; }
  bool ready(uint16_t target) const { return !ready_[target].empty(); }
  /// All of that target that is ready, and what becomes so by it; `visit` is called with each.
  template <typename Visit>
  void take(uint16_t target, Visit visit) {
    for (std::vector<uint32_t>& list = ready_[target]; !list.empty();) {
      const uint32_t n = list.back();
      list.pop_back();
      if (waits_[n] == kDone) continue;
      visit(n);
      done(n);
    }
  }
  /// Nodes that ran otherwise; those that this one has taken already are passed over.
  template <typename Visit>
  void mark(std::span<const uint32_t> nodes, Visit visit) {
    for (uint32_t n : nodes) {
      if (waits_[n] == kDone) continue;
      visit(n);
      done(n);
    }
  }

 private:
  static constexpr uint32_t kDone = UINT32_MAX;

  void done(uint32_t node) {
    waits_[node] = kDone;
    --left_;
    for (uint32_t f : (*successors_)[node])
      if (waits_[f] != kDone && --waits_[f] == 0) ready_[problem_->nodes[f].target].push_back(f);
  }

  const Problem* problem_;
  const Successors* successors_;
  std::vector<uint32_t> waits_;
  std::vector<std::vector<uint32_t>> ready_;
  size_t left_;
};

}  // namespace tenon::partition
