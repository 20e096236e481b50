// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/infer/require.h"
#include "ops/spatial/lp_norm.h"
#include "ops/spatial/pool.h"
#include "ops/versions/adapters.h"

namespace tenon::ops::op_lp_pool {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  if (view.attributes->integer("p", 2) < 1) return refuse(view, Code::bad_attribute, "p must be at least 1");
  return infer_pool(view);
}

Result<LoopForm> loop_form(const NodeView& view) {
  const int64_t p = view.attributes->integer("p", 2);
  return form_of_sum_pool(view, [p](Expr x) { return power_of(abs(x), p); }, [p](Expr sum, const Windows&) { return root_of(sum, p); });
}

Result<void> evaluate(Call& call) {
  const double p = static_cast<double>(call.view.attributes->integer("p", 2));
  return reference_of_pool(call, [p](std::span<const double> x, int64_t) { return norm_of(x, p); });
}

}  // namespace

OP(lp_pool) {
    .name = "LpPool",
    .since_version = 22,
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"auto_pad: string = NOTSET", "ceil_mode: int = 0", "dilations: ints", "kernel_shape: ints!", "p: int = 2", "pads: ints",
                    "strides: ints"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .upgrade = integer_p_upgrade,
    .lowest_opset =
        [](const NodeView& view) {
          if (view.type(0).dtype == DType::bf16) return 22;
          return view.attributes->has("dilations") || view.attributes->integer("ceil_mode", 0) != 0 ? 18 : 7;
        },
    .downgrade = [](ir::Graph& graph, ir::NodeId node, int) -> Result<void> {
      graph.erase_attribute(node, "ceil_mode");
      return {};
    },
    .samples = {{"f32[1,3,8,8]; kernel_shape=[2,2], strides=[2,2]", "f32[1,2,7,7]; kernel_shape=[3,3], pads=[1,1,1,1], p=1",
                 "f32[2,3,9]; kernel_shape=[3], p=3", "f64[1,1,5,5]; kernel_shape=[2,2], auto_pad=SAME_UPPER",
                 "f16[1,2,5,5]; kernel_shape=[3,3]", "f32[1,2,2,3]; kernel_shape=[9,5], pads=[5,3,4,4], dilations=[1,2], ceil_mode=1",
                 "f32[1,2,9,8]; kernel_shape=[5,6], pads=[2,2,2,2], p=3"}},
};

}  // namespace tenon::ops::op_lp_pool
