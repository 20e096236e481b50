// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/require.h"
#include "ops/quant/definition.h"

namespace tenon::ops::op_qlinear_global_average_pool {

namespace {

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!view.type(0).has_rank()) return {};
  const int64_t first = view.attributes->integer("channels_last", 0) != 0 ? 1 : 2;
  Ints axes;
  for (int64_t k = 0; k < view.rank(0) - 2; ++k) axes.push_back(first + k);
  return {quantized(build, build("ReduceMean", {dequantized(build, in, 0), build.ints(axes)}), in, 3, view.type(0).dtype)};
}

}  // namespace

OP(qlinear_global_average_pool) {
    .name = "QLinearGlobalAveragePool",
    .domain = "com.microsoft",
    .inputs = {{"X", "x_scale", "x_zero_point", "y_scale", "y_zero_point"}},
    .outputs = {{"Y"}},
    .attributes = {{"channels_last: int = 0"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_rank(view, 0, 3, -1));
      return infer_quantized(view, 0);
    },
    .definition = define,
    .samples = {{"u8[2,3,4,5] in 0..255, f32[] = 0.05, u8[] = 128, f32[] = 0.02, u8[] = 100",
                 "i8[1,4,5,3] in -128..127, f32[] = 0.05, i8[] = 4, f32[] = 0.01, i8[] = -2; channels_last=1"}},
};

}  // namespace tenon::ops::op_qlinear_global_average_pool
