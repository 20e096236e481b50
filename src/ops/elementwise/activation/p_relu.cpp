// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_p_relu {

namespace {

/// Before opset 7 there was one slope, or one for each channel.
Result<void> upgrade(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 7) return {};
  const ir::NodeView view = graph.view(node);
  if (!ranks_known(view, {0, 1})) return refuse(view, Code::not_supported, "not supported yet: opset below 7 with an unknown rank");
  if (view.rank(1) != 1 || view.type(1).dim(0) == Dim(1) || view.rank(0) < 3) return {};
  ir::Ints trailing;
  for (int64_t k = 1; k < view.rank(0) - 1; ++k) trailing.push_back(k);
  ir::Builder build(graph, node);
  const ir::ValueId slopes = build("Unsqueeze", {graph.node(node).inputs[1], build.ints(trailing)});
  TRY(build.status());
  graph.set_operand(node, 1, slopes);
  return {};
}

}  // namespace

OP(p_relu) {
    .name = "PRelu",
    .since_version = 16,
    .inputs = {{"x", "slope"}},
    .infer = [](NodeView& view) -> Result<void> {
      for (size_t k : {0, 1}) TRY(require_dtype(view, k, is_number, "a numeric dtype"));
      TRY(require_same_dtype(view, 0, 1));
      if (ranks_known(view, {0, 1})) TRY(require_broadcastable(view, *view.type(1).shape, *view.type(0).shape, "sizes of slope and of X"));
      return infer_same_type(view);
    },
    .loop_form = binary_form<[](Expr x, Expr slope) { return select(x < Expr(0), slope * x, x); }>,
    .reference =
        [](Call& call) {
          return map_elements(call, FloatBinary([](double x, double slope) { return x < 0 ? slope * x : x; }),
                              IntBinary([](int64_t x, int64_t slope) { return x < 0 ? wrap_mul(slope, x) : x; }),
                              UnsignedBinary([](uint64_t x, uint64_t) { return x; }));
        },
    .upgrade = upgrade,
    .samples = {{"f32[2,3], f32[3]", "f32[2,3,4], f32[3,1]", "f16[4], f16[1]", "f64[0], f64[1]", "i32[4], i32[4]"}},
};

}  // namespace tenon::ops::op_p_relu
