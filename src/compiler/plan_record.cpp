// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan_record.h"

#include <algorithm>

namespace tenon::compiler {

namespace {

const char* name_of(codegen::GroupKind kind) {
  switch (kind) {
    case codegen::GroupKind::nests: return "loops";
    case codegen::GroupKind::contract: return "contraction";
    case codegen::GroupKind::attention: return "attention";
    case codegen::GroupKind::segment: return "on another backend";
    case codegen::GroupKind::sizes: return "sizes";
    case codegen::GroupKind::control: return "control flow";
    case codegen::GroupKind::check: return "index check";
    case codegen::GroupKind::packed_rows: return "rows packed";
  }
  return "unknown";
}

GroupsOfNodes groups_of_nodes(const codegen::Plan& plan) {
  GroupsOfNodes out;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const auto add = [&](ir::NodeId id) {
      if (std::vector<size_t>& list = out[id]; list.empty() || list.back() != g) list.push_back(g);
    };
    const codegen::Group& group = plan.groups[g];
    if (group.node) add(group.node);
    if (group.kind() == codegen::GroupKind::segment)
      std::ranges::for_each(plan.segments[group.as<codegen::SegmentGroup>().segment].nodes, add);
    for (const codegen::Nest& nest : group.nests) std::ranges::for_each(nest.nodes, add);
    if (group.epilogue) std::ranges::for_each(group.epilogue->map.nodes, add);
  }
  return out;
}

}  // namespace

const ir::Graph& graph_of(const Compiled& compiled, size_t entry) {
  return entry == 0 ? *compiled.graph : *compiled.other_entries[entry - 1].graph;
}

PlanRecord plan_record(const Compiled& compiled, size_t entry) {
  TENON_ASSERT(entry < compiled.built.origins.size());
  const codegen::Plan& plan = entry == 0 ? compiled.plan : compiled.other_entries[entry - 1].plan;
  const program::StepOrigins& origins = compiled.built.origins[entry];
  PlanRecord out{
      .groups = {}, .groups_of_nodes = groups_of_nodes(plan), .group_of_step = origins.group_of_step, .work_of_step = origins.work_of_step};
  for (const codegen::Group& group : plan.groups) out.groups.emplace_back(name_of(group.kind()));
  return out;
}

}  // namespace tenon::compiler
