// SPDX-License-Identifier: Apache-2.0
#include "ops/versions/make_explicit.h"

#include <algorithm>

namespace tenon::ops {

void count_axes_from_zero(ir::Graph& graph, ir::NodeId node, int rank) {
  const NodeView view = graph.view(node);
  if (const int64_t axis = view.attributes->integer("axis", 0); axis < 0) graph.set_attribute(node, "axis", axis + rank);
  if (ir::Ints axes = view.attributes->ints("axes"); std::ranges::any_of(axes, [](int64_t a) { return a < 0; })) {
    for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
    graph.set_attribute(node, "axes", std::move(axes));
  }
}

Result<void> count_result_axes_from_zero(ir::Graph& graph, ir::NodeId node, int opset) {
  const NodeView view = graph.view(node);
  const ir::Type& result = view.outputs[0];
  if (opset < kNegativeAxes && result.has_rank()) count_axes_from_zero(graph, node, result.rank());
  return {};
}

Result<void> make_explicit(ir::Graph& graph, ir::NodeId node, int opset) {
  const ir::Node& n = graph.node(node);
  if (!n.op->domain.empty() || n.op->unknown) return {};
  if (const OpDef& def = def_of(*n.op); def.make_explicit) TRY(def.make_explicit(graph, node, opset));
  const NodeView view = graph.view(node);
  if (opset < kNegativeAxes && view.explicit_inputs > 0 && view.has(0) && view.type(0).has_rank())
    count_axes_from_zero(graph, node, view.rank(0));
  return {};
}

}  // namespace tenon::ops
