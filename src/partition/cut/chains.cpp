// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/chains.h"

#include <algorithm>

namespace tenon::partition {

Chains::Chains(const Problem& problem) : length_(problem.nodes.size(), 1) {
  for (uint32_t n = problem.size(); n-- > 0;) {
    longest_ = std::max(longest_, length_[n]);
    for (uint32_t before : problem.predecessors(n))
      length_[before] = std::max(length_[before], length_[n] + (problem.nodes[before].target != problem.nodes[n].target));
  }
}

Remaining::Remaining(const Problem& problem, const Chains& chains)
    : targets_(problem.targets), longest_(chains.longest()), counts_((longest_ + size_t{1}) * targets_) {
  for (uint32_t n = 0; n < problem.size(); ++n) ++count(problem.nodes[n].target, chains.length(n));
}

bool Remaining::any(uint32_t length) const {
  for (uint16_t t = 0; t < targets_; ++t)
    if (count(t, length) > 0) return true;
  return false;
}

void Remaining::remove(uint16_t target, uint32_t length) {
  --count(target, length);
  while (longest_ > 0 && !any(longest_)) --longest_;
}

uint32_t Remaining::bound() const {
  if (longest_ == 0) return 0;
  uint32_t starts = 0;
  for (uint16_t t = 0; t < targets_; ++t) starts += count(t, longest_) > 0;
  return longest_ + (starts > 1);
}

}  // namespace tenon::partition
