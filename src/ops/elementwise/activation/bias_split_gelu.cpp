// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_bias_split_gelu {

OP(bias_split_gelu) {
    .name = "BiasSplitGelu",
    .domain = "com.microsoft",
    .inputs = {{"X", "bias"}},
    .outputs = {{"Y"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_rank(view, 0, 3));
      TRY(require_rank(view, 1, 1));
      return infer_by_definition(view);
    },
    .definition = [](ir::Builder& build, const NodeView&, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      const auto halves = build.many("Split", {build("Add", {in[0], in[1]})}, 2, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}});
      return {build("Mul", {halves[0], build("Gelu", {halves[1]})})};
    },
    .samples = {{"f32[2,3,8], f32[8]", "f16[1,2,4], f16[4]"}},
};

}  // namespace tenon::ops::op_bias_split_gelu
