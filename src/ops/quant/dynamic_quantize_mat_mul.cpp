// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/quant/definition.h"

namespace tenon::ops::op_dynamic_quantize_mat_mul {

namespace {

enum Input : size_t { kA, kB, kScale, kZero, kBias };

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const auto operand = [&](size_t k) { return view.has(k) ? in[k] : ir::ValueId{}; };
  const std::vector<ir::ValueId> a = build.many("DynamicQuantizeLinear", {in[kA]}, 3);
  return {scaled_product(build, a[0], in[kB], a[1], in[kScale], a[2], operand(kZero), operand(kBias))};
}

}  // namespace

/// A is quantized to 8 bits at run time, by its range.
OP(dynamic_quantize_mat_mul) {
    .name = "DynamicQuantizeMatMul",
    .domain = "com.microsoft",
    .inputs = {{"A", "B", "b_scale", "b_zero_point?", "bias?"}},
    .outputs = {{"Y"}},
    .infer = infer_by_definition,
    .definition = define,
    .samples = {{"f32[3,4], i8[4,5] in -128..127, f32[] = 0.02, i8[] = 3",
                 "f32[2,3,4], u8[4,5] in 0..255, f32[5] in 0.01..0.1, u8[5] in 0..255, f32[5]",
                 "f32[3,4], u8[4,5] in 0..255, f32[] = 0.1"}},
};

}  // namespace tenon::ops::op_dynamic_quantize_mat_mul
