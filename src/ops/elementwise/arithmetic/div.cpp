// SPDX-License-Identifier: Apache-2.0
#include "ops/elementwise/arithmetic/scaled.h"
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/versions/adapters.h"
#include "ops/versions/lowest_opset.h"

namespace tenon::ops::op_div {

OP(div) {
    .name = "Div",
    .since_version = 14,
    .inputs = {{"a", "b"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_binary(view));
      propagate_data(view, [&view](Dim a, Dim b) -> std::optional<Dim> {
        if (is_float(view.outputs[0].dtype)) {  // only where the quotient is whole
          if (!a.is_number() || !b.is_number() || b.value() == 0 || a.value() % b.value() != 0) return std::nullopt;
          if (a.value() == 0 && b.value() < 0) return std::nullopt;  // -0, which a Dim cannot hold
          return a.value() / b.value();
        }
        if (a.is_number() && b.is_number()) return b.value() == 0 ? std::nullopt : std::optional<Dim>(a.value() / b.value());
        // An exact quotient needs no rounding; where b is 0 at run time the op has no defined result.
        if (auto quotient = exact_quotient(a, b)) return quotient;
        if (b.lower() <= 0 || a.lower() <= -b.lower()) return std::nullopt;
        return floor_div(a.lower() < 0 ? max(a, 0) : a, b);  // integers truncate: what lies between -b and 0 gives 0
      });
      return {};
    },
    .loop_form = binary_form<[](Expr a, Expr b) { return a / b; }>,
    .fold = [](const NodeView& view, std::span<const ir::ConstantRef> in) { return fold_scaled(view, in, true); },
    .reference =
        [](Call& call) {
          return map_elements(call, FloatBinary([](double a, double b) -> double { return a / b; }),
                              IntBinary([](int64_t a, int64_t b) -> int64_t { return b == 0    ? 0
                                                                                     : b == -1 ? wrap_sub(0, a)
                                                                                               : a / b; }),
                              UnsignedBinary([](uint64_t a, uint64_t b) -> uint64_t { return b == 0 ? 0 : a / b; }));
        },
    .upgrade = broadcast_upgrade,
    .lowest_opset = lowest_opset_of_arithmetic,
    .samples = {{"f32[2,3], f32[2,3] in 0.5..3", "f32[2,1], f32[1,3] in 0.5..3", "f16[4], f16[] in 1..2", "f64[0], f64[1]",
                 "i64[6] = [-7, 7, -7, 7, 5, 0], i64[6] = [2, 2, -2, -2, 1, 3]", "i32[3], i32[3] in 1..4", "u8[3], u8[3] in 1..4",
                 "u64[2] = [18446744073709551615, 7], u64[2] = [3, 2]", "f32[2], f32[2] = [0, -0.0]"}},
};

}  // namespace tenon::ops::op_div
