// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/require.h"
#include "ops/quant/parameters.h"

namespace tenon::ops::op_matmul_integer {

namespace {

Result<void> infer(NodeView& view) {
  for (size_t k : {0, 1}) TRY(require_dtype(view, k, is_byte, "i8 or u8"));
  for (size_t k : {0, 1})
    if (view.has(k + 2)) TRY(require_same_dtype(view, k, k + 2));
  TRY(infer_matmul(view, 0, 1, DType::i32));
  if (!view.outputs[0].has_rank()) return {};
  TRY(require_parameter(view, 2, Side::rows, *view.outputs[0].shape));
  return require_parameter(view, 3, Side::columns, *view.outputs[0].shape);
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  MatmulLoop mm = matmul_loop(view, 0, 1);
  Expr factor[2] = {load(mm.loop, operand_access(view, 0, mm.index_a)), load(mm.loop, operand_access(view, 1, mm.index_b))};
  for (size_t k : {0, 1}) {
    factor[k] = cast(factor[k], DType::i32);
    if (view.has(k + 2))
      factor[k] = factor[k] - cast(load_parameter(mm.loop, view, k + 2, k ? Side::columns : Side::rows, mm.shape, mm.m, mm.n), DType::i32);
  }
  return contraction_form(std::move(mm.loop), factor[0] * factor[1], DType::i32, mm.shape);
}

Result<void> evaluate(Call& call) {
  const Tensor &a = *call.in[0], &b = *call.in[1];
  const MatmulSizes s = TRY(matmul_sizes(call.view, a.shape(), b.shape()));
  Tensor& y = *TRY(call.make(0, s.shape));
  for (int64_t i = 0; i < y.count(); ++i) {
    const auto [at, row, column] = element_of(s, i);
    const int64_t za = call.has(2) ? static_cast<int64_t>(parameter_at(*call.in[2], Side::rows, at, s.shape)) : 0;
    const int64_t zb = call.has(3) ? static_cast<int64_t>(parameter_at(*call.in[3], Side::columns, at, s.shape)) : 0;
    int64_t sum = 0;
    for (int64_t k = 0; k < s.k; ++k) sum += (a.integer(row + k) - za) * (b.integer(column + k * s.n) - zb);
    y.set_integer(i, sum);
  }
  return {};
}

}  // namespace

OP(matmul_integer) {
    .name = "MatMulInteger",
    .since_version = 10,
    .inputs = {{"A", "B", "a_zero_point?", "b_zero_point?"}},
    .outputs = {{"Y"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .first_opset = 10,
    .samples = {{"u8[3,4], i8[4,5]", "u8[3,4] in 0..255, u8[4,5] in 0..255, u8[] = 7, u8[] = 3", "i8[2,3,4], i8[4,5], i8[3], i8[5]",
                 "u8[3,4], i8[4,5], u8[1], _"}},
};

}  // namespace tenon::ops::op_matmul_integer
