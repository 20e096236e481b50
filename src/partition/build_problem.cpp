// SPDX-License-Identifier: Apache-2.0
#include "partition/build_problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "partition/by_cost.h"
#include "partition/cut/walk.h"
#include "partition/profitable.h"

namespace tenon::partition {

namespace {

Result<void> check_walk(const Problem& problem, const Roles& roles) {
  const bool two = roles.listed == 2 && std::ranges::all_of(problem.nodes, [](const Problem::Node& n) { return n.target < 2; });
  if (two) return {};
  return fail(Code::bad_usage, "segmenter walk", "the walk partition a graph out over two backends")
      .expected("two backends that run all nodes")
      .found(roles.listed == 2 ? "nodes that run on a third" : fmt::format("{} backends", roles.listed))
      .advice("leave the segmenter out");
}

constexpr uint32_t kSmall = 5000;  ///< nodes: ten times the effort is some tenths of a second there

Cut searched(const Problem& problem, SearchBudget budget) {
  Cut out = fewest_segments(problem);
  if (out.given_up_after == 0 || budget == SearchBudget::normal || problem.size() > kSmall) return out;
  const uint64_t before = out.given_up_after;
  out = fewest_segments(problem, 10 * kSearchBudget);
  if (out.given_up_after > 0) out.given_up_after += before;
  return out;
}

}  // namespace

void find_sized(ir::Dependencies& dependencies, std::span<const NodePlacement> nodes, const Roles& roles) {
  for (const NodePlacement& n : nodes)
    if (n.wanted == n.falls_to && roles.backends[n.wanted]->is_host() && dependencies.follows_from_input_sizes(n.node))
      dependencies.take_from_sizes(n.node);
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
    Problem::Node sum{.target = first.wanted, .falls_to = first.falls_to, .counts = 0};
    std::vector<uint32_t> predecessors;
    for (uint32_t n : units.nodes(unit)) {
      sum.counts += nodes[n].works;
      sum.pinned |= nodes[n].stays;
      sum.alone |= !graph.node(nodes[n].node).bodies.empty();
      sum.key += std::hash<std::string>()(nodes[n].name);
      dependencies.each(nodes[n].node, [&](ir::NodeId needed) {
        if (const uint32_t other = unit_of[needed.slot()]; other != unit) predecessors.push_back(other);
      });
    }
    out.add(sum, predecessors);
  }
  return out;
}

Result<CutSolution> solve_cut(Problem& problem, const Roles& roles, const Constraints& constraints, const Costs* costs,
                              SearchBudget budget) {
  CutSolution out;
  const uint32_t least = std::max(1U, constraints.min_block_size);
  if (constraints.segmenter == Segmenter::walk) {
    TRY(check_walk(problem, roles));
    out.sized = walk(problem, least);
    out.lower_bound = fewest_segments(problem).bound;  // of the targets that the walk left
    return out;
  }
  out.sized = least > 1 ? cut_of_size(problem, least) : SizedCut{searched(problem, budget), {}};
  while (costs && constraints.min_block_size == 0) {
    const std::vector<uint32_t> lost = unprofitable_units(*costs, problem, out.sized.cut);
    if (lost.empty()) break;
    for (uint32_t n : lost) problem.nodes[n].target = problem.nodes[n].falls_to;
    out.unpaid.insert(out.unpaid.end(), lost.begin(), lost.end());
    out.sized.cut = fewest_segments(problem);
  }
  std::ranges::sort(out.unpaid);
  out.lower_bound = out.sized.cut.bound;
  out.given_up_after = out.sized.cut.given_up_after;
  return out;
}

}  // namespace tenon::partition
