// SPDX-License-Identifier: Apache-2.0
#include "partition/pose.h"

#include <algorithm>
#include <unordered_map>

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

Result<Settled> cut_as_wished(Problem& problem, const Roles& roles, const Wishes& wishes) {
  Settled out;
  if (wishes.segmenter == Segmenter::walk) {
    TRY(check_walk(problem, roles));
    Problem whole = problem;
    out.lower_bound = fewest(whole).bound;
    out.sized = walk(problem, wishes.min_block_size);
    return out;
  }
  SizedCut first{fewest(problem), {}};
  out.lower_bound = first.cut.bound;
  out.sized = wishes.min_block_size > 1 ? cut_of_size(problem, wishes.min_block_size) : std::move(first);
  return out;
}

}  // namespace tenon::partition
