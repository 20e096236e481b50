// SPDX-License-Identifier: Apache-2.0
#include "ops/quant/definition.h"

namespace tenon::ops::op_qlinear_where {

namespace {

enum Input : size_t { kCondition, kX, kXScale, kXZero, kY, kYScale, kYZero, kScale, kZero };

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const ir::ValueId y = build("Where", {in[kCondition], dequantized(build, in, kX), dequantized(build, in, kY)});
  return {quantized(build, y, in, kScale, view.type(kX).dtype)};
}

}  // namespace

OP(qlinear_where) {
    .name = "QLinearWhere",
    .domain = "com.microsoft",
    .inputs = {{"condition", "X", "x_scale", "x_zero_point", "Y", "y_scale", "y_zero_point", "z_scale", "z_zero_point"}},
    .outputs = {{"Z"}},
    .infer = infer_quantized<kX>,
    .definition = define,
    .samples =
        {{"bool[2,3] = [1,0,1,0,0,1], u8[2,3] in 0..255, f32[] = 0.05, u8[] = 128, u8[2,3] in 0..255, f32[] = 0.1, u8[] = 100, f32[] = 0.08, u8[] = 90",
          "bool[3] = [1,0,1], i8[2,3] in -128..127, f32[] = 0.05, i8[] = 3, i8[1] = 7, f32[] = 0.1, i8[] = 2, f32[] = 0.06, i8[] = -4"}},
};

}  // namespace tenon::ops::op_qlinear_where
