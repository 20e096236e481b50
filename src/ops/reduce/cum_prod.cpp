// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/cumulative.h"

namespace tenon::ops::op_cum_prod {

OP(cum_prod) {
    .name = "CumProd",
    .since = 26,
    .inputs = {"x", "axis"},
    .outputs = {"y"},
    .attributes = {"exclusive: int = 0", "reverse: int = 0"},
    .infer = infer_cumulative,
    .form = [](const NodeView& view) { return cumulative_form(view, Combine::product); },
    .reference = [](Call& call) { return cumulative_reference(call, 1, [](double a, double b) { return a * b; }, wrap_mul); },
    .first = 26,
    .samples = {"f32[5], i64[] = 0", "f32[2,3,4], i64[] = 1", "f32[2,3], i32[] = -1; exclusive=1", "f32[2,3], i64[] = 0; reverse=1",
                "f64[4], i64[] = 0; exclusive=1, reverse=1", "i64[2,3], i64[] = 1", "f32[0,2], i64[] = 0", "i32[6], i64[] = 0"},
};

}  // namespace tenon::ops::op_cum_prod
