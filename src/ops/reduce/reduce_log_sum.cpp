// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduction.h"

#include <algorithm>
#include <cmath>

namespace tenon::ops::op_reduce_log_sum {

namespace {

/// Integers (legal before opset 28) take the logarithm in f64 and are truncated.
Expr log_of(Expr sum, Expr) { return is_float(sum.dtype()) ? log(sum) : cast(log(cast(sum, DType::f64)), sum.dtype()); }

}  // namespace

OP(reduce_log_sum) {
    .name = "ReduceLogSum",
    .since = 28,
    .inputs = kReduceInputs,
    .outputs = kReduceOutputs,
    .attributes = kReduceAttributes,
    .infer = infer_number_reduce,
    .form = [](const NodeView& view) { return form_of_reduce(view, Combine::sum, nullptr, log_of); },
    .reference =
        [](Call& call) {
          return reference_of_reduce(
              call,
              [](std::span<const double> x) {
                double sum = 0;
                for (double v : x) sum += v;
                return std::log(sum);
              },
              [](std::span<const int64_t> x) {
                int64_t sum = 0;
                for (int64_t v : x) sum = wrap_add(sum, v);
                return static_cast<int64_t>(std::log(static_cast<double>(sum)));
              });
        },
    .upgrade = axes_to_operand,
    .lowest_opset = lowest_opset_of_reduce<18>,
    .downgrade = axes_to_attribute,
    .samples = {"f32[2,3,4] in 0.1..3, i64[1] = [1]", "f32[2,3,4] in 0.1..3; keepdims=0",
                "f32[2,3,4] in 0.1..3, i64[2] = [-1, 0]; keepdims=0", "f16[3,5] in 0.5..2, i64[1] = [-1]", "f64[7] in 0.1..9",
                "f32[2,3] in 0.1..2, i64[0] = []; noop_with_empty_axes=1", "f32[] = 3", "f32[2,0,3], i64[1] = [1]"},
};

}  // namespace tenon::ops::op_reduce_log_sum
