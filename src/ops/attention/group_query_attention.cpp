// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/definition/infer_by_definition.h"
#include "ops/definition/pieces.h"
#include "ops/infer/types.h"

namespace tenon::ops::op_group_query_attention {

namespace {

enum Input : size_t { kQuery, kKey, kValue, kPastKey, kPastValue, kLast, kTotal, kCosine, kSine, kPositions, kScores, kSink };

/// A prompt without a cache. Packed operands, caches, rotation inside, sinks and norms of the heads are not known here.
bool is_plain(const NodeView& view) {
  if (!ranks_known(view, {kQuery, kKey, kValue}) || view.has(kPastKey) || view.outputs.size() > 3) return false;
  for (size_t k = kCosine; k < view.explicit_inputs; ++k)
    if (k != kScores && view.has(k)) return false;
  const ir::Attributes& a = *view.attributes;
  return a.integer("do_rotary", 0) == 0 && a.integer("smooth_softmax", 0) != 1 && a.integer("sliding_window_cache", 0) == 0;
}

/// 0 for a key that its sequence has, -inf behind its end: [batch, 1, 1, keys].
ir::ValueId ends(ir::Builder& build, std::span<const ir::ValueId> in, DType dtype) {
  const ir::ValueId places = counting(build, size_of(build, in[kKey], 1));
  const ir::ValueId last = build("Reshape", {cast_to(build, in[kLast], DType::i64), build.ints({-1, 1, 1, 1})});
  return build("Where", {build("LessOrEqual", {places, last}), build.scalar(dtype, 0), build.scalar(dtype, -INFINITY)});
}

std::vector<ir::ValueId> define(ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
  if (!is_plain(view)) return {};
  const ir::Attributes& a = *view.attributes;
  ir::ValueId mask = ends(build, in, view.type(kQuery).dtype);
  if (view.has(kScores)) mask = build("Add", {mask, in[kScores]});
  const int64_t window = a.integer("local_window_size", -1);
  std::vector<std::pair<std::string, ir::Attribute>> how{{"is_causal", a.integer("causal", 1)},
                                                         {"kv_num_heads", a.integer("kv_num_heads", 1)},
                                                         {"left_window_size", window > 0 ? window - 1 : int64_t{-1}},
                                                         {"q_num_heads", a.integer("num_heads", 1)},
                                                         {"softcap", a.number("softcap", 0)}};
  if (a.number("scale", 0) != 0) how.emplace_back("scale", a.number("scale", 0));
  return build.many("Attention", {in[kQuery], in[kKey], in[kValue], mask}, view.outputs.size(), std::move(how));
}

}  // namespace

OP(group_query_attention) {
    .name = "GroupQueryAttention",
    .domain = "com.microsoft",
    .inputs = {{"query", "key?", "value?", "past_key?", "past_value?", "seqlens_k", "total_sequence_length", "cos_cache?", "sin_cache?",
                "position_ids?", "attention_bias?", "head_sink?", "k_scale?", "v_scale?", "q_norm_weight?", "k_norm_weight?"}},
    .outputs = {{"output", "present_key?", "present_value?", "output_qk?"}},
    .attributes = {{"causal: int = 1", "do_rotary: int", "k_quant_type: string = NONE", "kv_cache_bit_width: int", "kv_num_heads: int!",
                    "local_window_size: int = -1", "num_heads: int!", "qk_norm_epsilon: float = 1e-06", "qk_output: int = 0",
                    "rotary_interleaved: int", "scale: float", "sliding_window_cache: int = 0", "smooth_softmax: int = -1",
                    "softcap: float", "v_quant_type: string = NONE"}},
    .infer = infer_by_definition,
    .definition = define,
    .samples =
        {{"f32[2,4,24], f32[2,4,8], f32[2,4,8], _, _, i32[2] = [3,3], i32[1] = [4]; num_heads=6, kv_num_heads=2, outputs=3",
          "f32[2,4,24], f32[2,4,8], f32[2,4,8], _, _, i32[2] = [3,1], i32[1] = [4]; num_heads=6, kv_num_heads=2, scale=0.3, local_window_size=2"}},
};

}  // namespace tenon::ops::op_group_query_attention
