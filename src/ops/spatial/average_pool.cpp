// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "ops/infer/require.h"
#include "ops/spatial/pool.h"

namespace tenon::ops::op_average_pool {

namespace {

bool counts_padding(const NodeView& view) { return view.attributes->integer("count_include_pad", 0) != 0; }

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
  return infer_pool(view);
}

Result<LoopForm> loop_form(const NodeView& view) {
  return form_of_sum_pool(view, nullptr, [&](Expr sum, const Windows& windows) {
    return sum / cast(window_count(windows, spatial_of(view.type(0)), 2, counts_padding(view)), sum.dtype());
  });
}

Result<void> evaluate(Call& call) {
  return reference_of_pool(call, [&](std::span<const double> x, int64_t padded) {
    const int64_t count = counts_padding(call.view) ? padded : static_cast<int64_t>(x.size());
    return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(count);
  });
}

}  // namespace

OP(average_pool) {
    .name = "AveragePool",
    .since_version = 22,
    .inputs = {{"X"}},
    .outputs = {{"Y"}},
    .attributes = {{"auto_pad: string = NOTSET", "ceil_mode: int = 0", "count_include_pad: int = 0", "dilations: ints",
                    "kernel_shape: ints!", "pads: ints", "strides: ints"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .lowest_opset =
        [](const NodeView& view) {
          if (view.type(0).dtype == DType::bf16) return 22;
          if (view.attributes->has("dilations")) return 19;
          return view.attributes->integer("ceil_mode", 0) != 0 ? 10 : 7;
        },
    .downgrade = [](ir::Graph& graph, ir::NodeId node, int opset) -> Result<void> {
      if (opset < 10) graph.erase_attribute(node, "ceil_mode");
      return {};
    },
    .samples = {{"f32[1,3,8,8]; kernel_shape=[2,2], strides=[2,2]", "f32[1,2,7,7]; kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]",
                 "f32[1,2,7,7]; kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1], count_include_pad=1",
                 "f32[2,3,9]; kernel_shape=[4], strides=[3], ceil_mode=1", "f32[1,1,4,5,6]; kernel_shape=[2,2,2]",
                 "f32[1,1,7,7]; kernel_shape=[2,2], dilations=[2,2], pads=[1,1,1,1]",
                 "f32[1,1,5,5]; kernel_shape=[3,3], auto_pad=SAME_LOWER, strides=[2,2]", "f16[1,2,5,5]; kernel_shape=[3,3]",
                 "f32[1,1,4,4]; kernel_shape=[3,3], strides=[2,2], ceil_mode=1, count_include_pad=1, pads=[1,1,0,0]",
                 "f32[1,2,2,3]; kernel_shape=[640,640], strides=[640,640], ceil_mode=1",
                 "f32[1,2,2,3]; kernel_shape=[9,8], pads=[4,4,5,4], count_include_pad=1",
                 "f32[1,1,5,4]; kernel_shape=[20,20], auto_pad=SAME_UPPER, dilations=[3,2]",
                 "f32[1,2,6,6]; kernel_shape=[40,40], auto_pad=SAME_UPPER", "f32[1,2,9,8]; kernel_shape=[5,5], pads=[2,2,2,2]",
                 "f32[1,2,9,8]; kernel_shape=[6,5], pads=[2,1,2,3], count_include_pad=1, strides=[1,2]",
                 "f16[1,2,9,8]; kernel_shape=[5,5], pads=[2,2,2,2], dilations=[2,1]",
                 "f32[1,1,5,6,4]; kernel_shape=[3,3,3], pads=[1,1,1,1,1,1]"}},
};

}  // namespace tenon::ops::op_average_pool
