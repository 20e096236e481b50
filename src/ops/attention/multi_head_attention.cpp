// SPDX-License-Identifier: Apache-2.0
#include "ops/attention/heads.h"
#include "ops/definition/infer_by_definition.h"
#include "ops/definition/pieces.h"
#include "ops/infer/types.h"

namespace tenon::ops::op_multi_head_attention {

namespace {

enum Input : size_t { kQuery, kKey, kValue, kBias, kPadding, kScores, kPastKey, kPastValue, kPastLength, kBeams };

/// Operands side by side, [batch, sequence, heads * size]; neither packed ones nor beams.
bool is_plain(const NodeView& view) {
  if (!ranks_known(view, {kQuery, kKey, kValue}) || view.has(kPastLength) || view.has(kBeams) || view.outputs.size() > 3) return false;
  for (size_t k : {kQuery, kKey, kValue})
    if (view.rank(k) != 3 || !view.type(k).dim(2).is_number()) return false;
  return !view.has(kPadding) || (view.type(kPadding).has_rank() && view.rank(kPadding) >= 2 && view.rank(kPadding) <= 3);
}

/// Query, key and value with their parts of the bias.
std::vector<ir::ValueId> with_bias(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  std::vector<ir::ValueId> out{in[kQuery], in[kKey], in[kValue]};
  int64_t begin = 0;
  for (size_t k : {kQuery, kKey, kValue}) {
    const int64_t end = begin + view.type(k).dim(2).value();
    if (view.has(kBias)) out[k] = build("Add", {out[k], part_of(build, in[kBias], 0, begin, end)});
    begin = end;
  }
  return out;
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!is_plain(view)) return {};
  const ir::Attributes& a = *view.attributes;
  const DType dtype = view.type(kQuery).dtype;
  std::vector<ir::ValueId> operands = with_bias(build, view, in);
  operands.push_back(view.has(kScores) ? in[kScores] : ir::ValueId{});
  if (view.has(kPadding)) {
    const ir::ValueId padding = padding_scores(build, in[kPadding], view, kPadding, dtype, a.number("mask_filter_value", -10000));
    operands[3] = operands[3] ? build("Add", {operands[3], padding}) : padding;
  }
  for (size_t k : {kPastKey, kPastValue})
    if (view.has(k)) operands.push_back(in[k]);
  const int64_t heads = a.integer("num_heads", 1);
  std::vector<std::pair<std::string, ir::Attribute>> how{
      {"is_causal", a.integer("unidirectional", 0)}, {"kv_num_heads", heads}, {"q_num_heads", heads}};
  if (view.has(kScores)) how.emplace_back("masked_rows", std::string("nan"));
  if (a.number("scale", 0) != 0) how.emplace_back("scale", a.number("scale", 0));
  return build.many("Attention", operands, view.outputs.size(), std::move(how));
}

}  // namespace

OP(multi_head_attention) {
    .name = "MultiHeadAttention",
    .domain = "com.microsoft",
    .inputs = {{"query", "key?", "value?", "bias?", "key_padding_mask?", "attention_bias?", "past_key?", "past_value?",
                "past_sequence_length?", "cache_indirection?"}},
    .outputs = {{"output", "present_key?", "present_value?", "qk?"}},
    .attributes = {{"mask_filter_value: float", "num_heads: int!", "scale: float", "unidirectional: int = 0"}},
    .infer = infer_by_definition,
    .definition = define,
    .samples = {{"f32[2,4,24], f32[2,6,24], f32[2,6,24]; num_heads=3",
                 "f32[2,4,24], f32[2,6,24], f32[2,6,30], f32[78], _, f32[1,1,4,6]; num_heads=3, scale=0.5",
                 "f32[2,4,24], f32[2,4,24], f32[2,4,24], f32[72], i32[2,4] = [1,1,1,0,1,1,0,0]; num_heads=3, unidirectional=1",
                 "f32[1,2,8], f32[1,2,8], f32[1,2,8], _, _, _, f32[1,2,3,4], f32[1,2,3,4]; num_heads=2, outputs=3"}},
};

}  // namespace tenon::ops::op_multi_head_attention
