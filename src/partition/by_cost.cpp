// SPDX-License-Identifier: Apache-2.0
#include "partition/by_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "backend/work.h"

namespace tenon::partition {

namespace {

/// Collects each value once, with its producer and readers; constants are not included, since each backend has them.
class Values {
 public:
  Values(const ir::Graph& graph, std::span<const NodePlacement> nodes) : graph_(graph) {
    for (const NodePlacement& n : nodes) units_.emplace(n.node, n.unit);
  }
  /// Adds the value if it is new. Null: it is missing or a constant.
  Costs::Value* of(ir::ValueId id) {
    if (!id || graph_.value(id).is_constant()) return nullptr;
    const auto [at, is_new] = indices_.try_emplace(id, list.size());
    if (is_new) {
      const ir::Value& value = graph_.value(id);
      const bool is_result = value.kind == ir::Value::Kind::result;
      list.push_back({.producer = is_result ? units_.at(value.producer) : Costs::kGraphInput,
                      .readers = {},
                      .is_output = false,
                      .bytes = backend::bytes_of(value.type)});
    }
    return &list[at->second];
  }
  std::vector<Costs::Value> list;

 private:
  const ir::Graph& graph_;
  std::unordered_map<ir::NodeId, uint32_t> units_;   ///< of each node
  std::unordered_map<ir::ValueId, size_t> indices_;  ///< of values, in `list`
};

std::vector<Costs::Value> values_of(const ir::Graph& graph, const Units& units, std::span<const NodePlacement> nodes) {
  Values values(graph, nodes);
  for (uint32_t unit = 0; unit < units.size(); ++unit)
    for (uint32_t n : units.nodes(unit))
      for (ir::ValueId v : graph.node(nodes[n].node).inputs) {
        Costs::Value* value = values.of(v);
        if (value && value->producer != unit && (value->readers.empty() || value->readers.back() != unit)) value->readers.push_back(unit);
      }
  for (ir::ValueId v : graph.outputs())
    if (Costs::Value* value = values.of(v)) value->is_output = true;
  return std::move(values.list);
}

}  // namespace

Costs costs_of(const ir::Graph& graph, const Units& units, std::span<const NodePlacement> nodes, const Roles& roles) {
  Costs out(roles.count(), units.size());
  for (uint32_t unit = 0; unit < units.size(); ++unit)
    for (uint16_t b : nodes[units.nodes(unit)[0]].choices) {
      double& cost = out.run(unit, b) = 0;
      for (uint32_t n : units.nodes(unit)) cost += roles.backends[b]->cost(graph, nodes[n].node);
    }
  for (uint16_t a = 0; a < roles.count(); ++a) {
    const backend::Overheads from = roles.backends[a]->overheads();
    out.launch(a) = from.launch_ns;
    for (uint16_t b = 0; b < roles.count(); ++b) {
      const backend::Overheads to = roles.backends[b]->overheads();
      if (from.own_memory) out.link(a, b) = {from.copy_ns, from.copy_ns_per_byte};
      if (to.own_memory) out.link(a, b) = {out.link(a, b).ns + to.copy_ns, out.link(a, b).ns_per_byte + to.copy_ns_per_byte};
    }
  }
  out.values = values_of(graph, units, nodes);
  return out;
}

double assign_by_cost(const Costs& costs, const Units& units, std::vector<NodePlacement>& nodes, const Roles& roles) {
  const Assignment assignment = cheapest(costs);
  for (uint32_t unit = 0; unit < units.size(); ++unit)
    for (uint32_t n : units.nodes(unit)) {
      const uint16_t target = assignment.targets[unit];
      if (target == nodes[n].preferred_backend) continue;
      nodes[n].preferred_backend = nodes[n].backend = target;
      if (!roles.is_accelerated(target)) nodes[n].fallback_target = target;
      nodes[n].reasons.back() = {"chosen", fmt::format("{} is where all together cost least", roles.backends[target]->name())};
    }
  return assignment.lower_bound_ns;
}

}  // namespace tenon::partition
