// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/scalar.h"
#include "ops/reduce/reduction.h"
#include "ops/versions/versions.h"

namespace tenon::ops::op_reduce_min {

namespace {

bool accepted(DType d) { return is_number(d) || is_bool(d); }

double extreme(std::span<const double> x) { return std::accumulate(x.begin(), x.end(), double{INFINITY}, minimum); }

Result<void> evaluate(Call& call) {
  const DType dtype = call.in[0]->dtype();
  return reference_of_reduce(call, extreme, [dtype](std::span<const int64_t> x) {
    int64_t best = largest_integer(dtype);
    for (int64_t v : x) {
      const bool better = dtype == DType::u64 ? uint64_t(best) > uint64_t(v) : best > v;
      best = better ? v : best;
    }
    return best;
  });
}

}  // namespace

OP(reduce_min) {
    .name = "ReduceMin",
    .since = 20,
    .inputs = kReduceInputs,
    .outputs = kReduceOutputs,
    .attributes = kReduceAttributes,
    .infer = [](NodeView& view) { return infer_reduce(view, accepted, "a number type or bool"); },
    .form =
        [](const NodeView& view) {
          return form_of_reduce(view, view.type(0).dtype == DType::boolean ? Combine::logical_and : Combine::min);
        },
    .reference = evaluate,
    .upgrade = axes_to_operand,
    .lowest_opset =
        [](const NodeView& view) { return std::max(is_short_integer(dtype_of(view, 0)) ? 12 : 7, lowest_opset_of_reduce<18>(view)); },
    .downgrade = axes_to_attribute,
    .samples = {"f32[2,3,4], i64[1] = [1]", "f32[2,3,4]; keepdims=0", "f32[2,3,4], i64[2] = [-1, 0]; keepdims=0", "f16[3,5], i64[1] = [-1]",
                "f64[7]", "f32[2,3], i64[0] = []; noop_with_empty_axes=1", "f32[]", "f32[2,0,3], i64[1] = [1]", "i32[2,3], i64[1] = [0]",
                "i64[4,2]; keepdims=0", "i8[2,2], i64[1] = [0]", "u8[5]", "bool[2,3], i64[1] = [1]", "u64[3]"},
};

}  // namespace tenon::ops::op_reduce_min
