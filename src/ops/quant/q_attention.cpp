// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/projected_attention.h"
#include "ops/definition/infer_by_definition.h"
#include "ops/infer/require.h"
#include "ops/quant/definition.h"
#include "ops/quant/parameters.h"

namespace tenon::ops::op_q_attention {

namespace {

enum Input : size_t { kX, kWeights, kBias, kXScale, kWeightScale, kMask, kXZero, kWeightZero, kPast };

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const auto operand = [&](size_t k) { return view.has(k) ? in[k] : ir::ValueId{}; };
  if (attention_widths(view, kWeights).empty()) return {};
  const ir::ValueId projected =
      scaled_product(build, in[kX], in[kWeights], in[kXScale], in[kWeightScale], operand(kXZero), operand(kWeightZero), in[kBias]);
  return define_projected_attention(build, view, in, {kWeights, kMask, kPast}, projected, {});
}

}  // namespace

/// Attention whose projection (the product with the weights) is of 8-bit integers.
OP(q_attention) {
    .name = "QAttention",
    .domain = "com.microsoft",
    .inputs = {{"input", "weight", "bias", "input_scale", "weight_scale", "mask_index?", "input_zero_point?", "weight_zero_point?",
                "past?"}},
    .outputs = {{"output", "present?"}},
    .attributes = {{"do_rotary: int", "mask_filter_value: float", "num_heads: int!", "past_present_share_buffer: int", "scale: float",
                    "unidirectional: int = 0"}},
    .infer = [](NodeView& view) -> Result<void> {
      for (size_t k : {kX, kWeights}) TRY(require_dtype(view, k, is_byte, "i8 or u8"));
      TRY(require_rank(view, kX, 3));
      TRY(require_rank(view, kWeights, 2));
      TRY(check_projected_attention(view, {kWeights, kMask, kPast}));
      TRY(infer_by_definition(view));
      for (size_t k = 0; k < view.outputs.size(); ++k)
        if (view.outputs[k].dtype != dtype_of(view, kBias)) set_output(view, k, Type(dtype_of(view, kBias)));
      return {};
    },
    .definition = define,
    .samples = {{"u8[2,4,8] in 0..255, i8[8,24] in -128..127, f32[24], f32[] = 0.02, f32[] = 0.01, _, u8[] = 128, i8[] = 3; num_heads=2",
                 "u8[2,4,8] in 0..255, u8[8,24] in 0..255, f32[24], f32[] = 0.02, f32[24] in 0.001..0.01, i32[2] = [4, 2], u8[] = 12, "
                 "u8[24] in 0..255; num_heads=2",
                 "u8[2,3,8] in 0..255, i8[8,24] in -128..127, f32[24], f32[] = 0.02, f32[] = 0.01, i32[2,5] = [1,1,1,1,1,1,1,1,1,0], "
                 "u8[] = 128, i8[] = 0, f32[2,2,2,2,4]; num_heads=2, unidirectional=1, outputs=2"}},
};

}  // namespace tenon::ops::op_q_attention
