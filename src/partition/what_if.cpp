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

/// A value that one unit produces and another reads.
struct Edge {
  ir::ValueId value;
  uint32_t producer, reader;
};

std::vector<Edge> edges_of(const ir::Graph& graph, const ir::Dependencies& dependencies, std::span<const NodePlacement> nodes) {
  std::unordered_map<ir::NodeId, uint32_t> unit_of;
  for (const NodePlacement& n : nodes) unit_of.emplace(n.node, n.unit);
  std::vector<Edge> out;
  for (const NodePlacement& n : nodes) {
    if (dependencies.is_in_size_table(n.node)) continue;
    for (ir::ValueId v : graph.node(n.node).inputs)
      if (v && graph.value(v).kind == ir::Value::Kind::result && !graph.value(v).constant)
        out.push_back({v, unit_of.at(graph.value(v).producer), n.unit});
  }
  return out;
}

/// Counts values once for each segment that reads them from another one.
int64_t count_borders(std::span<const Edge> edges, const Cut& cut) {
  std::set<std::pair<ir::ValueId, uint32_t>> crossing;
  for (const Edge& e : edges)
    if (cut.segment_of[e.producer] != cut.segment_of[e.reader]) crossing.emplace(e.value, cut.segment_of[e.reader]);
  return static_cast<int64_t>(crossing.size());
}

class WhatIfAnalysis {
 public:
  WhatIfAnalysis(const ir::Graph& graph, const Partition& partition, const Roles& roles, const Constraints& constraints)
      : graph_(graph),
        partition_(partition),
        roles_(roles),
        constraints_(constraints),
        dependencies_(graph),
        groups_(atomic_groups(graph)) {
    mark_size_table_nodes(dependencies_, partition.nodes, roles);
  }

  Result<std::vector<WhatIf>> run() {
    std::map<std::string, std::vector<uint32_t>> candidates;
    for (uint32_t n = 0; n < partition_.nodes.size(); ++n)
      if (partition_.nodes[n].does_work && !roles_.is_accelerated(partition_.nodes[n].preferred_backend))
        candidates[name_of(n)].push_back(n);
    current_.emplace(cut_problem(partition_.nodes));
    const Outcome now = TRY(outcome(*current_, current_->problem));
    std::vector<WhatIf> out;
    for (const auto& [op, nodes] : candidates) {
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
  /// The input of the cut.
  struct CutProblem {
    std::vector<Edge> edges;
    Problem problem;
    std::optional<Costs> costs;
  };

  /// Whether the group is placed on an accelerated backend, which makes it one unit.
  bool is_one_unit(const AtomicGroup& group) const {
    const auto unit = [&](uint32_t n) { return partition_.nodes[n].unit; };
    return group.nodes.size() > 1 && std::ranges::all_of(group.nodes, [&](uint32_t n) { return unit(n) == unit(group.nodes[0]); });
  }

  std::string name_of(uint32_t n) const { return op_name(*graph_.node(partition_.nodes[n].node).op); }

  CutProblem cut_problem(std::span<const NodePlacement> nodes) const {
    const Units units(nodes);
    CutProblem out{edges_of(graph_, dependencies_, nodes), problem_of(graph_, dependencies_, units, nodes, roles_), {}};
    if (constraints_.assign == Assign::cost) out.costs = costs_of(graph_, units, nodes, roles_);
    return out;
  }

  Result<Outcome> outcome(const CutProblem& base, Problem changed) const {
    const CutSolution solution = TRY(solve_cut(changed, roles_, constraints_, base.costs ? &*base.costs : nullptr));
    return Outcome{count_borders(base.edges, solution.sized.cut), solution.sized.cut.targets.size()};
  }

  /// Cuts the graph as if the first backend supported the op. Groups with nodes of the op move too where the backend supports all their
  /// nodes.
  Result<Outcome> simulate(const std::string& op, const std::vector<uint32_t>& nodes, std::vector<std::string>& blocked_by) const {
    std::vector<uint32_t> ungrouped = nodes;
    std::vector<AtomicGroup> moved;
    for (const AtomicGroup& group : groups_) {
      if (std::erase_if(ungrouped, [&](uint32_t n) { return std::ranges::binary_search(group.nodes, n); }) == 0) continue;
      bool is_movable = !group.open;
      for (uint32_t n : group.nodes)
        if (const std::string other_op = name_of(n); other_op != op && !partition_.nodes[n].first_backend_supports) {
          is_movable = false;
          if (std::ranges::find(blocked_by, other_op) == blocked_by.end()) blocked_by.push_back(other_op);
        }
      if (is_movable) moved.push_back(group);
    }
    if (!moved.empty()) return outcome_with_groups(std::move(moved), ungrouped);
    Problem changed = current_->problem;
    for (uint32_t n : ungrouped) changed.nodes[partition_.nodes[n].unit].target = 0;
    return outcome(*current_, std::move(changed));
  }

  /// The outcome with `moved` groups on the first backend: units must be numbered anew.
  Result<Outcome> outcome_with_groups(std::vector<AtomicGroup> moved, const std::vector<uint32_t>& ungrouped) const {
    std::vector<NodePlacement> nodes = partition_.nodes;
    for (uint32_t n : ungrouped) nodes[n].preferred_backend = 0;
    for (const AtomicGroup& group : moved)
      for (uint32_t n : group.nodes) nodes[n].backend = nodes[n].preferred_backend = 0;
    std::ranges::copy_if(groups_, std::back_inserter(moved), [&](const AtomicGroup& group) { return is_one_unit(group); });
    number_units(dependencies_, std::move(moved), nodes);
    const CutProblem changed = cut_problem(nodes);
    return outcome(changed, changed.problem);
  }

  const ir::Graph& graph_;
  const Partition& partition_;
  const Roles& roles_;
  const Constraints& constraints_;
  ir::Dependencies dependencies_;
  std::vector<AtomicGroup> groups_;
  std::optional<CutProblem> current_;  ///< that of the partition as it is
};

}  // namespace

Result<std::vector<WhatIf>> what_if(const ir::Graph& graph, const Partition& partition, const Roles& roles,
                                    const Constraints& constraints) {
  if (roles.fallback() == 0) return std::vector<WhatIf>();
  return WhatIfAnalysis(graph, partition, roles, constraints).run();
}

}  // namespace tenon::partition
