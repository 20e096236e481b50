// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/fewest.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "partition/cut/search.h"
#include "partition/cut/sweep.h"

namespace tenon::partition {

namespace {

/// The two targets alternate, `first` first.
Cut alternate(const Problem& problem, const Successors& successors, uint16_t first, uint16_t second) {
  Sweep sweep(problem, successors);
  Cut cut(problem.nodes.size());
  for (uint16_t target = first; sweep.left() > 0; target = target == first ? second : first)
    if (sweep.ready(target)) {
      sweep.take(target, [&](uint32_t n) { cut.place[n] = cut.size(); });
      cut.targets.push_back(target);
    }
  cut.bound = cut.size();
  return cut;
}

/// Each segment is the one that leaves the lowest bound, of those the one of most nodes, of those the one first in priority.
Cut look_ahead(const Problem& problem, const Successors& successors, const Chains& chains) {
  std::vector<Sweep> sweeps(problem.targets, Sweep(problem, successors));  // what has run, and the next segment of that target
  std::vector<Remaining> remaining(problem.targets, Remaining(problem, chains));
  std::vector<std::vector<uint32_t>> next(problem.targets);
  const auto take = [&](uint16_t t, uint32_t n) { remaining[t].remove(problem.nodes[n].target, chains.length(n)); };
  const auto advance = [&](uint16_t t) {
    sweeps[t].take(t, [&](uint32_t n) {
      take(t, n);
      next[t].push_back(n);
    });
  };
  Cut cut(problem.nodes.size());
  for (size_t left = problem.nodes.size(); left > 0;) {
    std::optional<uint16_t> best;
    for (uint16_t t = 0; t < problem.targets; ++t) {
      advance(t);
      if (next[t].empty()) continue;
      const auto rank = [&](uint16_t k) { return std::pair(remaining[k].bound(), std::numeric_limits<size_t>::max() - next[k].size()); };
      if (!best || rank(t) < rank(*best)) best = t;
    }
    const std::vector<uint32_t> done = std::move(next[*best]);
    next[*best].clear();
    for (uint32_t n : done) cut.place[n] = cut.size();
    for (uint16_t t = 0; t < problem.targets; ++t)
      if (t != *best) sweeps[t].mark(done, [&](uint32_t n) { take(t, n); });
    cut.targets.push_back(*best);
    left -= done.size();
  }
  return cut;
}

}  // namespace

Cut fewest_segments(const Problem& problem, uint64_t budget) {
  const Successors successors(problem);
  std::vector<uint16_t> used;
  for (const Problem::Node& n : problem.nodes)
    if (std::ranges::find(used, n.target) == used.end()) used.push_back(n.target);
  std::ranges::sort(used);
  if (used.empty()) return Cut();
  if (used.size() <= 2) {
    Cut one = alternate(problem, successors, used.front(), used.back()), other = alternate(problem, successors, used.back(), used.front());
    return other.size() < one.size() ? other : one;
  }
  const Chains chains(problem);
  return search(problem, chains, look_ahead(problem, successors, chains), budget);
}

}  // namespace tenon::partition
