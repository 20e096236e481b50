// SPDX-License-Identifier: Apache-2.0
#include "compiler/guessed_shares.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::compiler {

namespace {

void add_costs(const program::LoweredGraph& lowered, const backend::Backends& backends, std::map<std::string, double>& costs) {
  std::unordered_map<ir::NodeId, std::string_view> owners;
  for (const ir::Segment& s : lowered.kernels.plan.segments)
    for (ir::NodeId n : s.nodes) owners.emplace(n, s.backend);
  for (ir::NodeId n : lowered.graph->nodes()) {
    const auto found = owners.find(n);
    const backend::Backend& runs =
        found == owners.end() ? backend::host_of(backends) : **std::ranges::find(backends, found->second, &backend::Backend::name);
    costs[std::string(runs.name())] += runs.cost(*lowered.graph, n);
  }
  for (const auto& [node, bodies] : lowered.bodies)
    for (const program::LoweredGraph& body : bodies) add_costs(body, backends, costs);
}

bool has_segments(const program::LoweredGraph& lowered) {
  return !lowered.kernels.plan.segments.empty() ||
         std::ranges::any_of(lowered.bodies, [](const auto& of_node) { return std::ranges::any_of(of_node.second, has_segments); });
}

}  // namespace

std::map<std::string, double> guessed_shares(const program::LoweredGraph& lowered, const backend::Backends& backends) {
  std::map<std::string, double> out;
  if (!has_segments(lowered)) return out;
  add_costs(lowered, backends, out);
  double all = 0;
  for (const auto& [name, cost] : out) all += cost;
  for (auto& [name, cost] : out) cost = all > 0 ? cost / all : 0;
  return out;
}

}  // namespace tenon::compiler
