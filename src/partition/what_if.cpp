// SPDX-License-Identifier: Apache-2.0
#include "partition/what_if.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "partition/by_cost.h"

namespace tenon::partition {

namespace {

/// Who reads what, as numbers of units.
struct Reading {
  ir::ValueId value;
  uint32_t maker, reader;
};

std::vector<Reading> readings_of(const ir::Graph& graph, const ir::Dependencies& dependencies, const Shares& shares) {
  std::unordered_map<ir::NodeId, uint32_t> unit_of;
  for (const NodeShare& n : shares.nodes) unit_of.emplace(n.node, n.unit);
  std::vector<Reading> out;
  for (const NodeShare& n : shares.nodes) {
    if (dependencies.takes_from_sizes(n.node)) continue;
    for (ir::ValueId v : graph.node(n.node).inputs)
      if (v && graph.value(v).kind == ir::Value::Kind::result && !graph.value(v).constant)
        out.push_back({v, unit_of.at(graph.value(v).producer), n.unit});
  }
  return out;
}

int64_t count_borders(std::span<const Reading> readings, const Cut& cut) {
  std::set<std::pair<ir::ValueId, uint32_t>> seen;
  for (const Reading& r : readings)
    if (cut.place[r.maker] != cut.place[r.reader]) seen.emplace(r.value, cut.place[r.reader]);
  return static_cast<int64_t>(seen.size());
}

}  // namespace

Result<std::vector<WhatIf>> what_if(const ir::Graph& graph, const Shares& shares, const Roles& roles, const Wishes& wishes) {
  std::vector<WhatIf> out;
  if (roles.fallback() == 0) return out;
  std::map<std::string, std::vector<uint32_t>> others;
  for (uint32_t n = 0; n < shares.nodes.size(); ++n)
    if (shares.nodes[n].works && !roles.is_accelerated(shares.nodes[n].wanted))
      others[op_name(*graph.node(shares.nodes[n].node).op)].push_back(n);
  ir::Dependencies dependencies(graph);
  find_sized(dependencies, shares.nodes, roles);
  const std::vector<Reading> readings = readings_of(graph, dependencies, shares);
  const Units units(shares.nodes);
  const Problem problem = problem_of(graph, dependencies, units, shares.nodes, roles);
  std::optional<Costs> costs;
  if (wishes.assign == Assign::cost) costs = costs_of(graph, units, shares.nodes, roles);
  const auto borders = [&](Problem changed) -> Result<std::pair<int64_t, size_t>> {
    const Settled settled = TRY(cut_as_wished(changed, roles, wishes, costs ? &*costs : nullptr));
    return std::pair(count_borders(readings, settled.sized.cut), settled.sized.cut.targets.size());
  };
  const auto [now, segments] = TRY(borders(problem));
  for (const auto& [op, nodes] : others) {
    Problem changed = problem;
    for (uint32_t n : nodes) changed.nodes[shares.nodes[n].unit].target = 0;
    const auto [then, left] = TRY(borders(std::move(changed)));
    out.push_back({op, now - then, left});
  }
  std::ranges::sort(out, {}, [](const WhatIf& w) { return std::pair(-w.borders_removed, w.op); });
  return out;
}

}  // namespace tenon::partition
