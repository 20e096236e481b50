// SPDX-License-Identifier: Apache-2.0
#include "partition/cut/fewest.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "partition/cut/ready_nodes.h"
#include "partition/cut/search.h"

namespace tenon::partition {

namespace {

/// A cut whose segments alternate between two targets, from `first` on.
Cut alternate(const Problem& problem, const Successors& successors, uint16_t first, uint16_t second) {
  ReadyNodes ready_nodes(problem, successors);
  Cut cut(problem.nodes.size());
  for (uint16_t target = first; ready_nodes.remaining() > 0; target = target == first ? second : first)
    if (ready_nodes.has_ready(target)) {
      ready_nodes.run_all_ready(target, [&](uint32_t n) { cut.segment_of[n] = cut.size(); });
      cut.targets.push_back(target);
    }
  cut.lower_bound = cut.size();
  return cut;
}

/// A greedy cut: each segment is the one after which the lower bound for the rest is least; ties: most nodes, then highest priority.
Cut greedy_cut(const Problem& problem, const Successors& successors, const Chains& chains) {
  std::vector<ReadyNodes> ready_nodes(problem.targets, ReadyNodes(problem, successors));  // per target: as if its next segment had run
  std::vector<Remaining> remaining(problem.targets, Remaining(problem, chains));
  std::vector<std::vector<uint32_t>> next(problem.targets);  // per target: the nodes of its next segment
  const auto mark_run = [&](uint16_t t, uint32_t n) { remaining[t].remove(problem.nodes[n].target, chains.length(n)); };
  const auto advance = [&](uint16_t t) {
    ready_nodes[t].run_all_ready(t, [&](uint32_t n) {
      mark_run(t, n);
      next[t].push_back(n);
    });
  };
  Cut cut(problem.nodes.size());
  for (size_t left = problem.nodes.size(); left > 0;) {
    std::optional<uint16_t> best;
    for (uint16_t t = 0; t < problem.targets; ++t) {
      advance(t);
      if (next[t].empty()) continue;
      const auto rank_of = [&](uint16_t k) { return std::pair(remaining[k].bound(), std::numeric_limits<size_t>::max() - next[k].size()); };
      if (!best || rank_of(t) < rank_of(*best)) best = t;
    }
    const std::vector<uint32_t> done = std::move(next[*best]);
    next[*best].clear();
    for (uint32_t n : done) cut.segment_of[n] = cut.size();
    for (uint16_t t = 0; t < problem.targets; ++t)
      if (t != *best) ready_nodes[t].mark_run(done, [&](uint32_t n) { mark_run(t, n); });
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
    Cut cut = alternate(problem, successors, used.front(), used.back()), other = alternate(problem, successors, used.back(), used.front());
    return other.size() < cut.size() ? other : cut;
  }
  const Chains chains(problem);
  return search(problem, chains, greedy_cut(problem, successors, chains), budget);
}

}  // namespace tenon::partition
