// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/least_size.h"

#include <algorithm>

#include "partition/cut/fewest.h"
#include "partition/cut/fill.h"

namespace tenon::partition {

namespace {

/// The segments that are given up: the smallest, the first of equal ones; of many a sixteenth.
std::vector<uint32_t> given_up(const Problem& problem, const Cut& cut, uint32_t least) {
  const std::vector<bool> is_large = large_enough(problem, cut, least);
  std::vector<uint32_t> counted(cut.size()), small;
  for (uint32_t n = 0; n < problem.size(); ++n) counted[cut.place[n]] += problem.nodes[n].counts;
  for (uint32_t s = 0; s < cut.size(); ++s)
    if (!is_large[s]) small.push_back(s);
  std::ranges::sort(small, {}, [&](uint32_t s) { return std::pair(counted[s], s); });
  small.resize((small.size() + 15) / 16);
  return small;
}

}  // namespace

SizedCut cut_of_size(Problem& problem, uint32_t least, uint64_t budget) {
  SizedCut out{fewest_segments(problem, budget), {}};
  if (least <= 1) return out;
  while (true) {
    fill(problem, out.cut, least);
    const std::vector<uint32_t> lost = given_up(problem, out.cut, least);
    if (lost.empty()) break;
    std::vector<bool> gone(out.cut.size());
    for (uint32_t s : lost) gone[s] = true;
    for (uint32_t n = 0; n < problem.size(); ++n) {
      if (!gone[out.cut.place[n]]) continue;
      problem.nodes[n].target = problem.nodes[n].falls_to;
      out.dropped.push_back(n);
    }
    out.cut = fewest_segments(problem, budget);
  }
  std::ranges::sort(out.dropped);
  return out;
}

}  // namespace tenon::partition
