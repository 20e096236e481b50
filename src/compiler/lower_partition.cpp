// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower_partition.h"

#include <algorithm>

#include "compiler/lower.h"
#include "partition/retype.h"

namespace tenon::compiler {

namespace {

backend::Options backend_options(const ir::Graph& graph, const CompileOptions& options, const codegen::Target& target) {
  backend::Options out{.planning = {}, .target = &target, .targets = options.targets, .tactics = &options.tactics};
  out.planning.fuse = out.planning.channels_last = options.opt > 0;
  out.planning.off = options.off;
  out.planning.verify = options.verify;
  out.planning.precision = options.precision;
  out.planning.sums_in_order = !graph.states().empty();  // a sequence gets the same bits in all chunks
  out.planning.dump = options.dump_plan;
  return out;
}

const ir::Graph* inside(const ir::Graph& graph, const partition::HandedBack& handed_back) {
  const ir::Graph* out = &graph;
  for (const auto& [node, body] : handed_back.inside) out = out->node(node).bodies[body].graph.get();
  return out;
}

/// Others get the nodes as they were: without Casts that only the backend needed which handed them back.
Result<partition::Partition> partition_again(PartitionedGraph& shared, const partition::Constraints& constraints,
                                             std::vector<partition::HandedBack>& handed_back) {
  const partition::Roles roles = shared.backends.roles();
  const auto is_there = [&](ir::NodeId n) { return inside(*shared.without_casts, handed_back.back())->alive(n); };
  if (!shared.without_casts || std::ranges::none_of(handed_back.back().nodes, is_there))  // Casts alone
    return partition::partition(*shared.graph, roles, constraints, handed_back);
  for (partition::HandedBack& h : handed_back)
    std::erase_if(h.nodes, [&, graph = inside(*shared.without_casts, h)](ir::NodeId n) { return !graph->alive(n); });
  shared.graph = std::move(shared.without_casts);
  return partition::partition_with_casts(shared.graph, roles, constraints, handed_back, &shared.without_casts);
}

}  // namespace

Result<program::LoweredGraph> lower_partition(PartitionedGraph& shared, const CompileOptions& options, const codegen::Target& target,
                                              std::vector<partition::HandedBack>& handed_back) {
  const backend::Options for_backends = backend_options(*shared.graph, options, target);
  while (true) {
    partition::HandedBack failed;
    auto lowered = lower(*shared.graph, shared.partition, shared.backends.roles(), for_backends, &failed);
    if (lowered || failed.nodes.empty()) return lowered;
    handed_back.push_back(std::move(failed));
    auto again = partition_again(shared, options.constraints, handed_back);
    // Nobody else runs it: what was wrong counts, unless it is the user's word that nobody else may.
    const bool may_others = !options.constraints.require_full && options.constraints.pins.empty();
    if (!again && again.error().code() == Code::not_supported && may_others) return lowered;
    shared.partition = TRY(std::move(again));
  }
}

}  // namespace tenon::compiler
