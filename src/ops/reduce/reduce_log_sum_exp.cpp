// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/core/refuse.h"
#include "ops/reduce/reduction.h"

namespace tenon::ops::op_reduce_log_sum_exp {

namespace {

/// The number that is subtracted before exp: the maximum of the row, or 0 where it is infinite, since infinity - infinity is NaN.
Expr shift_of(Expr largest) { return select(unary(ExprOp::is_inf, largest), Expr::constant(largest.dtype(), 0), largest); }

Result<LoopForm> loop_form(const NodeView& view) {
  TRY(require_known_ranks(view));
  const auto axes = TRY(reduced_axes(view));
  const DType dtype = view.outputs[0].dtype, wide = compute_dtype(dtype);
  if (!axes || !is_float(dtype)) return refuse(view, Code::not_supported, "not supported yet: a loop form for unknown axes or integers");
  const DimList& shape = *view.type(0).shape;
  const DimList rows = without_axes(shape, *axes);
  RowLoop largest = reduce_rows(shape, *axes);
  add_output(largest, wide, rows, largest.load_operand(view, 0), Combine::max);
  RowLoop sum = reduce_rows(shape, *axes);
  const Expr x = sum.load_operand(view, 0);
  add_output(sum, wide, rows, exp(x - shift_of(sum.load_of_row(0, wide))), Combine::sum);
  RowLoop last = each_row(shape, *axes);
  const Expr total = last.load_of_row(1, wide), shift = shift_of(last.load_of_row(0, wide));
  add_row_output(last, dtype, shape, *axes, view.attributes->integer("keepdims", 1) != 0, log(total) + shift);
  return loop_sequence_form({std::move(largest.loop), std::move(sum.loop), std::move(last.loop)});
}

double log_sum_exp(std::span<const double> x) {
  double top = -INFINITY, sum = 0;
  for (double v : x) top = std::fmax(top, v);
  if (std::isinf(top)) top = 0;
  for (double v : x) sum += std::exp(v - top);
  return std::log(sum) + top;
}

Result<void> evaluate(Call& call) {
  return reference_of_reduce(call, log_sum_exp, [](std::span<const int64_t> x) {
    return static_cast<int64_t>(log_sum_exp(std::vector<double>(x.begin(), x.end())));
  });
}

}  // namespace

OP(reduce_log_sum_exp) = reduce_op({
    .name = "ReduceLogSumExp",
    .since_version = 28,
    .loop_form = loop_form,
    .reference = evaluate,
    .samples = {.array = literals<"f32[2,3,4], i64[1] = [1]", "f32[2,3,4]; keepdims=0", "f32[4] in 80..120", "f16[3,5], i64[1] = [-1]",
                                  "f64[7]", "f32[2,3], i64[0] = []; noop_with_empty_axes=1", "f32[] = -inf", "f32[2] = [inf, 1]",
                                  "f32[2,0,3], i64[1] = [1]">},
});

}  // namespace tenon::ops::op_reduce_log_sum_exp
