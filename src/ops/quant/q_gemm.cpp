// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/activated.h"
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"
#include "ops/quant/definition.h"

namespace tenon::ops::op_q_gemm {

namespace {

enum Input : size_t { kA, kAScale, kAZero, kB, kBScale, kBZero, kC, kScale, kZero };

/// C is i32 with the scale of the sum, so it is added before the scaling.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const ir::Attributes& how = *view.attributes;
  const auto side = [&](size_t k, std::string_view flag) {
    return how.integer(flag, 0) != 0 ? build("Transpose", {in[k]}, {{"perm", Ints{1, 0}}}) : in[k];
  };
  ir::ValueId sum = build("MatMulInteger", {side(kA, "transA"), side(kB, "transB"), as_scalar(build, in[kAZero]), in[kBZero]});
  if (view.has(kC)) sum = build("Add", {sum, in[kC]});
  const ir::ValueId scale = scaled(build, build("Mul", {as_scalar(build, in[kAScale]), in[kBScale]}), DType::f32, how.number("alpha", 1));
  const ir::ValueId y = build("Mul", {build("Cast", {sum}, {{"to", static_cast<int64_t>(DType::f32)}}), scale});
  return {view.has(kScale) ? quantized(build, y, in, kScale, view.has(kZero) ? view.type(kZero).dtype : view.type(kA).dtype) : y};
}

}  // namespace

OP(q_gemm) {
    .name = "QGemm",
    .domain = "com.microsoft",
    .inputs = {{"A", "a_scale", "a_zero_point", "B", "b_scale", "b_zero_point", "C?", "y_scale?", "y_zero_point?"}},
    .outputs = {{"Y"}},
    .attributes = {{"alpha: float = 1.0", "transA: int = 0", "transB: int = 0"}},
    .infer = [](NodeView& view) -> Result<void> {
      for (size_t k : {kA, kB}) TRY(require_rank(view, k, 2));
      TRY(infer_by_definition(view));
      if (!view.has(kScale) && view.outputs[0].dtype != DType::f32) set_output(view, 0, Type(DType::f32));
      return {};
    },
    .definition = define,
    .samples =
        {{"u8[3,4] in 0..255, f32[] = 0.1, u8[] = 128, i8[4,5] in -128..127, f32[] = 0.02, i8[] = 3, i32[5] in -100..100, f32[] = 0.5, u8[] = 120",
          "u8[4,3] in 0..255, f32[] = 0.1, u8[] = 12, u8[5,4] in 0..255, f32[5] in 0.01..0.1, u8[5] in 0..255, _, f32[] = 4, u8[] = 100; transA=1, transB=1",
          "u8[3,4] in 0..255, f32[] = 0.1, u8[] = 128, u8[4,5] in 0..255, f32[] = 0.02, u8[] = 3, i32[3,5] in -100..100; alpha=0.5"}},
};

}  // namespace tenon::ops::op_q_gemm
