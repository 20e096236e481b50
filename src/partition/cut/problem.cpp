// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/problem.h"

#include <algorithm>

#include "base/result.h"

namespace tenon::partition {

uint32_t Problem::add(Node node, std::span<const uint32_t> predecessors) {
  const uint32_t id = size();
  const auto first = static_cast<std::ptrdiff_t>(edges_.size());
  edges_.insert(edges_.end(), predecessors.begin(), predecessors.end());
  std::sort(edges_.begin() + first, edges_.end());
  edges_.erase(std::unique(edges_.begin() + first, edges_.end()), edges_.end());
  TENON_ASSERT(node.target < targets && (edges_.size() == static_cast<size_t>(first) || edges_.back() < id));
  first_.push_back(static_cast<uint32_t>(edges_.size()));
  nodes.push_back(node);
  return id;
}

Successors::Successors(const Problem& problem) : first_(problem.nodes.size() + 1) {
  for (uint32_t n = 0; n < problem.size(); ++n)
    for (uint32_t before : problem.predecessors(n)) ++first_[before + 1];
  for (size_t n = 1; n < first_.size(); ++n) first_[n] += first_[n - 1];
  edges_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (uint32_t n = 0; n < problem.size(); ++n)
    for (uint32_t before : problem.predecessors(n)) edges_[next[before]++] = n;
}

bool is_legal(const Problem& problem, const Cut& cut) {
  if (cut.segment_of.size() != problem.nodes.size()) return false;
  std::vector<bool> is_used(cut.size());
  for (uint32_t n = 0; n < problem.size(); ++n) {
    const uint32_t segment = cut.segment_of[n];
    if (segment >= cut.size() || cut.targets[segment] != problem.nodes[n].target) return false;
    if (!std::ranges::all_of(problem.predecessors(n), [&](uint32_t before) { return cut.segment_of[before] <= segment; })) return false;
    is_used[segment] = true;
  }
  return std::ranges::all_of(is_used, [](bool used) { return used; });
}

}  // namespace tenon::partition
