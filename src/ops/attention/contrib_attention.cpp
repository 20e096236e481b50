// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/projected_attention.h"
#include "ops/core/refuse.h"
#include "ops/definition/infer_by_definition.h"

namespace tenon::ops::op_contrib_attention {

namespace {

enum Input : size_t { kX, kWeights, kBias, kPadding, kPast, kScores, kPastLength };

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (attention_widths(view, kWeights).empty()) return {};
  ir::ValueId all = build("MatMul", {in[kX], in[kWeights]});
  if (view.has(kBias)) all = build("Add", {all, in[kBias]});
  return define_projected_attention(build, view, in, {kWeights, kPadding, kPast}, all, view.has(kScores) ? in[kScores] : ir::ValueId{});
}

Result<void> infer(NodeView& view) {
  if (view.has(kPastLength))
    return refuse(view, Code::not_supported, "not supported yet: past_sequence_length").expected("no such operand").found("one");
  TRY(check_projected_attention(view, {kWeights, kPadding, kPast}));
  return infer_by_definition(view);
}

}  // namespace

OP(contrib_attention) {
    .name = "Attention",
    .domain = "com.microsoft",
    .inputs = {{"input", "weights", "bias?", "mask_index?", "past?", "attention_bias?", "past_sequence_length?"}},
    .outputs = {{"output", "present?"}},
    .attributes = {{"do_rotary: int", "mask_filter_value: float", "num_heads: int!", "past_present_share_buffer: int",
                    "qkv_hidden_sizes: ints", "rotary_embedding_dim: int", "scale: float", "unidirectional: int = 0"}},
    .infer = infer,
    .definition = define,
    .samples = {{"f32[2,4,8], f32[8,24], f32[24]; num_heads=2",
                 "f32[2,4,8], f32[8,20], f32[20]; num_heads=2, qkv_hidden_sizes=[6,6,8], scale=0.3",
                 "f32[2,4,8], f32[8,24], _, i32[2,4] = [1,1,1,0,1,1,0,0], _, f32[1,2,4,4]; num_heads=2",
                 "f32[2,4,8], f32[8,24], f32[24], i32[2] = [4, 2]; num_heads=2, outputs=2",
                 "f32[2,3,8], f32[8,24], f32[24], _, f32[2,2,2,2,4]; num_heads=2, unidirectional=1, outputs=2",
                 "f32[2,3,8], f32[8,24], f32[24], i32[2] = [5, 4], f32[2,2,2,2,4]; num_heads=2, outputs=2",
                 "f32[2,4,8], f32[8,24], f32[24], i32[4] = [4, 3, 0, 1]; num_heads=2",
                 "f32[2,4,8], f32[8,24], f32[24], i32[8] = [4, 3, 0, 4, 7, 0, 4, 7]; num_heads=2",
                 "f32[2,2,8], f32[8,24], f32[24], i32[2,1,6,6] in 0..1, f32[2,2,2,3,4]; num_heads=2, outputs=2"}},
};

}  // namespace tenon::ops::op_contrib_attention
