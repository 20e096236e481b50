// SPDX-License-Identifier: Apache-2.0
#include "ops/contract/product.h"
#include "ops/form/loops.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_matmul {

namespace {

Result<void> infer(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a number type"));
  TRY(require_same_dtype(view, 0, 1));
  return infer_matmul(view, 0, 1, dtype_of(view, 0));
}

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  MatmulLoop mm = matmul_loop(view, 0, 1);
  const Expr a = load(mm.loop, operand_access(view, 0, mm.index_a)), b = load(mm.loop, operand_access(view, 1, mm.index_b));
  return contraction_form(std::move(mm.loop), to_compute_dtype(a) * to_compute_dtype(b), view.outputs[0].dtype, mm.shape);
}

Result<void> evaluate(Call& call) {
  const Tensor &a = *call.in[0], &b = *call.in[1];
  const MatmulSizes s = TRY(matmul_sizes(call.view, a.shape(), b.shape()));
  Tensor& y = *TRY(call.make(0, s.shape));
  auto run = [&](auto x, auto w) {
    decltype(x) c(y.count());
    for (size_t i = 0; i < s.at_a.size(); ++i)
      multiply_add(x.data() + s.at_a[i], w.data() + s.at_b[i], c.data() + i * s.m * s.n, s.m, s.n, s.k);
    return c;
  };
  if (is_float(a.dtype())) store_numbers(y, run(numbers_of(a), numbers_of(b)));
  else store_integers(y, run(integers_of(a), integers_of(b)));
  return {};
}

}  // namespace

OP(matmul) {
    .name = "MatMul",
    .since_version = 13,
    .inputs = {{"A", "B"}},
    .outputs = {{"Y"}},
    .infer = infer,
    .loop_form = loop_form,
    .reference = evaluate,
    .lowest_opset = [](const NodeView& view) { return is_integer(view.type(0).dtype) ? 9 : 7; },
    .samples = {{"f32[3,4], f32[4,5]", "f32[4], f32[4]", "f32[4], f32[4,5]", "f32[3,4], f32[4]", "f32[2,3,4], f32[4,5]",
                 "f32[2,1,3,4], f32[5,4,2]", "f32[1,3,4], f32[7,4,1]", "f16[17,33], f16[33,9]", "f64[2,2], f64[2,2]", "i32[3,4], i32[4,5]",
                 "i64[2,3], i64[3,2]", "f32[3,0], f32[0,4]", "f32[0,3], f32[3,4]", "f32[65,130], f32[130,67]", "bf16[5,6], bf16[6,7]"}},
};

}  // namespace tenon::ops::op_matmul
