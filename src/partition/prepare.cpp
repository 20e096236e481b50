// SPDX-License-Identifier: Apache-2.0
#include "ops/core/op.h"
#include "partition/partition.h"

namespace tenon::partition {

namespace {

/// Whether some backend but the last supports the node. The last is the fallback: plain ops that other backends run are better than the
/// fused op on it.
Result<bool> is_run_whole(const ir::Graph& graph, ir::NodeId node, const backend::Backends& backends) {
  for (size_t k = 0; k + 1 < backends.size(); ++k) {
    auto supported = backends[k]->supports(graph, node);
    if (supported) return true;
    if (supported.error().code() != Code::not_supported) return std::unexpected(std::move(supported).error());
  }
  return false;
}

/// Expands fused ops that no backend but the last supports. Whether there was one.
Result<bool> expand_fused(ir::Graph& graph, const backend::Backends& backends) {
  std::vector<ir::NodeId> fused;
  for (ir::NodeId n : graph.nodes())
    if (ops::def_of(*graph.node(n).op).definition && !TRY(is_run_whole(graph, n, backends))) fused.push_back(n);
  bool any = false;
  for (ir::NodeId n : fused) {
    auto expanded = ops::expand(graph, n);
    if (!expanded && expanded.error().code() != Code::not_supported) return std::unexpected(std::move(expanded).error());
    any |= expanded.has_value();
  }
  return any;
}

}  // namespace

Result<void> prepare(ir::Graph& graph, const backend::Backends& backends) {
  // Ops of a definition may have definitions themselves: LSTM becomes a Scan, which becomes a Loop.
  for (bool again = true; again;) again = TRY(expand_fused(graph, backends));
  for (ir::NodeId n : graph.nodes())
    for (size_t b = 0; b < graph.node(n).bodies.size(); ++b) TRY(prepare(graph.body(n, b), backends));
  for (const backend::Backend* b : backends) TRY(b->prepare(graph));
  return {};
}

}  // namespace tenon::partition
