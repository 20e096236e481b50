// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "partition/assign/costs.h"
#include "partition/cut/problem.h"

namespace tenon::partition {

/// Each earlier node is needed with probability 2/n (sparse), or each of the six before it with 0.3 (window).
enum class Kind { sparse, window };

using Draw = std::mt19937_64;
inline double unit(Draw& draw) { return static_cast<double>(draw() >> 11) * 0x1p-53; }

/// Targets by `target_of(draw)`.
template <typename TargetOf>
Problem random_problem(Draw& draw, Kind kind, uint32_t nodes, uint16_t targets, TargetOf target_of) {
  Problem problem(targets, static_cast<uint16_t>(targets - 1));
  for (uint32_t n = 0; n < nodes; ++n) {
    std::vector<uint32_t> predecessors;
    const uint32_t first = kind == Kind::window && n > 6 ? n - 6 : 0;
    for (uint32_t before = first; before < n; ++before)
      if (unit(draw) < (kind == Kind::window ? 0.3 : 2.0 / nodes)) predecessors.push_back(before);
    problem.add({.target = static_cast<uint16_t>(target_of(draw)), .fallback_target = problem.fallback, .key = n}, predecessors);
  }
  return problem;
}

inline Problem any_targets(Draw& draw, Kind kind, uint32_t nodes, uint16_t targets) {
  return random_problem(draw, kind, nodes, targets, [&](Draw& d) { return d() % targets; });
}

/// Two targets; `share` of the nodes is accelerated.
inline Problem supported(Draw& draw, Kind kind, uint32_t nodes, double share) {
  return random_problem(draw, kind, nodes, 2, [&](Draw& d) { return unit(d) < share ? 0 : 1; });
}

inline double normal(Draw& draw) { return std::sqrt(-2 * std::log(1 - unit(draw))) * std::cos(6.283185307179586 * unit(draw)); }

/// The last target runs everything; the others 8 times faster what they run (85 %), and 0.3 for each node. Times are lognormal, and a
/// transfer takes `transfer` median nodes of the last target.
inline Costs random_costs(Draw& draw, uint16_t targets, uint32_t nodes, double transfer) {
  const Problem problem = any_targets(draw, draw() % 2 ? Kind::window : Kind::sparse, nodes, targets);
  Costs costs(targets, nodes);
  const Successors successors(problem);
  const uint16_t last = static_cast<uint16_t>(targets - 1);
  for (uint32_t n = 0; n < nodes; ++n) {
    costs.run(n, last) = std::exp(normal(draw));
    for (uint16_t t = 0; t < last; ++t)
      if (unit(draw) < 0.85) costs.run(n, t) = costs.run(n, last) / 8 + 0.3;
    costs.values.push_back({.producer = n,
                            .readers = {successors[n].begin(), successors[n].end()},
                            .is_output = successors[n].empty(),
                            .bytes = std::exp(normal(draw))});
  }
  for (uint16_t a = 0; a < targets; ++a)
    for (uint16_t b = 0; b < targets; ++b) costs.link(a, b) = {0, transfer};
  return costs;
}

/// The same problem, its nodes in another order that is legal; keys stay.
inline Problem reordered(Draw& draw, const Problem& problem) {
  const Successors successors(problem);
  std::vector<uint32_t> ready, number(problem.nodes.size());
  std::vector<size_t> waits(problem.nodes.size());
  for (uint32_t n = 0; n < problem.size(); ++n)
    if ((waits[n] = problem.predecessors(n).size()) == 0) ready.push_back(n);
  Problem out(problem.targets, problem.fallback);
  while (!ready.empty()) {
    std::swap(ready[draw() % ready.size()], ready.back());
    const uint32_t n = ready.back();
    ready.pop_back();
    std::vector<uint32_t> predecessors;
    for (uint32_t before : problem.predecessors(n)) predecessors.push_back(number[before]);
    number[n] = out.add(problem.nodes[n], predecessors);
    for (uint32_t f : successors[n])
      if (--waits[f] == 0) ready.push_back(f);
  }
  return out;
}

/// Place and target by key: equal for equal plans of reordered problems, whose keys are 0, 1, ...
inline std::vector<std::pair<uint32_t, uint16_t>> by_key(const Problem& problem, const Cut& cut) {
  std::vector<std::pair<uint32_t, uint16_t>> out(problem.nodes.size());
  for (uint32_t n = 0; n < problem.size(); ++n) out[problem.nodes[n].key] = {cut.segment_of[n], cut.targets[cut.segment_of[n]]};
  return out;
}

}  // namespace tenon::partition
