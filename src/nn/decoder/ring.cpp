// SPDX-License-Identifier: Apache-2.0
#include "nn/decoder/ring.h"

#include <fmt/format.h>

#include <algorithm>

#include "nn/decoder/parts.h"
#include "ops/definition/plain_ops.h"

namespace tenon::nn {
namespace {

/// Positions i64[1, new] as i64[new, 1].
ir::ValueId column(ir::Builder& build, ir::ValueId positions) {
  return build("Unsqueeze", {ops::squeezed(build, positions, 0), build.ints({1})});
}

ir::ValueId number(ir::Builder& build, int64_t value) { return build.scalar(DType::i64, static_cast<double>(value)); }

/// The row of the ring at which the token of each position is; in the shape of `positions`.
ir::ValueId ring_rows(ir::Builder& build, const Ring& ring, ir::ValueId positions) {
  const ir::ValueId size = number(build, ring.rows - ring.sinks);
  if (ring.sinks == 0) return build("Mod", {positions, size});
  const ir::ValueId sinks = number(build, ring.sinks);
  const ir::ValueId after_sinks = build("Add", {build("Mod", {build("Sub", {positions, sinks}), size}), sinks});
  return build("Where", {build("Less", {positions, sinks}), positions, after_sinks});
}

/// The mask bool[new, rows]: whether the query reads the token in a row. After the sinks, a row holds the token `distance` positions before
/// the query; it is read where that is at most window - 1. A run is too short to overwrite such a row.
ir::ValueId mask_of_ring(ir::Builder& build, const Ring& ring, ir::ValueId query) {
  const ir::ValueId row = ops::iota(build, number(build, ring.rows));  // [rows]
  const ir::ValueId rows_back = build("Sub", {ring_rows(build, ring, query), row});
  const ir::ValueId is_before = build("Less", {rows_back, number(build, 0)});
  const ir::ValueId distance = build("Where", {is_before, build("Add", {rows_back, number(build, ring.rows - ring.sinks)}), rows_back});
  const ir::ValueId farthest = build("Min", {number(build, ring.window - 1), build("Sub", {query, number(build, ring.sinks)})});
  const ir::ValueId in_window = build("LessOrEqual", {distance, farthest});
  if (ring.sinks == 0) return in_window;
  return build("Where", {build("Less", {row, number(build, ring.sinks)}), build("LessOrEqual", {row, query}), in_window});
}

Error unsupported_stream(const char* what, const char* family) {
  return fail(Code::not_supported, "--window", fmt::format("not supported yet: streams of a model with {}", what))
      .expected("positions that are rotations, or none")
      .found(family)
      .advice("leave --window out: the context then limits the sequence");
}

}  // namespace

Ring ring_of(const DecoderParts& parts, int64_t layer) {
  const Stream& s = parts.stream;
  const int64_t layer_window = window_of(parts.config, layer);
  if (layer_window > 0 && layer_window <= s.window) return {layer_window, 0, layer_window + s.most_tokens};
  return {s.window, s.sinks, s.sinks + s.window + s.most_tokens};
}

bool has_joined_keys(const DecoderParts& parts, const Ring& ring) { return ring.sinks > 0 && parts.config.rotation != Rotation::none; }

ir::ValueId joined_keys(DecoderParts& parts, const Ring& ring, ir::ValueId keys) {
  if (!keys || !has_joined_keys(parts, ring)) return keys;
  ir::Builder& build = parts.build;
  const ir::ValueId is_sink = build("Less", {column(build, parts.positions), number(build, ring.sinks)});
  const ir::ValueId none = build.scalar(DType::f32, 0);
  return build("Concat", {build("Where", {is_sink, none, keys}), build("Where", {is_sink, keys, none})}, {{"axis", int64_t{-1}}});
}

ir::ValueId add_position(DecoderParts& parts, ir::ValueId tokens) {
  ir::Builder& build = parts.build;
  ir::Graph& graph = build.graph();
  const ir::ValueId position = graph.add_input("position", ir::Type(DType::i64, {1}));
  const auto slot = static_cast<uint32_t>(graph.outputs().size());
  const ir::ValueId now = build("Add", {position, ops::size_of(build, tokens, 1)});
  if (!now) return {};
  graph.add_output(now, "position.now");
  graph.add_state({.name = "position", .input = position, .output = slot});
  return position;
}

const RingValues& ring_values(DecoderParts& parts, const Ring& ring) {
  RingValues& values = parts.rings[ring];
  if (values.mask) return values;
  values.token_rows = ring_rows(parts.build, ring, ops::squeezed(parts.build, parts.positions, 0));
  values.mask = mask_of_ring(parts.build, ring, column(parts.build, parts.positions));
  return values;
}

ir::ValueId scatter_rows(DecoderParts& parts, const Ring& ring, ir::ValueId old, ir::ValueId rows) {
  ir::Builder& build = parts.build;
  const ir::ValueId token_rows = build("Unsqueeze", {ring_values(parts, ring).token_rows, build.ints({0, 1, 3})});
  if (!rows || !token_rows) return {};
  const int64_t rank = parts.build.graph().value(rows).type.rank();
  const ir::ValueId indices = build("Expand", {token_rows, ops::shape_of(build, rows, 0, rank)});
  return build("ScatterElements", {old, indices, rows}, {{"axis", int64_t{2}}});
}

Result<void> check_stream(const DecoderParts& parts) {
  const Stream& s = parts.stream;
  if (s.window < 1 || s.sinks < 0)
    return fail(Code::bad_usage, s.window < 1 ? "--window" : "--sinks", "a stream has no such part")
        .expected("a window of 1 token or more, 0 sinks or more")
        .found(fmt::format("window {}, sinks {}", s.window, s.sinks));
  if (!parts.has_cache)
    return fail(Code::not_supported, "--window", "a window needs a cache")
        .expected("CONTINUOUS or null as kv_cache_type of the BuildConfig")
        .found("DISABLED")
        .advice("leave one of the two out");
  if (parts.weights.has("position_embd.weight")) return unsupported_stream("learned positions", "a table of positions, as of GPT-2");
  if (parts.config.linear_bias) return unsupported_stream("linear bias", "scores that fall with the distance (ALiBi), as of BLOOM");
  if (s.window + s.sinks > parts.capacity)
    return fail(Code::bad_usage, "--window", "the model was trained for a shorter context")
        .expected(fmt::format("window and sinks of at most {} tokens", parts.capacity))
        .found(fmt::format("{} and {}", s.window, s.sinks));
  return {};
}

}  // namespace tenon::nn
