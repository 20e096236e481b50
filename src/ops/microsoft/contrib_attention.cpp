// SPDX-License-Identifier: Apache-2.0
#include "ops/definition_helpers.h"
#include "ops/fused_helpers.h"

namespace tenon::ops {

namespace {

enum Input : size_t { kX, kWeights, kBias, kPadding, kPast, kScores, kPastLength };

/// Widths of query, key and value side by side; empty where they are not known or do not fit.
Ints widths(const NodeView& view) {
  if (!ranks_known(view, {kX, kWeights}) || !view.type(kWeights).dim(1).is_number()) return {};
  const int64_t all = view.type(kWeights).dim(1).value();
  const Ints given = view.attributes->ints("qkv_hidden_sizes");
  if (given.empty() && all % 3 == 0) return Ints(3, all / 3);
  return given.size() == 3 && given[0] + given[1] + given[2] == all ? given : Ints();
}

/// A cache, rotation inside and masks of other forms than one number a key are not known here.
std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  const ir::Attributes& a = *view.attributes;
  const Ints sizes = widths(view);
  const bool padded = view.has(kPadding);
  if (sizes.empty() || view.has(kPast) || view.has(kPastLength) || a.integer("do_rotary", 0) != 0 || view.outputs.size() > 1) return {};
  if (padded && (!view.type(kPadding).has_rank() || view.rank(kPadding) < 2 || view.rank(kPadding) > 3)) return {};
  ir::ValueId all = build("MatMul", {in[kX], in[kWeights]});
  if (view.has(kBias)) all = build("Add", {all, in[kBias]});
  std::vector<ir::ValueId> operands = build.many("Split", {all, build.ints(sizes)}, 3, {{"axis", int64_t{-1}}});
  ir::ValueId scores = view.has(kScores) ? in[kScores] : ir::ValueId{};
  if (padded) {
    const ir::ValueId padding =
        padding_scores(build, in[kPadding], view, kPadding, view.type(kX).dtype, a.number("mask_filter_value", -10000));
    scores = scores ? build("Add", {scores, padding}) : padding;
  }
  operands.push_back(scores);
  const int64_t heads = a.integer("num_heads", 1);
  std::vector<std::pair<std::string, ir::Attribute>> how{
      {"is_causal", a.integer("unidirectional", 0)}, {"kv_num_heads", heads}, {"q_num_heads", heads}};
  if (a.number("scale", 0) != 0) how.emplace_back("scale", a.number("scale", 0));
  return {build("Attention", operands, std::move(how))};
}

}  // namespace

OP(contrib_attention) {
    .name = "Attention",
    .domain = "com.microsoft",
    .inputs = {"input", "weights", "bias?", "mask_index?", "past?", "attention_bias?", "past_sequence_length?"},
    .outputs = {"output", "present?"},
    .attributes = {"do_rotary: int", "mask_filter_value: float", "num_heads: int!", "past_present_share_buffer: int",
                   "qkv_hidden_sizes: ints", "rotary_embedding_dim: int", "scale: float", "unidirectional: int = 0"},
    .infer = infer_by_definition,
    .definition = define,
    .samples = {"f32[2,4,8], f32[8,24], f32[24]; num_heads=2",
                "f32[2,4,8], f32[8,20], f32[20]; num_heads=2, qkv_hidden_sizes=[6,6,8], scale=0.3",
                "f32[2,4,8], f32[8,24], _, i32[2,4] = [1,1,1,0,1,1,0,0], _, f32[1,2,4,4]; num_heads=2"},
};

}  // namespace tenon::ops
