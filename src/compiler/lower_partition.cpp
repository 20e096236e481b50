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
  out.planning.activations = options.activations;
  out.planning.sums_in_order = !graph.states().empty();  // a sequence gets the same bits in all chunks
  out.planning.dump = options.dump_plan;
  return out;
}

/// The graph, or body of a branch or loop, that contains a segment.
const ir::Graph* graph_of(const ir::Graph& graph, const partition::FailedSegment& failed) {
  const ir::Graph* out = &graph;
  for (const auto& [node, body] : failed.body_path) out = out->node(node).bodies[body].graph.get();
  return out;
}

/// Partitions again without the segments that backends failed to compile, and without Casts that were inserted for these backends only.
Result<partition::Partition> partition_again(PartitionedGraph& partitioned, const partition::Constraints& constraints,
                                             std::vector<partition::FailedSegment>& failed_segments) {
  const partition::Roles roles = partitioned.backends.roles();
  const auto is_there = [&](ir::NodeId n) { return graph_of(*partitioned.without_casts, failed_segments.back())->alive(n); };
  if (!partitioned.without_casts ||
      std::ranges::none_of(failed_segments.back().nodes, is_there))  // the segment has nothing but inserted Casts
    return partition::partition(*partitioned.graph, roles, constraints, failed_segments);
  for (partition::FailedSegment& f : failed_segments)
    std::erase_if(f.nodes, [&, graph = graph_of(*partitioned.without_casts, f)](ir::NodeId n) { return !graph->alive(n); });
  partitioned.graph = std::move(partitioned.without_casts);
  return partition::partition_with_casts(partitioned.graph, roles, constraints, failed_segments, &partitioned.without_casts);
}

}  // namespace

Result<program::LoweredGraph> lower_partition(PartitionedGraph& partitioned, const CompileOptions& options, const codegen::Target& target,
                                              std::vector<partition::FailedSegment>& failed_segments) {
  const backend::Options for_backends = backend_options(*partitioned.graph, options, target);
  while (true) {
    partition::FailedSegment failed;
    auto lowered = lower(*partitioned.graph, partitioned.partition, partitioned.backends.roles(), for_backends, &failed);
    if (lowered || failed.nodes.empty()) return lowered;
    failed_segments.push_back(std::move(failed));
    auto again = partition_again(partitioned, options.constraints, failed_segments);
    // Where no other backend supports the nodes, the error of the backend counts, unless constraints exclude the others.
    const bool may_others = !options.constraints.require_full && options.constraints.pins.empty();
    if (!again && again.error().code() == Code::not_supported && may_others) return lowered;
    partitioned.partition = TRY(std::move(again));
  }
}

}  // namespace tenon::compiler
