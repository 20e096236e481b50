// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/min_block_size.h"

#include <algorithm>

#include "partition/cut/fewest.h"
#include "partition/cut/fill.h"

namespace tenon::partition {

namespace {

/// The segments to drop next: the smallest (of equal ones the first); a sixteenth of the small ones at once.
std::vector<uint32_t> smallest_segments(const Problem& problem, const Cut& cut, uint32_t min_size) {
  const std::vector<bool> is_large = large_enough(problem, cut, min_size);
  std::vector<uint32_t> work_nodes(cut.size()), small;
  for (uint32_t n = 0; n < problem.size(); ++n) work_nodes[cut.segment_of[n]] += problem.nodes[n].work_nodes;
  for (uint32_t s = 0; s < cut.size(); ++s)
    if (!is_large[s]) small.push_back(s);
  std::ranges::sort(small, {}, [&](uint32_t s) { return std::pair(work_nodes[s], s); });
  small.resize((small.size() + 15) / 16);
  return small;
}

}  // namespace

SizedCut cut_of_size(Problem& problem, uint32_t min_size, uint64_t budget) {
  SizedCut out{fewest_segments(problem, budget), {}};
  if (min_size <= 1) return out;
  while (true) {
    fill_small_segments(problem, out.cut, min_size);
    const std::vector<uint32_t> to_drop = smallest_segments(problem, out.cut, min_size);
    if (to_drop.empty()) break;
    std::vector<bool> is_dropped(out.cut.size());
    for (uint32_t s : to_drop) is_dropped[s] = true;
    for (uint32_t n = 0; n < problem.size(); ++n) {
      if (!is_dropped[out.cut.segment_of[n]]) continue;
      problem.nodes[n].target = problem.nodes[n].fallback_target;
      out.dropped.push_back(n);
    }
    out.cut = fewest_segments(problem, budget);
  }
  std::ranges::sort(out.dropped);
  return out;
}

}  // namespace tenon::partition
