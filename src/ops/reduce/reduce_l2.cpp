// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/reduce/reduction.h"

namespace tenon::ops::op_reduce_l2 {

OP(reduce_l2) = reduce_op({
    .name = "ReduceL2",
    .since_version = 18,
    .loop_form = form_of_finished_sum<[](Expr x) { return x * x; }, [](Expr sum) { return sqrt(sum); }>,
    .reference = fold_rows<0, [](auto total, auto x) { return plus(total, times(x, x)); },
                           [](auto total, size_t) { return static_cast<decltype(total)>(std::sqrt(static_cast<double>(total))); }>,
    .samples = {.array = concatenated<kFloatReduceSamples, literals<"f32[2,0,3], i64[1] = [1]", "i32[2,3], i64[1] = [0]">>},
});

}  // namespace tenon::ops::op_reduce_l2
