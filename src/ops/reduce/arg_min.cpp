// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/extreme_place.h"

namespace tenon::ops::op_arg_min {

OP(arg_min) {
    .name = "ArgMin",
    .since_version = 13,
    .inputs = {{"data"}},
    .outputs = {{"reduced"}},
    .attributes = {{"axis: int = 0", "keepdims: int = 1", "select_last_index: int = 0 since 12"}},
    .infer = infer_arg,
    .loop_form = [](const NodeView& view) { return arg_form(view, Combine::min); },
    .reference =
        [](Call& call) {
          return arg_reference(call, [](double a, double b) { return a > b; }, [](int64_t a, int64_t b) { return a > b; });
        },
    .samples = {{"f32[2,3,4]; axis=1", "f32[2,3]; axis=-1, keepdims=0", "i32[3,4] in 0..2; axis=1",
                 "i32[3,4] in 0..2; axis=1, select_last_index=1", "f16[5]", "u8[2,2]; keepdims=0", "f32[3] = [1, nan, 2]",
                 "f32[0,4]; axis=1", "f64[2,1]; axis=1", "u64[4]", "i8[4]"}},
};

}  // namespace tenon::ops::op_arg_min
