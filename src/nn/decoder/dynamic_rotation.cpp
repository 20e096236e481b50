// SPDX-License-Identifier: Apache-2.0
// Source: _compute_dynamic_ntk_parameters of transformers' modeling_rope_utils.py, after u/bloc97 and u/emozilla.
#include "nn/decoder/dynamic_rotation.h"

#include <algorithm>
#include <cmath>

#include "nn/decoder/parts.h"
#include "ops/definition/plain_ops.h"

namespace tenon::nn {
namespace {

constexpr int64_t kMaxCopiedKeyElements = int64_t{1} << 24;  // of the rotated copies of keys

ir::ValueId f64_constant(ir::Builder& build, const std::vector<double>& values) {
  Tensor table = *Tensor::make(DType::f64, {static_cast<int64_t>(values.size())});
  std::ranges::copy(values, table.as_mutable<double>().begin());
  return build.constant(std::move(table));
}

ir::ValueId f64_scalar(ir::Builder& build, double value) { return build.scalar(DType::f64, value); }

/// f64[new, 1, pairs]: by how many radians a token each pair of the query at position t, and of the keys that it reads, turns. With n =
/// max(t + 1, context) the base is base * (factor * n / context - factor + 1)^(rotated / (rotated - 2)), which is 1 times the base in the
/// context.
ir::ValueId frequencies_of_queries(DecoderParts& parts, ir::ValueId position) {
  const DecoderConfig& c = parts.config;
  ir::Builder& build = parts.build;
  const auto context = static_cast<double>(c.dynamic_context);
  const ir::ValueId tokens_beyond = build("Max", {build("Sub", {position, f64_scalar(build, context - 1)}), f64_scalar(build, 0)});
  const ir::ValueId base_growth =
      build("Add", {build("Mul", {tokens_beyond, f64_scalar(build, c.dynamic_factor / context)}), f64_scalar(build, 1)});
  std::vector<double> exponents, plain = frequencies_of(c.rotated_size, c.rotation_base, c.rotation_divisors);
  for (size_t i = 0; i < plain.size(); ++i) exponents.push_back(-2.0 * static_cast<double>(i) / static_cast<double>(c.rotated_size - 2));
  for (double& frequency : plain) frequency /= c.rotation_factor;
  const ir::ValueId frequency_scale = build("Exp", {build("Mul", {build("Log", {base_growth}), f64_constant(build, exponents)})});
  return build("Mul", {frequency_scale, f64_constant(build, plain)});
}

/// Cosines and sines of position * frequency. place: f64, positions that broadcast with `frequencies`.
DecoderParts::Angles angles_at(DecoderParts& parts, ir::ValueId place, ir::ValueId frequencies) {
  ir::Builder& build = parts.build;
  const ir::ValueId angle = build("Mul", {place, frequencies});
  const auto of = [&](const char* function) {
    ir::ValueId y = build(function, {angle});
    if (parts.config.rotation_magnitude != 1) y = build("Mul", {y, f64_scalar(build, parts.config.rotation_magnitude)});
    return ops::cast_to(build, y, DType::f32);
  };
  return {of("Cos"), of("Sin")};
}

/// Adds the angles that all layers share, once: f32[new, 1, pairs] of queries, f32[new, past + new, pairs] of the keys that each reads.
void add_angles(DecoderParts& parts, ir::ValueId keys) {
  if (parts.angles.cosines) return;
  ir::Builder& build = parts.build;
  const ir::ValueId positions = ops::cast_to(build, parts.positions, DType::f64);  // [1, new]
  const ir::ValueId position = build("Unsqueeze", {ops::squeezed(build, positions, 0), build.ints({1, 2})});
  const ir::ValueId place = ops::cast_to(build, ops::iota(build, ops::size_of(build, keys, 2)), DType::f64);
  const ir::ValueId frequencies = frequencies_of_queries(parts, position);
  parts.angles = angles_at(parts, position, frequencies);
  parts.key_angles = angles_at(parts, build("Unsqueeze", {place, build.ints({1})}), frequencies);
}

ir::ValueId rotated(DecoderParts& parts, const DecoderParts::Angles& angles, ir::ValueId x) {
  const DecoderConfig& c = parts.config;
  return parts.build("RotaryEmbedding", {x, angles.cosines, angles.sines},
                     {{"interleaved", int64_t{c.rotation == Rotation::interleaved}},
                      {"rotary_embedding_dim", c.rotated_size == c.head_size ? 0 : c.rotated_size}});
}

/// Repeats f32[batch, key heads, past + new, size] for each of `queries` (i64[1], their number): f32[new, batch * key heads, past + new,
/// size].
ir::ValueId repeat_per_query(ir::Builder& build, ir::ValueId rows, ir::ValueId queries) {
  const ir::ValueId joined = build("Reshape", {rows, build.ints({1, -1, 0, 0})});
  return build("Expand", {joined, build("Concat", {queries, build.ints({1, 1, 1})}, {{"axis", int64_t{0}}})});
}

/// The mask bool[new, past + new] as bool[new * batch, 1, 1, past + new], a row for each query of each sequence.
ir::ValueId mask_of_queries(ir::Builder& build, ir::ValueId mask, ir::ValueId batch) {
  const ir::ValueId apart = build("Unsqueeze", {mask, build.ints({1, 2})});
  const ir::ValueId all = build("Expand", {apart, build("Concat", {build.ints({1}), batch, build.ints({1, 1})}, {{"axis", int64_t{0}}})});
  return build("Reshape", {all, build.ints({-1, 1, 1, 0})});
}

}  // namespace

bool rotates_keys_on_read(const DecoderParts& parts, int64_t layer) {
  const DecoderConfig& c = parts.config;
  const bool has_own_base = c.window_rotation_base > 0 && window_of(c, layer) > 0;
  return c.dynamic_context > 0 && c.rotation != Rotation::none && !has_own_base;
}

int64_t max_tokens_of_dynamic_run(const DecoderParts& parts) {
  const DecoderConfig& c = parts.config;
  const int64_t row = c.key_heads * c.head_size;
  return std::clamp(kMaxCopiedKeyElements / row / parts.capacity, int64_t{2}, int64_t{16});
}

ir::ValueId dynamic_ntk_attention(DecoderParts& parts, int64_t layer, ir::ValueId query, ir::ValueId keys, ir::ValueId values) {
  const DecoderConfig& c = parts.config;
  ir::Builder& build = parts.build;
  add_angles(parts, keys);
  const ir::ValueId queries = ops::shape_of(build, query, 2, 3), batch = ops::shape_of(build, query, 0, 1);
  const auto apart = [&](ir::ValueId x, int64_t heads) { return build("Reshape", {x, build.ints({-1, heads, 0, c.head_size})}); };
  const ir::ValueId by_query = build("Reshape", {ops::transposed(build, query, {2, 0, 1, 3}), build.ints({0, -1, 1, c.head_size})});
  const ir::ValueId q = apart(rotated(parts, parts.angles, by_query), c.heads);
  const ir::ValueId k = apart(rotated(parts, parts.key_angles, repeat_per_query(build, keys, queries)), c.key_heads);
  const ir::ValueId v = apart(repeat_per_query(build, values, queries), c.key_heads);
  const ir::ValueId mask = mask_of_queries(build, attention_mask(parts, window_of(c, layer), ops::size_of(build, keys, 2)), batch);
  std::vector<std::pair<std::string, ir::Attribute>> attributes{{"softcap", static_cast<float>(c.score_softcap)}};
  if (c.score_scale != 0) attributes.emplace_back("scale", static_cast<float>(c.score_scale));
  const ir::ValueId y = build("Attention", {q, k, v, mask}, std::move(attributes));  // [new * batch, heads, 1, size]
  const ir::ValueId shape = build("Concat", {queries, batch, build.ints({c.heads * c.head_size})}, {{"axis", int64_t{0}}});
  return ops::transposed(build, build("Reshape", {y, shape}), {1, 0, 2});
}

Result<void> check_dynamic(const DecoderParts& parts) {
  if (parts.config.dynamic_context == 0 || parts.config.rotation == Rotation::none) return {};
  if (parts.stream)
    return fail(Code::not_supported, "--window", "not supported yet: streams of a model with rotations that grow with the sequence")
        .expected("a rotation that has one base")
        .found("rope.scaling.type dynamic")
        .advice("leave --window out: the context then limits the sequence");
  if (!parts.has_cache)
    return fail(Code::not_supported, "kv_cache_type", "not supported yet: rotations that grow with the sequence without a cache")
        .expected("CONTINUOUS or null as kv_cache_type of the BuildConfig")
        .found("DISABLED, and rope.scaling.type dynamic");
  return {};
}

}  // namespace tenon::nn
