// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduction.h"

namespace tenon::ops::op_reduce_mean {

namespace {

constexpr auto mean = [](auto total, size_t count) {
  if (std::is_integral_v<decltype(total)> && count == 0) return decltype(total){};
  return total / static_cast<decltype(total)>(count);
};

}  // namespace

OP(reduce_mean) = reduce_op({
    .name = "ReduceMean",
    .since_version = 18,
    .loop_form =
        [](const NodeView& view) { return form_of_reduce(view, Combine::sum, nullptr, [](Expr sum, Expr count) { return sum / count; }); },
    .reference = fold_rows<0, [](auto total, auto x) { return plus(total, x); }, mean>,
    .samples = {.array = concatenated<kFloatReduceSamples, literals<"i32[2,3], i64[1] = [0]">>},
});

}  // namespace tenon::ops::op_reduce_mean
