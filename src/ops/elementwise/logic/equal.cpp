// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"
#include "ops/reference/texts.h"
#include "ops/versions/adapters.h"

namespace tenon::ops::op_equal {

namespace {

bool accepted(DType dtype) { return is_number_or_bool(dtype) || dtype == DType::string; }

Result<LoopForm> loop_form(const NodeView& view) {
  if (view.type(0).dtype == DType::string) return refuse(view, Code::not_supported, "not supported yet: a loop form for strings");
  return map_form(view, [](std::span<const Expr> x) { return equal(x[0], x[1]); });
}

Result<void> evaluate(Call& call) {
  if (call.in[0]->dtype() == DType::string)
    return each_text_pair(call, [](Tensor& y, int64_t i, const std::string& a, const std::string& b) { y.set_integer(i, a == b); });
  return map_elements(call, FloatBinary([](double a, double b) -> double { return a == b; }),
                      IntBinary([](int64_t a, int64_t b) -> int64_t { return a == b; }),
                      UnsignedBinary([](uint64_t a, uint64_t b) -> uint64_t { return a == b; }));
}

}  // namespace

OP(equal) {
    .name = "Equal",
    .since_version = 19,
    .inputs = {{"a", "b"}},
    .commutative = true,
    .infer = [](NodeView& view) -> Result<void> {
      TRY(infer_comparison(view, accepted));
      propagate_data(view, [](Dim a, Dim b) -> std::optional<Dim> { return equal_to(a, b); });
      return {};
    },
    .loop_form = loop_form,
    .reference = evaluate,
    .upgrade = broadcast_upgrade,
    .samples = {{"f32[2,3], f32[2,3]", "f32[2,1], f32[1,3]", "bool[4], bool[4]", "f64[0], f64[1]", "i64[4], i64[4]", "u8[3], u8[]",
                 "u64[2] = [18446744073709551615, 7], u64[2] = [3, 7]", "f16[3] = [nan, inf, 1], f16[3] = [nan, inf, 1]",
                 "i32[5] in 0..2, i32[5] in 0..2"}},
};

}  // namespace tenon::ops::op_equal
