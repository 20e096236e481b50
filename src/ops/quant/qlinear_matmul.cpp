// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/quant/parameters.h"

namespace tenon::ops::op_qlinear_matmul {

namespace {

enum Input : size_t { kA, kScaleA, kZeroA, kB, kScaleB, kZeroB, kScaleY, kZeroY };

Result<void> infer(NodeView& view) {
  for (size_t k : {kA, kB, kZeroY}) TRY(require_dtype(view, k, is_byte, "i8 or u8"));
  TRY(require_same_dtype(view, kA, kZeroA));
  TRY(require_same_dtype(view, kB, kZeroB));
  TRY(infer_matmul(view, kA, kB, dtype_of(view, kZeroY)));
  if (!view.outputs[0].has_rank()) return {};
  for (size_t k : {kScaleA, kZeroA, kScaleY, kZeroY}) TRY(require_parameter(view, k, Side::rows, *view.outputs[0].shape));
  for (size_t k : {kScaleB, kZeroB}) TRY(require_parameter(view, k, Side::columns, *view.outputs[0].shape));
  return {};
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  MatmulLoop mm = matmul_loop(view, kA, kB);
  const DimList shape = mm.shape;
  const int m = mm.m, n = mm.n;
  auto number = [&](Loop& loop, size_t k, Side side) { return load_parameter(loop, view, k, side, shape, m, n); };
  const Expr a =
      cast(load(mm.loop, operand_access(view, kA, mm.index_a)), DType::i32) - cast(number(mm.loop, kZeroA, Side::rows), DType::i32);
  const Expr b =
      cast(load(mm.loop, operand_access(view, kB, mm.index_b)), DType::i32) - cast(number(mm.loop, kZeroB, Side::columns), DType::i32);
  return contraction_form(std::move(mm.loop), a * b, view.outputs[0].dtype, shape, [&](Expr sum, Loop& map) {
    auto scale = [&](size_t k, Side side) { return cast(number(map, k, side), DType::f32); };
    const Expr factor = scale(kScaleA, Side::rows) * scale(kScaleB, Side::columns) / scale(kScaleY, Side::rows);
    return requantized(cast(sum, DType::f32) * factor, number(map, kZeroY, Side::rows), view.outputs[0].dtype);
  });
}

Result<void> evaluate(Call& call) {
  const Tensor &a = *call.in[kA], &b = *call.in[kB];
  const MatmulSizes s = TRY(matmul_sizes(call.view, a.shape(), b.shape()));
  Tensor& y = *TRY(call.make(0, s.shape));
  for (int64_t i = 0; i < y.count(); ++i) {
    const ProductElement e = element_of(s, i);
    auto of = [&](size_t k, Side side) { return parameter_at(*call.in[k], side, e.at, s.shape); };
    const double za = of(kZeroA, Side::rows), zb = of(kZeroB, Side::columns);
    double sum = 0;
    for (int64_t k = 0; k < s.k; ++k) sum += (a.number(e.row_a + k) - za) * (b.number(e.column_b + k * s.n) - zb);
    const double factor = of(kScaleA, Side::rows) * of(kScaleB, Side::columns) / of(kScaleY, Side::rows);
    y.set_number(i, requantized(sum * factor, of(kZeroY, Side::rows), y.dtype()));
  }
  return {};
}

}  // namespace

OP(qlinear_matmul) {
    .name = "QLinearMatMul",
    .since_version = 21,
    .inputs = {{"a", "a_scale", "a_zero_point", "b", "b_scale", "b_zero_point", "y_scale", "y_zero_point"}},
    .outputs = {{"y"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .lowest_opset = [](const NodeView& view) { return dtype_of(view, kScaleA) == DType::f32 ? 10 : 21; },
    .first_opset = 10,
    .samples = {{"u8[3,4] in 0..255, f32[] = 0.0125, u8[] = 113, u8[4,5] in 0..255, f32[] = 0.0117, u8[] = 114, f32[] = 0.0337, u8[] = 118",
                 "i8[2,3,4], f32[] = 0.1, i8[] = 1, i8[2,4,5], f32[5] in 0.1..0.3, i8[5], f32[] = 0.05, i8[] = -3"}},
};

}  // namespace tenon::ops::op_qlinear_matmul
