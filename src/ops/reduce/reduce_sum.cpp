// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduction.h"

#include <algorithm>
#include <cmath>

namespace tenon::ops::op_reduce_sum {

OP(reduce_sum) {
    .name = "ReduceSum",
    .since = 13,
    .inputs = kReduceInputs,
    .outputs = kReduceOutputs,
    .attributes = kReduceAttributes,
    .infer = infer_number_reduce,
    .form = [](const NodeView& view) { return form_of_reduce(view, Combine::sum, nullptr, nullptr); },
    .reference =
        [](Call& call) {
          return reference_of_reduce(
              call,
              [](std::span<const double> x) {
                double sum = 0;
                for (double v : x) sum += v;
                return sum;
              },
              [](std::span<const int64_t> x) {
                int64_t sum = 0;
                for (int64_t v : x) sum = wrap_add(sum, v);
                return sum;
              });
        },
    .upgrade = axes_to_operand,
    .lowest_opset = lowest_opset_of_reduce<13>,
    .downgrade = axes_to_attribute,
    .samples = {"f32[2,3,4], i64[1] = [1]", "f32[2,3,4]; keepdims=0", "f32[2,3,4], i64[2] = [-1, 0]; keepdims=0", "f16[3,5], i64[1] = [-1]",
                "f64[7]", "f32[2,3], i64[0] = []; noop_with_empty_axes=1", "f32[]", "f32[2,0,3], i64[1] = [1]", "i32[2,3], i64[1] = [0]",
                "i64[4,2]; keepdims=0"},
};

}  // namespace tenon::ops::op_reduce_sum
