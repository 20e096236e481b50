// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/reduce/reduction.h"

namespace tenon::ops::op_reduce_log_sum {

OP(reduce_log_sum) = reduce_op({
    .name = "ReduceLogSum",
    .since_version = 28,
    .loop_form = form_of_finished_sum<[](Expr x) { return x; }, [](Expr sum) { return log(sum); }>,  // integers are legal before opset 28
    .reference = fold_rows<0, [](auto total, auto x) { return plus(total, x); },
                           [](auto total, size_t) { return static_cast<decltype(total)>(std::log(static_cast<double>(total))); }>,
    .samples = {.array =
                    literals<"f32[2,3,4] in 0.1..3, i64[1] = [1]", "f32[2,3,4] in 0.1..3; keepdims=0",
                             "f32[2,3,4] in 0.1..3, i64[2] = [-1, 0]; keepdims=0", "f16[3,5] in 0.5..2, i64[1] = [-1]", "f64[7] in 0.1..9",
                             "f32[2,3] in 0.1..2, i64[0] = []; noop_with_empty_axes=1", "f32[] = 3", "f32[2,0,3], i64[1] = [1]">},
});

}  // namespace tenon::ops::op_reduce_log_sum
