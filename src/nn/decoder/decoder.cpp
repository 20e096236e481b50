// SPDX-License-Identifier: Apache-2.0
#include "nn/decoder/decoder.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/uncast.h"
#include "nn/decoder/parts.h"
#include "ops/core/op.h"
#include "ops/definition/plain_ops.h"

namespace tenon::nn {
namespace {

constexpr int64_t kTokensOfAStream = 128;  ///< default of DecoderOptions::most_tokens with a window

/// Adds the graph's inputs: `tokens` (at most `most` new ones) and the states of each layer's cache, if any. Returns `tokens`.
ir::ValueId add_inputs(ir::Graph& graph, const DecoderConfig& c, const DecoderParts& parts, int64_t sequences, int64_t most) {
  const Dim batch = sequences > 0 ? Dim(sequences) : graph.symbols().symbol("batch", 1);
  const Dim fresh = graph.symbols().symbol("new", 1, most);
  const ir::ValueId tokens = graph.add_input("tokens", ir::Type(DType::i64, {batch, fresh}));
  if (!parts.has_cache) return tokens;
  const Dim past = parts.stream ? Dim() : graph.symbols().symbol("past", 0, parts.capacity);
  for (int64_t layer = 0; layer < c.layers; ++layer) {
    const Ring ring = ring_of(parts, layer);
    const int64_t key_size = parts.stream && has_joined_keys(parts, ring) ? 2 * c.head_size : c.head_size;
    for (const auto& [kind, size] : {std::pair("keys", key_size), {"values", c.head_size}})
      add_cache_input(graph, fmt::format("{}.{}", kind, layer), {batch, c.key_heads, parts.stream ? Dim(ring.rows) : past, size},
                      parts.cache);
  }
  return tokens;
}

/// i64[1, new]: the positions of the new tokens in the sequence.
ir::ValueId positions_of(DecoderParts& parts, ir::ValueId tokens) {
  ir::Builder& build = parts.build;
  ir::ValueId positions = ops::iota(build, ops::size_of(build, tokens, 1));
  if (parts.stream) positions = build("Add", {positions, add_position(parts, tokens)});
  else if (parts.has_cache) positions = build("Add", {positions, ops::size_of(build, build.graph().find_value("keys.0"), 2)});
  return build("Unsqueeze", {positions, build.ints({0})});
}

ir::ValueId embed_tokens(DecoderParts& parts, ir::ValueId tokens, ir::ConstantRef table) {
  ir::Builder& build = parts.build;
  const ir::ConstantRef narrow = ir::uncast(*table);
  ir::ValueId x = build("Gather", {build.constant(narrow ? narrow : table), tokens});
  if (narrow) x = ops::cast_to(build, x, DType::f32);
  if (parts.weights.has("position_embd.weight")) {
    const ir::ConstantRef position_table = parts.weights.read("position_embd.weight", {parts.config.context, parts.config.width});
    if (position_table) x = build("Add", {x, build("Gather", {build.constant(position_table), parts.positions})});
  }
  x = scaled(build, x, parts.config.embedding_scale);
  return parts.weights.has("token_embd_norm.weight") ? normalized(parts, "token_embd_norm", x, parts.config.width) : x;
}

ir::ValueId add_residual(DecoderParts& parts, ir::ValueId x, ir::ValueId part) {
  return x && part ? parts.build("Add", {x, scaled(parts.build, part, parts.config.residual_scale)}) : ir::ValueId{};
}

ir::ValueId decoder_layer(DecoderParts& parts, int64_t layer, ir::ValueId x) {
  const DecoderConfig& c = parts.config;
  const std::string prefix = fmt::format("blk.{}.", layer);
  const auto after = [&](const char* name, ir::ValueId y) {
    return c.norms == NormPlacement::before ? y : normalized(parts, prefix + name, y, c.width);
  };
  const auto before = [&](const char* name, ir::ValueId y) {
    return c.norms == NormPlacement::after ? y : normalized(parts, prefix + name, y, c.width);
  };
  const ir::ValueId attention_input = before("attn_norm", x);
  const bool has_second =
      parts.weights.has(prefix + "attn_norm_2.weight");  // Falcon: attention has a norm of its own; attn_norm is that of feed-forward
  const ir::ValueId attention_output =
      after("post_attention_norm", attention(parts, layer, has_second ? before("attn_norm_2", x) : attention_input));
  const ir::ValueId after_attention = c.joint_residual ? x : add_residual(parts, x, attention_output);
  const bool shares_norm = c.joint_residual && !parts.weights.has(prefix + "ffn_norm.weight");
  const ir::ValueId feed_forward_input = shares_norm ? attention_input : before("ffn_norm", after_attention);
  const ir::ValueId feed_forward_output = after("post_ffw_norm", feed_forward(parts, layer, feed_forward_input));
  return add_residual(parts, c.joint_residual ? add_residual(parts, x, attention_output) : after_attention, feed_forward_output);
}

/// Logits f32[batch, vocabulary] of the last tokens, or f32[batch, new, vocabulary] of all. Without output.weight the embedding `table` is
/// the weight (tied).
ir::ValueId logits_of(DecoderParts& parts, ir::ValueId x, const ir::ConstantRef& table, bool all) {
  x = normalized(parts, "output_norm", x, parts.config.width);
  if (!x) return {};
  ir::Builder& build = parts.build;
  if (!all) x = build("Gather", {x, build.scalar(DType::i64, -1)}, {{"axis", int64_t{1}}});  // [batch, width]
  const int64_t vocabulary = table->shape[0];
  const ir::ValueId y = parts.weights.has("output.weight") ? parts.weights.linear("output", x, parts.config.width, vocabulary)
                                                           : build("MatMul", {x, build.constant(ir::permute(table, {1, 0}))});
  return y ? soft_capped(build, scaled(build, y, parts.config.logit_scale), parts.config.logit_softcap) : y;
}

/// Reads the embedding [vocabulary, width]; the vocabulary is the number of its rows.
ir::ConstantRef embedding(WeightReader& reader, const Weights& weights, int64_t width) {
  const auto shape = weights.shape_of("token_embd.weight");
  return reader.read("token_embd.weight", {shape && shape->size() == 2 ? (*shape)[0] : 0, width});
}

Result<void> check_capacity(const DecoderParts& parts) {
  constexpr int64_t kMostTokens = 1 << 24;
  if (parts.stream || parts.capacity <= kMostTokens) return {};
  return fail(Code::limit_exceeded, "hyperparameter 'context_length'", "the context is too long")
      .expected(fmt::format("at most {} tokens", kMostTokens))
      .found(fmt::format("{} tokens", parts.capacity))
      .advice("--context TOKENS is the length for which the cache has room");
}

Result<void> expand_attention(ir::Graph& graph) {
  std::vector<ir::NodeId> found;
  for (const ir::NodeId id : graph.nodes())
    if (graph.node(id).op->name == "Attention") found.push_back(id);
  for (const ir::NodeId id : found) TRY(ops::expand(graph, id));
  return {};
}

}  // namespace

Result<std::unique_ptr<ir::Graph>> make_decoder(const DecoderConfig& config, const Weights& weights, const DecoderOptions& options) {
  auto graph = std::make_unique<ir::Graph>(ops::table());
  ir::Builder build(*graph);
  WeightReader reader(build, weights);
  DecoderParts parts{config, build, reader, options.capacity > 0 ? options.capacity : config.context, options.has_cache, options.cache};
  int64_t most = options.most_tokens > 0 ? std::min(options.most_tokens, parts.capacity) : parts.capacity;
  if (options.window != 0 || options.sinks != 0) {
    most = options.most_tokens > 0 ? options.most_tokens : kTokensOfAStream;
    parts.stream = {options.window, options.sinks, most};
    TRY(check_stream(parts));
  }
  TRY(check_dynamic(parts));
  if (config.dynamic_context > 0) most = std::min(most, max_tokens_of_dynamic_run(parts));
  if (!parts.has_cache) parts.capacity = most;
  TRY(check_capacity(parts));
  const ir::ConstantRef table = embedding(reader, weights, config.width);
  const ir::ValueId tokens = add_inputs(*graph, config, parts, options.batch, most);
  parts.positions = positions_of(parts, tokens);
  add_rotation(parts);
  ir::ValueId x = table ? embed_tokens(parts, tokens, table) : ir::ValueId{};
  for (int64_t layer = 0; layer < config.layers; ++layer) x = decoder_layer(parts, layer, x);
  const ir::ValueId logits = table ? logits_of(parts, x, table, options.all_logits) : ir::ValueId{};
  TRY(reader.finish());
  TRY(build.status());
  graph->add_output(logits, "logits");
  if (options.plain_attention) TRY(expand_attention(*graph));
  return graph;
}

}  // namespace tenon::nn
