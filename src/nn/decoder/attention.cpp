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

/// From three weights, or from one with the rows of all of them.
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

/// [batch, new, heads * size] to [batch, heads, new, size]; normalized where NAME.weight is there: by head, or all heads together if it is
/// as long.
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

/// Queries as the keys of the layer's cache are, and keys.
std::pair<ir::ValueId, ir::ValueId> rotated_pair(DecoderParts& parts, int64_t layer, ir::ValueId query, ir::ValueId key) {
  const ir::ValueId at_its_place = rotated(parts, layer, query), rotated_key = rotated(parts, layer, key);
  if (!parts.stream || !query || !key) return {at_its_place, rotated_key};
  const Ring ring = ring_of(parts, layer);
  if (!has_joined_keys(parts, ring)) return {at_its_place, rotated_key};
  const ir::ValueId at_sinks = rotated_by(parts, window_of(parts.config, layer) > 0 ? parts.window_sink_angles : parts.sink_angles, query);
  return {parts.build("Concat", {at_its_place, at_sinks}, {{"axis", int64_t{-1}}}), joined_keys(parts, ring, rotated_key)};
}

/// f32[batch, new, heads * size].
ir::ValueId attended(DecoderParts& parts, int64_t layer, ir::ValueId query, ir::ValueId keys, ir::ValueId values) {
  const DecoderConfig& c = parts.config;
  ir::Builder& build = parts.build;
  std::vector<std::pair<std::string, ir::Attribute>> attributes{{"softcap", static_cast<float>(c.score_softcap)}};
  const double usual = 1 / std::sqrt(static_cast<double>(c.head_size));  // keys of a stream may be longer
  if (c.score_scale != 0 || parts.stream) attributes.emplace_back("scale", static_cast<float>(c.score_scale != 0 ? c.score_scale : usual));
  const ir::ValueId mask =
      parts.stream ? ring_values(parts, ring_of(parts, layer)).mask : mask_of(parts, window_of(c, layer), ops::size_of(build, keys, 2));
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
  const bool as_read = rotates_as_read(parts, layer);
  if (!as_read) std::tie(query, key) = rotated_pair(parts, layer, query, key);
  const ir::ValueId keys = cached(parts, layer, "keys", key);
  const ir::ValueId values = cached(parts, layer, "values", split_heads(parts, projections.value, c.key_heads));
  ir::ValueId joined = {};
  if (query && keys && values) joined = (as_read ? dynamically_attended : attended)(parts, layer, query, keys, values);
  return parts.weights.linear(prefix + "attn_output", joined, c.heads * c.head_size, c.width);
}

}  // namespace tenon::nn
