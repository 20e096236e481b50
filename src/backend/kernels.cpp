// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/backend.h"
#include "codegen/passes/pipeline.h"

namespace tenon::backend {

namespace {

using codegen::Group;
using codegen::Kernel;

/// The node that an error of the group is about.
ir::NodeId node_of(const Group& group) {
  if (group.node) return group.node;
  return group.nests.empty() || group.nests[0].nodes.empty() ? ir::NodeId() : group.nests[0].nodes[0];
}

/// The kernels of each group of the plan, in the order in which they run.
Result<std::vector<std::vector<Kernel>>> lower(const ir::Graph& graph, codegen::Plan& plan, const codegen::TacticBook* given,
                                               const codegen::Target& target) {
  static const codegen::TacticBook kNoTactics;
  const codegen::TacticBook& tactics = given ? *given : kNoTactics;
  std::vector<std::vector<Kernel>> out;
  for (const Group& group : plan.groups) {
    const codegen::Tactic tactic = TRY(tactics.tactic_of(group, graph, target));
    auto kernels = codegen::lower_group(group, tactic, plan, target);
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
  Kernels out;
  out.plan = TRY(codegen::plan(request.graph, target, planning));
  out.of_groups = TRY(lower(request.graph, out.plan, options.tactics, target));
  return out;
}

}  // namespace tenon::backend
