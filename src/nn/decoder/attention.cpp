// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <tuple>

#include "nn/decoder/parts.h"
#include "ops/definition/plain_ops.h"

namespace tenon::nn {
namespace {

struct Projections {
  ir::ValueId query, key, value;
};

/// Projects x to queries, keys and values, with three weights or with one weight (attn_qkv) that has the rows of all three.
Projections project(DecoderParts& parts, const std::string& layer, ir::ValueId x) {
  const DecoderConfig& c = parts.config;
  const int64_t queries = c.heads * c.head_size, keys = c.key_heads * c.head_size, all = queries + 2 * keys;
  WeightReader& w = parts.weights;
  if (const std::string joint = layer + "attn_qkv"; w.has(joint + ".weight"))
    return {w.linear_part(joint, x, c.width, all, 0, queries), w.linear_part(joint, x, c.width, all, queries, keys),
            w.linear_part(joint, x, c.width, all, queries + keys, keys)};
  return {w.linear(layer + "attn_q", x, c.width, queries), w.linear(layer + "attn_k", x, c.width, keys),
          w.linear(layer + "attn_v", x, c.width, keys)};
}

/// [batch, new, heads * size] to [batch, heads, new, size]; normalized by the weight `norm`.weight where the checkpoint has it: each head
/// alone, or all heads together where the weight has heads * size elements.
ir::ValueId split_heads(DecoderParts& parts, ir::ValueId x, int64_t heads, const std::string& norm = "") {
  const int64_t width = heads * parts.config.head_size;
  const bool is_joint = !norm.empty() && heads > 1 && parts.weights.has_shape(norm + ".weight", {width});
  if (is_joint) x = normalized(parts, norm, x, width);
  if (x) x = parts.build("Reshape", {x, parts.build.ints({0, 0, heads, parts.config.head_size})});
  if (!norm.empty() && !is_joint && parts.weights.has(norm + ".weight")) x = normalized(parts, norm, x, parts.config.head_size);
  return x ? ops::transposed(parts.build, x, {0, 2, 1, 3}) : x;
}

ir::ValueId rotated_by(DecoderParts& parts, const DecoderParts::Angles& angles, ir::ValueId x) {
  const DecoderConfig& c = parts.config;
  if (!x || c.rotation == Rotation::none) return x;
  const int64_t size = c.rotated_size == c.head_size ? 0 : c.rotated_size;
  return parts.build("RotaryEmbedding", {x, angles.cosines, angles.sines},
                     {{"interleaved", int64_t{c.rotation == Rotation::interleaved}}, {"rotary_embedding_dim", size}});
}

ir::ValueId rotated(DecoderParts& parts, int64_t layer, ir::ValueId x) {
  return rotated_by(parts, window_of(parts.config, layer) > 0 ? parts.window_angles : parts.angles, x);
}

/// Rotates queries and keys, in the form of the layer's cache: with joined keys (ring.h) both have two head sizes.
std::pair<ir::ValueId, ir::ValueId> rotated_pair(DecoderParts& parts, int64_t layer, ir::ValueId query, ir::ValueId key) {
  const ir::ValueId rotated_query = rotated(parts, layer, query), rotated_key = rotated(parts, layer, key);
  if (!parts.stream || !query || !key) return {rotated_query, rotated_key};
  const Ring ring = ring_of(parts, layer);
  if (!has_joined_keys(parts, ring)) return {rotated_query, rotated_key};
  const ir::ValueId sink_query =
      rotated_by(parts, window_of(parts.config, layer) > 0 ? parts.window_sink_angles : parts.sink_angles, query);
  return {parts.build("Concat", {rotated_query, sink_query}, {{"axis", int64_t{-1}}}), joined_keys(parts, ring, rotated_key)};
}

/// softmax(query x keys + mask) x values, f32[batch, new, heads * size].
ir::ValueId scaled_dot_product(DecoderParts& parts, int64_t layer, ir::ValueId query, ir::ValueId keys, ir::ValueId values) {
  const DecoderConfig& c = parts.config;
  ir::Builder& build = parts.build;
  std::vector<std::pair<std::string, ir::Attribute>> attributes{{"softcap", static_cast<float>(c.score_softcap)}};
  const double default_scale = 1 / std::sqrt(static_cast<double>(c.head_size));  // keys of a stream may be longer
  if (c.score_scale != 0 || parts.stream)
    attributes.emplace_back("scale", static_cast<float>(c.score_scale != 0 ? c.score_scale : default_scale));
  const ir::ValueId mask = parts.stream ? ring_values(parts, ring_of(parts, layer)).mask
                                        : attention_mask(parts, window_of(c, layer), ops::size_of(build, keys, 2));
  const ir::ValueId y = build("Attention", {query, keys, values, mask}, std::move(attributes));
  return build("Reshape", {ops::transposed(build, y, {0, 2, 1, 3}), build.ints({0, 0, c.heads * c.head_size})});
}

}  // namespace

ir::ValueId attention(DecoderParts& parts, int64_t layer, ir::ValueId x) {
  const DecoderConfig& c = parts.config;
  const std::string prefix = fmt::format("blk.{}.", layer);
  const Projections projections = project(parts, prefix, x);
  ir::ValueId query = split_heads(parts, projections.query, c.heads, prefix + "attn_q_norm");
  ir::ValueId key = split_heads(parts, projections.key, c.key_heads, prefix + "attn_k_norm");
  const bool on_read = rotates_keys_on_read(parts, layer);
  if (!on_read) std::tie(query, key) = rotated_pair(parts, layer, query, key);
  const ir::ValueId keys = append_to_cache(parts, layer, "keys", key);
  const ir::ValueId values = append_to_cache(parts, layer, "values", split_heads(parts, projections.value, c.key_heads));
  ir::ValueId heads_output = {};
  if (query && keys && values) heads_output = (on_read ? dynamic_ntk_attention : scaled_dot_product)(parts, layer, query, keys, values);
  return parts.weights.linear(prefix + "attn_output", heads_output, c.heads * c.head_size, c.width);
}

}  // namespace tenon::nn
