// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"
#include "ops/quant/definition.h"

namespace tenon::ops::op_mat_mul_integer_to_float {

namespace {

enum Input : size_t { kA, kB, kAScale, kBScale, kAZero, kBZero, kBias };

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const auto operand = [&](size_t k) { return view.has(k) ? in[k] : ir::ValueId{}; };
  return {scaled_product(build, in[kA], in[kB], in[kAScale], in[kBScale], operand(kAZero), operand(kBZero), operand(kBias))};
}

}  // namespace

/// A product of 8-bit integer matrices, scaled to floats.
OP(mat_mul_integer_to_float) {
    .name = "MatMulIntegerToFloat",
    .domain = "com.microsoft",
    .inputs = {{"A", "B", "a_scale", "b_scale", "a_zero_point?", "b_zero_point?", "bias?"}},
    .outputs = {{"Y"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, kAScale, [](DType d) { return d == DType::f32; }, "f32"));
      TRY(infer_by_definition(view));
      if (view.outputs[0].dtype != DType::f32) set_output(view, 0, Type(DType::f32));
      return {};
    },
    .definition = define,
    .samples = {{"u8[3,4] in 0..255, i8[4,5] in -128..127, f32[] = 0.1, f32[] = 0.02, u8[] = 128, i8[] = 3",
                 "u8[2,3,4] in 0..255, u8[4,5] in 0..255, f32[1] = 0.1, f32[5] in 0.01..0.1, u8[1] = 12, u8[5] in 0..255, f32[5]",
                 "i8[3,4] in -128..127, i8[4,5] in -128..127, f32[] = 0.1, f32[] = 0.02"}},
};

}  // namespace tenon::ops::op_mat_mul_integer_to_float
