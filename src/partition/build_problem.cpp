// SPDX-License-Identifier: Apache-2.0
#include "partition/build_problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "partition/by_cost.h"
#include "partition/cut/walk.h"
#include "partition/profitable.h"

namespace tenon::partition {

namespace {

/// Refuses `segmenter walk` for other than two backends.
Result<void> check_walk(const Problem& problem, const Roles& roles) {
  const bool has_two_backends =
      roles.listed == 2 && std::ranges::all_of(problem.nodes, [](const Problem::Node& n) { return n.target < 2; });
  if (has_two_backends) return {};
  return fail(Code::bad_usage, "segmenter walk", "the walk partitions a graph over two backends")
      .expected("two backends that run all nodes")
      .found(roles.listed == 2 ? "nodes that run on a third" : fmt::format("{} backends", roles.listed))
      .advice("leave the segmenter out");
}

constexpr uint32_t kMaxExtendedNodes = 5000;  ///< up to this size the extended search takes less than a second

Cut search_with_budget(const Problem& problem, SearchBudget budget) {
  Cut out = fewest_segments(problem);
  if (out.stopped_after_visits == 0 || budget == SearchBudget::normal || problem.size() > kMaxExtendedNodes) return out;
  const uint64_t first_visits = out.stopped_after_visits;
  out = fewest_segments(problem, 10 * kSearchBudget);
  if (out.stopped_after_visits > 0) out.stopped_after_visits += first_visits;
  return out;
}

}  // namespace

void mark_size_table_nodes(ir::Dependencies& dependencies, std::span<const NodePlacement> nodes, const Roles& roles) {
  for (const NodePlacement& n : nodes)
    if (n.preferred_backend == n.fallback_target && roles.backends[n.preferred_backend]->is_host() &&
        dependencies.follows_from_input_sizes(n.node))
      dependencies.take_from_size_table(n.node);
}

Problem problem_of(const ir::Graph& graph, const ir::Dependencies& dependencies, const Units& units, std::span<const NodePlacement> nodes,
                   const Roles& roles) {
  Problem out(roles.count(), roles.fallback());
  std::vector<uint32_t> unit_of;  // by the node's slot
  for (const NodePlacement& n : nodes) {
    if (n.node.slot() >= unit_of.size()) unit_of.resize(2 * n.node.slot() + 1);
    unit_of[n.node.slot()] = n.unit;
  }
  for (uint32_t unit = 0; unit < units.size(); ++unit) {
    const NodePlacement& first = nodes[units.nodes(unit)[0]];
    Problem::Node merged{.target = first.preferred_backend, .fallback_target = first.fallback_target, .work_nodes = 0};
    std::vector<uint32_t> predecessors;
    for (uint32_t n : units.nodes(unit)) {
      merged.work_nodes += nodes[n].does_work;
      merged.pinned |= nodes[n].is_fixed;
      merged.has_bodies |= !graph.node(nodes[n].node).bodies.empty();
      merged.key += std::hash<std::string>()(nodes[n].name);
      dependencies.each(nodes[n].node, [&](ir::NodeId needed) {
        if (const uint32_t other = unit_of[needed.slot()]; other != unit) predecessors.push_back(other);
      });
    }
    out.add(merged, predecessors);
  }
  return out;
}

Result<CutSolution> solve_cut(Problem& problem, const Roles& roles, const Constraints& constraints, const Costs* costs,
                              SearchBudget budget) {
  CutSolution out;
  const uint32_t min_size = std::max(1U, constraints.min_block_size);
  if (constraints.segmenter == Segmenter::walk) {
    TRY(check_walk(problem, roles));
    out.sized = walk(problem, min_size);
    out.lower_bound = fewest_segments(problem).lower_bound;  // for the targets after the walk
    return out;
  }
  out.sized = min_size > 1 ? cut_of_size(problem, min_size) : SizedCut{search_with_budget(problem, budget), {}};
  while (costs && constraints.min_block_size == 0) {
    const std::vector<uint32_t> unprofitable = unprofitable_units(*costs, problem, out.sized.cut);
    if (unprofitable.empty()) break;
    for (uint32_t n : unprofitable) problem.nodes[n].target = problem.nodes[n].fallback_target;
    out.unprofitable_units.insert(out.unprofitable_units.end(), unprofitable.begin(), unprofitable.end());
    out.sized.cut = fewest_segments(problem);
  }
  std::ranges::sort(out.unprofitable_units);
  out.lower_bound = out.sized.cut.lower_bound;
  out.stopped_after_visits = out.sized.cut.stopped_after_visits;
  return out;
}

}  // namespace tenon::partition
