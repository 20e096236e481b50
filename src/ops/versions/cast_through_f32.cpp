// SPDX-License-Identifier: Apache-2.0
#include "ops/versions/cast_through_f32.h"

#include "ops/core/replace_node.h"
#include "ops/definition/precision.h"

namespace tenon::ops {

Result<void> cast_through_f32(ir::Graph& graph, ir::NodeId node, int /*opset*/) {
  const DType dtype = graph.value(graph.node(node).inputs[0]).type.dtype, wide = definition_dtype(dtype);
  if (dtype == wide) return {};
  const ir::Attributes attributes = graph.node(node).attributes;
  return replace_node(graph, node, [&](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
    std::vector<ir::ValueId> operands(in.begin(), in.end());
    operands[0] = as_dtype(build, in[0], dtype, wide);
    const ir::ValueId y = build.many(*view.op, std::move(operands), 1, attributes)[0];
    return std::vector{is_float(view.outputs[0].dtype) ? as_dtype(build, y, wide, dtype) : y};
  });
}

}  // namespace tenon::ops
