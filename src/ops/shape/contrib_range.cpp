// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/plain_ops.h"

namespace tenon::ops::op_contrib_range {

/// The op of ONNX with an optional step (default 1).
OP(contrib_range) {
    .name = "Range",
    .domain = "com.microsoft",
    .inputs = {{"start", "limit", "delta?"}},
    .outputs = {{"Y"}},
    .infer = infer_by_definition,
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          const auto number = [&](size_t k) { return build("Reshape", {in[k], build.ints({})}); };
          return std::vector{build("Range", {number(0), number(1), view.has(2) ? number(2) : scalar_like(build, in[0], 1)})};
        },
    .samples = {{"i64[] = 0, i64[] = 5", "i64[1] = [10], i64[1] = [3], i64[1] = [-2]", "f32[] = 0, f32[] = 1, f32[] = 0.25",
                 "i32[] = 3, i32[] = 9, i32[] = 4"}},
};

}  // namespace tenon::ops::op_contrib_range
