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

std::vector<Reading> readings_of(const ir::Graph& graph, const ir::Dependencies& dependencies, std::span<const NodePlacement> nodes) {
  std::unordered_map<ir::NodeId, uint32_t> unit_of;
  for (const NodePlacement& n : nodes) unit_of.emplace(n.node, n.unit);
  std::vector<Reading> out;
  for (const NodePlacement& n : nodes) {
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

class Supposing {
 public:
  Supposing(const ir::Graph& graph, const Partition& partition, const Roles& roles, const Constraints& constraints)
      : graph_(graph), shares_(partition), roles_(roles), constraints_(constraints), dependencies_(graph), kept_(kept_whole(graph)) {
    find_sized(dependencies_, partition.nodes, roles);
  }

  Result<std::vector<WhatIf>> run() {
    std::map<std::string, std::vector<uint32_t>> others;
    for (uint32_t n = 0; n < shares_.nodes.size(); ++n)
      if (shares_.nodes[n].works && !roles_.is_accelerated(shares_.nodes[n].wanted)) others[name_of(n)].push_back(n);
    as_it_is_.emplace(posed(shares_.nodes));
    const Outcome now = TRY(outcome(*as_it_is_, as_it_is_->problem));
    std::vector<WhatIf> out;
    for (const auto& [op, nodes] : others) {
      WhatIf row{.op = op, .held_by = {}};
      const Outcome then = TRY(supposed(op, nodes, row.held_by));
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
  struct Posed {
    std::vector<Reading> readings;
    Problem problem;
    std::optional<Costs> costs;
  };

  /// It was accelerated before.
  bool is_one_unit(const KeptWhole& kept) const {
    const auto unit = [&](uint32_t n) { return shares_.nodes[n].unit; };
    return kept.nodes.size() > 1 && std::ranges::all_of(kept.nodes, [&](uint32_t n) { return unit(n) == unit(kept.nodes[0]); });
  }

  std::string name_of(uint32_t n) const { return op_name(*graph_.node(shares_.nodes[n].node).op); }

  Posed posed(std::span<const NodePlacement> nodes) const {
    const Units units(nodes);
    Posed out{readings_of(graph_, dependencies_, nodes), problem_of(graph_, dependencies_, units, nodes, roles_), {}};
    if (constraints_.assign == Assign::cost) out.costs = costs_of(graph_, units, nodes, roles_);
    return out;
  }

  Result<Outcome> outcome(const Posed& posed, Problem changed) const {
    const Settled settled = TRY(solve_cut(changed, roles_, constraints_, posed.costs ? &*posed.costs : nullptr));
    return Outcome{count_borders(posed.readings, settled.sized.cut), settled.sized.cut.targets.size()};
  }

  /// The first backend has the op. What its nodes are kept with goes there too, where it runs that; else they stay.
  Result<Outcome> supposed(const std::string& op, const std::vector<uint32_t>& nodes, std::vector<std::string>& held_by) const {
    std::vector<uint32_t> alone = nodes;
    std::vector<KeptWhole> moved;
    for (const KeptWhole& kept : kept_) {
      if (std::erase_if(alone, [&](uint32_t n) { return std::ranges::binary_search(kept.nodes, n); }) == 0) continue;
      bool may = !kept.open;
      for (uint32_t n : kept.nodes)
        if (const std::string mate = name_of(n); mate != op && !shares_.nodes[n].first_may) {
          may = false;
          if (std::ranges::find(held_by, mate) == held_by.end()) held_by.push_back(mate);
        }
      if (may) moved.push_back(kept);
    }
    if (!moved.empty()) return together(std::move(moved), alone);
    Problem changed = as_it_is_->problem;
    for (uint32_t n : alone) changed.nodes[shares_.nodes[n].unit].target = 0;
    return outcome(*as_it_is_, std::move(changed));
  }

  /// Units are others than they were.
  Result<Outcome> together(std::vector<KeptWhole> moved, const std::vector<uint32_t>& alone) const {
    std::vector<NodePlacement> nodes = shares_.nodes;
    for (uint32_t n : alone) nodes[n].wanted = 0;
    for (const KeptWhole& kept : moved)
      for (uint32_t n : kept.nodes) nodes[n].backend = nodes[n].wanted = 0;
    std::ranges::copy_if(kept_, std::back_inserter(moved), [&](const KeptWhole& kept) { return is_one_unit(kept); });
    number_units(dependencies_, std::move(moved), nodes);
    const Posed changed = posed(nodes);
    return outcome(changed, changed.problem);
  }

  const ir::Graph& graph_;
  const Partition& shares_;
  const Roles& roles_;
  const Constraints& constraints_;
  ir::Dependencies dependencies_;
  std::vector<KeptWhole> kept_;
  std::optional<Posed> as_it_is_;
};

}  // namespace

Result<std::vector<WhatIf>> what_if(const ir::Graph& graph, const Partition& partition, const Roles& roles,
                                    const Constraints& constraints) {
  if (roles.fallback() == 0) return std::vector<WhatIf>();
  return Supposing(graph, partition, roles, constraints).run();
}

}  // namespace tenon::partition
