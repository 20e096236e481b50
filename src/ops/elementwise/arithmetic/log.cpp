// SPDX-License-Identifier: Apache-2.0
#include "ops/form/loops.h"
#include "ops/infer/elementwise.h"
#include "ops/reference/map.h"

namespace tenon::ops::op_log {

OP(log) {
    .name = "Log",
    .since_version = 13,
    .inputs = {{"input"}},
    .infer = infer_float_unary,
    .loop_form = unary_form<[](Expr x) { return unary(ExprOp::log, x); }>,
    .reference = unary_reference<[](double x) { return std::log(x); }>,
    .samples = {{"f32[2,3] in 0.01..5", "f16[4] in 0.1..3", "f64[0]", "f64[] in 0.5..9", "f32[2] = [0, -1]"}},
};

}  // namespace tenon::ops::op_log
