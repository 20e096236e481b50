// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/backend.h"
#include "codegen/passes/pipeline.h"
#include "codegen/prepare/prepare_operands.h"

namespace tenon::backend {

namespace {

using codegen::Group;
using codegen::Kernel;

/// The node that an error of the group is about.
ir::NodeId node_of(const Group& group) {
  if (group.node) return group.node;
  return group.nests.empty() || group.nests[0].nodes.empty() ? ir::NodeId() : group.nests[0].nodes[0];
}

/// The tactic of each group of the plan. given: may be null.
Result<std::vector<codegen::Tactic>> tactics_of(const ir::Graph& graph, const codegen::Plan& plan, const codegen::TacticBook* given,
                                                const codegen::Target& target) {
  static const codegen::TacticBook kNoTactics;
  const codegen::TacticBook& tactics = given ? *given : kNoTactics;
  std::vector<codegen::Tactic> out;
  for (const Group& group : plan.groups) out.push_back(TRY(tactics.tactic_of(group, graph, target)));
  return out;
}

/// The kernels of each group of the plan, in the order in which they run.
Result<std::vector<std::vector<Kernel>>> lower(const ir::Graph& graph, const codegen::PreparedPlan& prepared,
                                               const codegen::Target& target) {
  std::vector<std::vector<Kernel>> out;
  for (size_t g = 0; g < prepared.plan.groups.size(); ++g) {
    const Group& group = prepared.plan.groups[g];
    auto kernels = codegen::lower_group(group, prepared.tactics[g], prepared.plan, target);
    if (!kernels) {
      const ir::NodeId n = node_of(group);
      return n ? std::move(kernels).error().at(graph.view(n).where()) : std::move(kernels).error();
    }
    out.push_back(std::move(*kernels));
  }
  return out;
}

}  // namespace

const Backend& host_of(const Backends& backends) {
  const auto found = std::ranges::find_if(backends, &Backend::is_host);
  TENON_ASSERT(found != backends.end());
  return **found;
}

Result<Kernels> make_kernels(const CompileRequest& request, const Options& options, const codegen::Target& target) {
  codegen::PlanOptions planning = options.planning;
  planning.segments = request.segments;
  codegen::Plan plan = TRY(codegen::plan(request.graph, target, planning));
  std::vector<codegen::Tactic> tactics = TRY(tactics_of(request.graph, plan, options.tactics, target));
  codegen::PreparedPlan prepared = TRY(codegen::prepare_operands(std::move(plan), std::move(tactics), target, planning));
  Kernels out;
  out.of_groups = TRY(lower(request.graph, prepared, target));
  out.plan = std::move(prepared.plan);
  return out;
}

}  // namespace tenon::backend
