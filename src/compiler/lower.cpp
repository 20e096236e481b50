// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/activity.h"
#include "compiler/segment_graphs.h"
#include "ops/core/op.h"

namespace tenon::compiler {

namespace {

/// A list of size symbols, each once, in the order in which they are added.
class SymbolList {
 public:
  explicit SymbolList(std::vector<const DimNode*> given) : list_(std::move(given)), seen_(list_.begin(), list_.end()) {}
  void add(const ir::Type& type) {
    if (!type.has_rank()) return;
    for (Dim d : *type.shape)
      each_symbol(d, [&](const DimNode& s) {
        if (seen_.insert(&s).second) list_.push_back(&s);
      });
  }
  const std::vector<const DimNode*>& list() const { return list_; }

 private:
  std::vector<const DimNode*> list_;
  std::unordered_set<const DimNode*> seen_;
};

Result<backend::Blob> compile_segment(const ir::Graph& graph, const ir::Segment& segment, const ir::Graph& cut,
                                      const backend::Backends& backends, const backend::Options& options) {
  const auto owner = std::ranges::find_if(backends, [&](const backend::Backend* b) { return b->name() == segment.backend; });
  const Activity activity(
      segment.backend, fmt::format("compiled a segment of {} nodes, from {}", segment.nodes.size(), graph.view(segment.nodes[0]).where()));
  auto artifact = (*owner)->compile({cut}, options);
  if (!artifact) return std::move(artifact).error().at(graph.view(segment.nodes[0]).where());
  return std::get<backend::Blob>(*std::move(artifact));
}

/// The number of loop-carried values; nullopt for a branch.
std::optional<size_t> carried_by(const ir::Node& node) {
  if (ops::def_of(*node.op).control != ops::Control::loop) return std::nullopt;
  return node.explicit_inputs > 2 ? node.explicit_inputs - 2 : 0;
}

/// Lowers the bodies of branches and loops that run as programs. They may use the sizes that are known before their node.
Result<void> lower_bodies(program::LoweredGraph& of, const partition::Partition& partition, const partition::Roles& roles,
                          const backend::Options& options, partition::FailedSegment* failed) {
  const ir::Graph& graph = *of.graph;
  std::unordered_set<ir::NodeId> controls;
  for (const codegen::Group& g : of.kernels.plan.groups)
    if (g.kind() == codegen::GroupKind::control) controls.insert(g.node);
  if (controls.empty()) return {};
  SymbolList known(options.planning.outer_symbols);
  for (ir::ValueId v : graph.inputs()) known.add(graph.value(v).type);
  for (const partition::NodePlacement& placement : partition.nodes) {
    const ir::NodeId n = placement.node;
    if (controls.contains(n)) {
      backend::Options inside = options;
      inside.planning.outer_symbols = known.list();
      inside.planning.carried = carried_by(graph.node(n));
      for (size_t b = 0; b < placement.bodies.size(); ++b) {
        auto lowered = lower(*graph.node(n).bodies[b].graph, placement.bodies[b], roles, inside, failed);
        if (!lowered && failed && !failed->nodes.empty()) failed->body_path.emplace(failed->body_path.begin(), n, b);
        of.bodies[n].push_back(TRY(std::move(lowered)));
      }
    }
    for (ir::ValueId v : graph.node(n).outputs)
      if (v) known.add(graph.value(v).type);
  }
  return {};
}

}  // namespace

Result<program::LoweredGraph> lower(const ir::Graph& graph, const partition::Partition& partition, const partition::Roles& roles,
                                    const backend::Options& options, partition::FailedSegment* failed) {
  program::LoweredGraph out;
  out.graph = &graph;
  const std::vector<ir::Segment> segments = partition.device_segments(roles);
  const SegmentGraphs cuts(graph, segments);
  for (size_t k = 0; k < segments.size(); ++k) {
    const ir::Segment& s = segments[k];
    if (cuts.first_equal(k) < k) {
      out.blobs.push_back(out.blobs[cuts.first_equal(k)]);
      continue;
    }
    auto blob = compile_segment(graph, s, cuts.graph(k), roles.backends, options);
    if (!blob) {
      const auto segment = std::ranges::find(partition.segments, s.nodes, &ir::Segment::nodes) - partition.segments.begin();
      if (failed) *failed = {{}, s.nodes, static_cast<uint32_t>(segment), s.backend, blob.error().text()};
      return std::unexpected(std::move(blob).error());
    }
    out.blobs.push_back(*std::move(blob));
  }
  out.kernels = std::get<backend::Kernels>(TRY(backend::host_of(roles.backends).compile({graph, segments}, options)));
  TRY(lower_bodies(out, partition, roles, options, failed));
  return out;
}

}  // namespace tenon::compiler
