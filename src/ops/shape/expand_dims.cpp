// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"

namespace tenon::ops::op_expand_dims {

/// Unsqueeze with one axis.
OP(expand_dims) {
    .name = "ExpandDims",
    .domain = "com.microsoft",
    .inputs = {{"X", "axis"}},
    .outputs = {{"Y"}},
    .infer = infer_by_definition,
    .definition =
        [](ir::Builder& build, const NodeView&, std::span<const ir::ValueId> in) {
          const ir::ValueId axis = build("Reshape", {cast_to(build, in[1], DType::i64), build.ints({1})});
          return std::vector{build("Unsqueeze", {in[0], axis})};
        },
    .samples = {{"f32[2,3], i32[] = 0", "f32[2,3], i32[] = -1", "i64[2,3], i32[1] = [1]", "f32[], i32[] = 0"}},
};

}  // namespace tenon::ops::op_expand_dims
