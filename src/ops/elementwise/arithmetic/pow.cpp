// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "base/scalar.h"
#include "ops/form/loops.h"
#include "ops/infer/broadcast.h"
#include "ops/reference/indices.h"
#include "ops/versions/adapters.h"
#include "ops/versions/lowest_opset.h"

namespace tenon::ops::op_pow {

namespace {

Result<void> infer_pow(NodeView& view) {
  TRY(require_dtype(view, 0, is_number, "a numeric dtype"));
  TRY(require_dtype(view, 1, is_number, "a numeric dtype"));
  Type type(dtype_of(view, 0));
  type.shape = TRY(broadcast_inputs(view, 0, 2));
  set_output(view, 0, std::move(type));
  return {};
}

/// Small constant exponents become products and roots here, so that no backend has to recognise them.
Expr power(Expr base, Expr exponent, std::optional<double> known) {
  if (known == 2.0) return base * base;
  if (known == 3.0) return base * base * base;
  if (known == 1.0) return base;
  if (known == 0.5) {  // as C's pow: +0 of -0 and inf of -inf, where sqrt gives -0 and NaN
    return select(equal(base, Expr(-INFINITY)), Expr(INFINITY), sqrt(base + Expr(0.0)));
  }
  if (known == -1.0) return unary(ExprOp::reciprocal, base);
  return binary(ExprOp::pow, base, cast(exponent, base.dtype()));
}

/// Integer powers of integers are rounded, not truncated: `pow` goes through logarithms and may be slightly less than the exact integer.
Expr integer_power(const Expr& base, const Expr& exponent) {
  if (is_integer(exponent.dtype())) return binary(ExprOp::pow, base, cast(exponent, base.dtype()));
  const Expr power = binary(ExprOp::pow, cast(base, DType::f64), cast(exponent, DType::f64));
  const Expr near = unary(ExprOp::round_even, power);
  const Expr close = unary(ExprOp::abs, power - near) <= unary(ExprOp::abs, near) * Expr::constant(DType::f64, 1e-13);
  return select(close, near, power);
}

Result<LoopForm> form_of_pow(const NodeView& view) {
  const auto known = view.inputs[1].constant ? known_number(view, 1) : std::nullopt;
  const bool whole_numbers = is_integer(dtype_of(view, 0));
  return map_form(view, [=](std::span<const Expr> x) { return whole_numbers ? integer_power(x[0], x[1]) : power(x[0], x[1], known); });
}

Result<void> reference_of_pow(Call& call) {
  const Tensor &a = *call.in[0], &b = *call.in[1];
  const Sizes shape = TRY(broadcast_sizes(call.view, a.shape(), b.shape()));
  Tensor* out = TRY(call.make(0, shape));
  if (out->count() == 0) return {};
  const Sizes sa = broadcast_strides(a.shape(), shape), sb = broadcast_strides(b.shape(), shape);
  Sizes at(shape.size(), 0);
  int64_t i = 0;
  const bool floats = is_float(out->dtype());
  do {
    const double power = std::pow(a.number(offset_of(at, sa)), b.number(offset_of(at, sb)));
    if (floats || is_integer(b.dtype())) out->set_number(i++, power);
    else out->set_integer(i++, saturate_number(out->dtype(), power));
  } while (next_index(at, shape));
  return {};
}

}  // namespace

OP(pow) {
    .name = "Pow",
    .since_version = 15,
    .inputs = {{"x", "y"}},
    .infer = infer_pow,
    .loop_form = form_of_pow,
    .reference = reference_of_pow,
    .upgrade = broadcast_upgrade,
    .lowest_opset = [](const NodeView& view) { return dtype_of(view, 0) != dtype_of(view, 1) ? 12 : lowest_opset_of_integers<12>(view); },
    .samples = {{"f32[2,3] in 0.1..3, f32[2,3]", "f32[2,3], f32[] = 2", "f32[2,3], f32[] = 3", "f32[3] in 0.1..2, f32[] = 0.5",
                 "f32[3] in 0.1..2, f32[] = -1", "f16[4] in 0.1..2, f16[1]", "f64[0], f64[1]", "f32[2,1] in 1..2, i64[3] in 0..3",
                 "i32[3] in 1..4, i32[3] in 0..3", "i64[3] in 1..4, f32[3] = [0, 1, 2]",
                 "f32[6] = [-inf, -0.0, 0, 4, inf, -1], f32[] = 0.5"}},
};

}  // namespace tenon::ops::op_pow
