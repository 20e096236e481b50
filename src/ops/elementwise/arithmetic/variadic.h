// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "ops/infer/elementwise.h"
#include "ops/versions/lowest_opset.h"

namespace tenon::ops {

/// join(join(x[0], x[1]), x[2]), ...
template <auto join>
Expr joined(std::span<const Expr> x) {
  Expr e = x[0];
  for (size_t i = 1; i < x.size(); ++i) e = join(e, x[i]);
  return e;
}

inline constexpr StringList kOrderedSamples = {
    {"f32[2,3], f32[2,3]", "f32[3], f32[2,1], f32[1]", "f16[4], f16[]", "f64[0], f64[1]", "f32[2]", "i64[3], i64[3]", "u8[2], u8[2]",
     "i32[], i32[2], i32[2]", "u64[2] = [18446744073709551615, 7], u64[2] = [3, 9]", "f32[3] = [nan, 1, inf], f32[3] = [1, nan, -inf]"}};
/// The fields that Sum, Mean, Min and Max share.
constexpr OpDef variadic_op(OpDef own) {
  own.since_version = 13;
  own.inputs = {.array = literals<"data_0", "data*">};
  own.commutative = true;
  if (!own.infer) own.infer = [](NodeView& view) { return infer_variadic(view, is_arithmetic_float); };
  if (!own.lowest_opset) own.lowest_opset = lowest_opset_of_shapes;
  if (own.samples.empty())
    own.samples = {.array = literals<"f32[2,3], f32[2,3]", "f32[3], f32[2,1], f32[1]", "f16[4], f16[]", "f64[0], f64[1]", "f32[2]">};
  return own;
}

}  // namespace tenon::ops
