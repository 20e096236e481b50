// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/require.h"
#include "ops/quant/definition.h"

namespace tenon::ops::op_qlinear_average_pool {

namespace {

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  std::vector<std::pair<std::string, ir::Attribute>> how;
  for (const auto& [name, value] : *view.attributes)
    if (name != "channels_last") how.emplace_back(name, value);
  const bool last = view.attributes->integer("channels_last", 0) != 0;
  if (last && !view.type(0).has_rank()) return {};
  ir::ValueId x = dequantized(build, in, 0);
  if (last) x = channels_first(build, x, view.rank(0));
  ir::ValueId y = build("AveragePool", {x}, std::move(how));
  if (last) y = channels_last(build, y, view.rank(0));
  return {quantized(build, y, in, 3, view.type(0).dtype)};
}

}  // namespace

OP(qlinear_average_pool) {
    .name = "QLinearAveragePool",
    .domain = "com.microsoft",
    .inputs = {{"X", "x_scale", "x_zero_point?", "y_scale", "y_zero_point?"}},
    .outputs = {{"Y"}},
    .attributes = {{"auto_pad: string = NOTSET", "ceil_mode: int = 0", "channels_last: int = 0", "count_include_pad: int = 0",
                    "kernel_shape: ints!", "pads: ints", "strides: ints"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_rank(view, 0, 3, -1));
      return infer_quantized(view, 0);
    },
    .definition = define,
    .samples = {{"u8[1,3,8,8] in 0..255, f32[] = 0.05, u8[] = 128, f32[] = 0.041, u8[] = 110; kernel_shape=[2,2], strides=[2,2]",
                 "u8[1,2,7,7] in 0..255, f32[] = 0.05, u8[] = 12, f32[] = 0.041, u8[] = 20; kernel_shape=[3,3], pads=[1,1,1,1]",
                 "i8[1,7,7,2] in -128..127, f32[] = 0.05, i8[] = 2, f32[] = 0.041, i8[] = -3; kernel_shape=[3,3], channels_last=1",
                 "u8[1,2,7,7] in 0..255, f32[] = 0.05, u8[] = 12, f32[] = 0.041, u8[] = 2; kernel_shape=[3,3], pads=[1,1,1,1], "
                 "count_include_pad=1, strides=[2,2], ceil_mode=1"}},
};

}  // namespace tenon::ops::op_qlinear_average_pool
