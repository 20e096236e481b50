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
struct Edge {
  ir::ValueId value;
  uint32_t maker, reader;
};

std::vector<Edge> readings_of(const ir::Graph& graph, const ir::Dependencies& dependencies, std::span<const NodePlacement> nodes) {
  std::unordered_map<ir::NodeId, uint32_t> unit_of;
  for (const NodePlacement& n : nodes) unit_of.emplace(n.node, n.unit);
  std::vector<Edge> out;
  for (const NodePlacement& n : nodes) {
    if (dependencies.takes_from_sizes(n.node)) continue;
    for (ir::ValueId v : graph.node(n.node).inputs)
      if (v && graph.value(v).kind == ir::Value::Kind::result && !graph.value(v).constant)
        out.push_back({v, unit_of.at(graph.value(v).producer), n.unit});
  }
  return out;
}

int64_t count_borders(std::span<const Edge> edges, const Cut& cut) {
  std::set<std::pair<ir::ValueId, uint32_t>> crossing;
  for (const Edge& r : edges)
    if (cut.place[r.maker] != cut.place[r.reader]) crossing.emplace(r.value, cut.place[r.reader]);
  return static_cast<int64_t>(crossing.size());
}

class WhatIfAnalysis {
 public:
  WhatIfAnalysis(const ir::Graph& graph, const Partition& partition, const Roles& roles, const Constraints& constraints)
      : graph_(graph), shares_(partition), roles_(roles), constraints_(constraints), dependencies_(graph), groups_(atomic_groups(graph)) {
    find_sized(dependencies_, partition.nodes, roles);
  }

  Result<std::vector<WhatIf>> run() {
    std::map<std::string, std::vector<uint32_t>> others;
    for (uint32_t n = 0; n < shares_.nodes.size(); ++n)
      if (shares_.nodes[n].works && !roles_.is_accelerated(shares_.nodes[n].wanted)) others[name_of(n)].push_back(n);
    as_it_is_.emplace(problem_of_cut(shares_.nodes));
    const Outcome now = TRY(outcome(*as_it_is_, as_it_is_->problem));
    std::vector<WhatIf> out;
    for (const auto& [op, nodes] : others) {
      WhatIf row{.op = op, .blocked_by = {}};
      const Outcome then = TRY(simulate(op, nodes, row.blocked_by));
      row.borders_removed = now.borders - then.borders;
      row.segments = then.segments;
      out.push_back(std::move(row));
    }
    std::ranges::sort(out, {}, [](const WhatIf& w) { return std::pair(-w.borders_removed, w.op); });
    return out;
  }

 private:
  struct Outcome {
    int64_t borders;
    size_t segments;
  };
  /// What is cut.
  struct CutProblem {
    std::vector<Edge> edges;
    Problem problem;
    std::optional<Costs> costs;
  };

  /// It was accelerated before.
  bool is_one_unit(const AtomicGroup& kept) const {
    const auto unit = [&](uint32_t n) { return shares_.nodes[n].unit; };
    return kept.nodes.size() > 1 && std::ranges::all_of(kept.nodes, [&](uint32_t n) { return unit(n) == unit(kept.nodes[0]); });
  }

  std::string name_of(uint32_t n) const { return op_name(*graph_.node(shares_.nodes[n].node).op); }

  CutProblem problem_of_cut(std::span<const NodePlacement> nodes) const {
    const Units units(nodes);
    CutProblem out{readings_of(graph_, dependencies_, nodes), problem_of(graph_, dependencies_, units, nodes, roles_), {}};
    if (constraints_.assign == Assign::cost) out.costs = costs_of(graph_, units, nodes, roles_);
    return out;
  }

  Result<Outcome> outcome(const CutProblem& problem_of_cut, Problem changed) const {
    const CutSolution solution = TRY(solve_cut(changed, roles_, constraints_, problem_of_cut.costs ? &*problem_of_cut.costs : nullptr));
    return Outcome{count_borders(problem_of_cut.edges, solution.sized.cut), solution.sized.cut.targets.size()};
  }

  /// The first backend has the op. What its nodes are kept with goes there too, where it runs that; else they stay.
  Result<Outcome> simulate(const std::string& op, const std::vector<uint32_t>& nodes, std::vector<std::string>& blocked_by) const {
    std::vector<uint32_t> alone = nodes;
    std::vector<AtomicGroup> moved;
    for (const AtomicGroup& kept : groups_) {
      if (std::erase_if(alone, [&](uint32_t n) { return std::ranges::binary_search(kept.nodes, n); }) == 0) continue;
      bool may = !kept.open;
      for (uint32_t n : kept.nodes)
        if (const std::string mate = name_of(n); mate != op && !shares_.nodes[n].first_may) {
          may = false;
          if (std::ranges::find(blocked_by, mate) == blocked_by.end()) blocked_by.push_back(mate);
        }
      if (may) moved.push_back(kept);
    }
    if (!moved.empty()) return together(std::move(moved), alone);
    Problem changed = as_it_is_->problem;
    for (uint32_t n : alone) changed.nodes[shares_.nodes[n].unit].target = 0;
    return outcome(*as_it_is_, std::move(changed));
  }

  /// Units are others than they were.
  Result<Outcome> together(std::vector<AtomicGroup> moved, const std::vector<uint32_t>& alone) const {
    std::vector<NodePlacement> nodes = shares_.nodes;
    for (uint32_t n : alone) nodes[n].wanted = 0;
    for (const AtomicGroup& kept : moved)
      for (uint32_t n : kept.nodes) nodes[n].backend = nodes[n].wanted = 0;
    std::ranges::copy_if(groups_, std::back_inserter(moved), [&](const AtomicGroup& kept) { return is_one_unit(kept); });
    number_units(dependencies_, std::move(moved), nodes);
    const CutProblem changed = problem_of_cut(nodes);
    return outcome(changed, changed.problem);
  }

  const ir::Graph& graph_;
  const Partition& shares_;
  const Roles& roles_;
  const Constraints& constraints_;
  ir::Dependencies dependencies_;
  std::vector<AtomicGroup> groups_;
  std::optional<CutProblem> as_it_is_;
};

}  // namespace

Result<std::vector<WhatIf>> what_if(const ir::Graph& graph, const Partition& partition, const Roles& roles,
                                    const Constraints& constraints) {
  if (roles.fallback() == 0) return std::vector<WhatIf>();
  return WhatIfAnalysis(graph, partition, roles, constraints).run();
}

}  // namespace tenon::partition
