// SPDX-License-Identifier: Apache-2.0
// Sequences without an end: StreamingLLM (https://arxiv.org/abs/2309.17453), with keys that stay rotated by their own positions.
#pragma once
#include <compare>
#include <cstdint>

#include "ir/builder.h"

namespace tenon::nn {

struct DecoderConfig;
struct DecoderParts;

/// A token reads the first `sinks` tokens and the last `window`, itself among them. window 0: no stream, each token reads all.
struct Stream {
  int64_t window = 0;
  int64_t sinks = 0;
  int64_t most_tokens = 0;  ///< of a run

  explicit operator bool() const { return window > 0; }
};

/// The states of a layer: token p < sinks is at row p, token p >= sinks at sinks + (p - sinks) mod (rows - sinks). `rows` is so large that
/// a run overwrites no token that it reads.
struct Ring {
  int64_t window = 0;
  int64_t sinks = 0;
  int64_t rows = 0;

  friend auto operator<=>(const Ring&, const Ring&) = default;
};
/// The ring of a layer: with the layer's own window and no sinks where it has a smaller one than the stream.
Ring ring_of(const DecoderParts& parts, int64_t layer);

/// Values of the graph that layers with equal rings share.
struct RingValues {
  ir::ValueId token_rows = {};  ///< i64[new]: rows of the new tokens
  ir::ValueId mask = {};        ///< bool[new, rows]: whether a query reads the token in that row
};

/// Whether keys of the ring are twice as wide as a head, [0 | key] of a sink and [key | 0] of others. Queries are then [query for others |
/// query for sinks], the halves rotated by positions of their own.
bool has_joined_keys(const DecoderParts& parts, const Ring& ring);
/// Widens the keys of new tokens, f32[batch, heads, new, size], to joined keys [.., 2 * size] where the ring has them.
ir::ValueId joined_keys(DecoderParts& parts, const Ring& ring, ir::ValueId keys);

/// Adds the state `position`, i64[1]: the number of tokens before this run, to which the size of `tokens`, i64[1, new],
/// is added. Returns the value of the state before this run.
ir::ValueId add_position(DecoderParts& parts, ir::ValueId tokens);
/// The values of a ring; added to the graph at the first call.
const RingValues& ring_values(DecoderParts& parts, const Ring& ring);
/// The state `old` with the rows of new tokens, [batch, heads, new, size], written at their rows of the ring.
ir::ValueId scatter_rows(DecoderParts& parts, const Ring& ring, ir::ValueId old, ir::ValueId rows);

/// Errors: not_supported, for what cannot be streamed; bad_usage: a window below 1, sinks below 0, or a window and sinks above the context.
Result<void> check_stream(const DecoderParts& parts);

}  // namespace tenon::nn
