// SPDX-License-Identifier: Apache-2.0
#include "ops/infer/elementwise.h"

namespace tenon::ops::op_scatter {

/// The name that ScatterElements had in opsets 9 and 10.
OP(scatter) {
    .name = "Scatter",
    .since_version = 11,
    .inputs = {{"data", "indices", "updates"}},
    .attributes = {{"axis: int = 0"}},
    .infer = infer_same_type,
    .definition =
        [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
          return std::vector{build("ScatterElements", {in[0], in[1], in[2]}, {{"axis", view.attributes->integer("axis", 0)}})};
        },
    .first_opset = 9,
    .samples = {{"f32[3,3], i64[2,3] = [1, 0, 2, 0, 2, 1], f32[2,3]", "f16[1,5], i64[1,2] = [1, 3], f16[1,2]; axis=1"}},
};

}  // namespace tenon::ops::op_scatter
