// SPDX-License-Identifier: Apache-2.0
#include "partition/pose.h"

#include <algorithm>
#include <unordered_map>

#include "partition/by_cost.h"
#include "partition/cut/walk.h"

namespace tenon::partition {

namespace {

Result<void> check_walk(const Problem& problem, const Roles& roles) {
  const bool two = roles.listed == 2 && std::ranges::all_of(problem.nodes, [](const Problem::Node& n) { return n.target < 2; });
  if (two) return {};
  return fail(Code::bad_usage, "--segmenter walk", "the walk shares a graph out over two backends")
      .expected("--backend with two names that run all nodes")
      .advice("leave --segmenter out");
}

}  // namespace

void find_sized(ir::Dependencies& dependencies, std::span<const NodeShare> nodes, const Roles& roles) {
  for (const NodeShare& n : nodes)
    if (n.wanted == n.falls_to && roles.backends[n.wanted]->makes_kernels() && dependencies.told_by_inputs(n.node))
      dependencies.take_from_sizes(n.node);
}

Problem problem_of(const ir::Graph& graph, const ir::Dependencies& dependencies, std::span<const NodeShare> nodes, const Roles& roles) {
  Problem out(roles.count(), roles.fallback());
  std::unordered_map<ir::NodeId, uint32_t> numbers;
  for (const NodeShare& n : nodes) {
    std::vector<uint32_t> needs;
    dependencies.each(n.node, [&](ir::NodeId needed) { needs.push_back(numbers.at(needed)); });
    const uint32_t number = out.add({.target = n.wanted,
                                     .falls_to = n.falls_to,
                                     .counts = n.works,
                                     .pinned = n.stays,
                                     .alone = !graph.node(n.node).bodies.empty(),
                                     .key = std::hash<std::string>()(n.name)},
                                    needs);
    numbers.emplace(n.node, number);
  }
  return out;
}

Result<Settled> cut_as_wished(Problem& problem, const Roles& roles, const Wishes& wishes, const Costs* costs) {
  Settled out;
  const uint32_t least = std::max(1U, wishes.min_block_size);
  if (wishes.segmenter == Segmenter::walk) {
    TRY(check_walk(problem, roles));
    out.lower_bound = fewest(problem).bound;
    out.sized = walk(problem, least);
    return out;
  }
  SizedCut first{fewest(problem), {}};
  out.lower_bound = first.cut.bound;
  out.sized = least > 1 ? cut_of_size(problem, least) : std::move(first);
  if (!costs || wishes.min_block_size > 0) return out;
  while (true) {
    const std::vector<uint32_t> lost = least_paying(*costs, problem, out.sized.cut);
    if (lost.empty()) break;
    for (uint32_t n : lost) problem.nodes[n].target = problem.nodes[n].falls_to;
    out.unpaid.insert(out.unpaid.end(), lost.begin(), lost.end());
    out.sized.cut = fewest(problem);
  }
  std::ranges::sort(out.unpaid);
  return out;
}

}  // namespace tenon::partition
