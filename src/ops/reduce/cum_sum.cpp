// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/cumulative.h"
#include "ops/versions/versions.h"

namespace tenon::ops::op_cum_sum {

namespace {

/// Before opset 14 there were no short floats.
Result<void> downgrade(ir::Graph& graph, ir::NodeId node, int) {
  const DType dtype = graph.value(graph.node(node).inputs[0]).type.dtype, wide = definition_dtype(dtype);
  if (dtype == wide) return {};
  const ir::Attributes attributes = graph.node(node).attributes;
  return write_as(graph, node, [&](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
    const ir::ValueId sum = build.many(*view.op, {as_dtype(build, in[0], dtype, wide), in[1]}, 1, attributes)[0];
    return std::vector{as_dtype(build, sum, wide, dtype)};
  });
}

}  // namespace

OP(cum_sum) {
    .name = "CumSum",
    .since = 14,
    .inputs = {"x", "axis"},
    .outputs = {"y"},
    .attributes = {"exclusive: int = 0", "reverse: int = 0"},
    .infer = infer_cumulative,
    .form = [](const NodeView& view) { return cumulative_form(view, Combine::sum); },
    .reference = [](Call& call) { return cumulative_reference(call, 0, [](double a, double b) { return a + b; }, wrap_add); },
    .first = 11,
    .downgrade = downgrade,
    .samples = {"f32[5], i64[] = 0", "f32[2,3,4], i64[] = 1", "f32[2,3], i32[] = -1; exclusive=1", "f32[2,3], i64[] = 0; reverse=1",
                "f64[4], i64[] = 0; exclusive=1, reverse=1", "i64[2,3], i64[] = 1", "f32[0,2], i64[] = 0", "i32[6], i64[] = 0"},
};

}  // namespace tenon::ops::op_cum_sum
