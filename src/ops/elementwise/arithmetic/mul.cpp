// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/arithmetic/scaled.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/versions/adapters.h"
#include "ops/versions/lowest_opset.h"

namespace tenon::ops::op_mul {

namespace {

/// The float product of a zero and a negative number is -0, which a Dim cannot hold.
bool may_be_negative_zero(Dim a, Dim b) {
  const auto may_be_zero = [](Dim d) { return d.lower() <= 0 && d.upper() >= 0; };
  return (may_be_zero(a) || may_be_zero(b)) && (a.lower() < 0 || b.lower() < 0);
}

}  // namespace

OP(mul) {
    .name = "Mul",
    .since_version = 14,
    .inputs = {{"a", "b"}},
    .commutative = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_binary(view));
      const bool floats = is_float(view.outputs[0].dtype);
      propagate_data(view, [floats](Dim a, Dim b) -> std::optional<Dim> {
        if (floats && may_be_negative_zero(a, b)) return std::nullopt;
        return a * b;
      });
      return {};
    },
    .loop_form = binary_form<[](Expr a, Expr b) { return a * b; }>,
    .fold = [](const NodeView& view, std::span<const ir::ConstantRef> in) { return fold_scaled(view, in, false); },
    .reference =
        [](Call& call) {
          return map_elements(call, FloatBinary([](double a, double b) -> double { return a * b; }),
                              IntBinary([](int64_t a, int64_t b) -> int64_t { return wrap_mul(a, b); }));
        },
    .upgrade = broadcast_upgrade,
    .lowest_opset = lowest_opset_of_arithmetic,
    .samples = {{"f32[2,3], f32[2,3]", "f32[2,3], f32[3]", "f32[2,1], f32[1,3]", "f16[4], f16[]", "f64[0], f64[1]", "f64[], f64[]",
                 "i64[2,2], i64[2]", "i32[3], i32[3]", "u8[3], u8[3]", "f32[2,1,4], f32[3,1]"}},
};

}  // namespace tenon::ops::op_mul
