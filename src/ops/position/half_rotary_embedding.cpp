// SPDX-License-Identifier: Apache-2.0
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"

namespace tenon::ops::op_half_rotary_embedding {

/// x * cos + (-second half of x, first half of x) * sin along the last axis; all three broadcast. The first half is the larger one
/// where the size is odd.
OP(half_rotary_embedding) {
    .name = "HalfRotaryEmbedding",
    .domain = "tenon",
    .inputs = {{"X", "cos", "sin"}},
    .outputs = {{"Y"}},
    .infer = [](NodeView& view) -> Result<void> {
      TRY(require_dtype(view, 0, is_arithmetic_float, "a float type"));
      for (size_t k : {1, 2}) TRY(require_same_dtype(view, 0, k));
      if (ranks_known(view, {0}) && view.rank(0) < 1) return refuse(view, Code::rank_mismatch, "X has no axis to rotate");
      return infer_by_definition(view);
    },
    .definition = [](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) -> std::vector<ir::ValueId> {
      if (!ranks_known(view, {0})) return {};
      const Dim size = view.type(0).dim(-1);
      const bool even = size.is_number() && size.value() % 2 == 0;
      const std::vector<ir::ValueId> halves =
          even ? build.many("Split", {in[0], build.ints({size.value() / 2, size.value() / 2})}, 2, {{"axis", int64_t{-1}}})
               : build.many("Split", {in[0]}, 2, {{"axis", int64_t{-1}}, {"num_outputs", int64_t{2}}});
      const ir::ValueId rotated = build("Concat", {build("Neg", {halves[1]}), halves[0]}, {{"axis", int64_t{-1}}});
      return {build("Add", {build("Mul", {in[0], in[1]}), build("Mul", {rotated, in[2]})})};
    },
    .samples = {{"f32[2,3,4,6], f32[2,1,4,6], f32[4,6]", "f16[5,8], f16[5,8], f16[5,8]", "f64[0,2], f64[2], f64[2]",
                 "f32[2,5], f32[1], f32[2,5]"}},
};

}  // namespace tenon::ops::op_half_rotary_embedding
