// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>

#include "ir/graph.h"
#include "nn/decoder/cache_type.h"
#include "nn/decoder/config.h"
#include "nn/weights.h"

namespace tenon::nn {

struct DecoderOptions {
  int64_t capacity = 0;              ///< tokens that the cache has room for; 0: those of the model's context
  int64_t most_tokens = 0;           ///< the most tokens that one run takes; 0: `capacity`
  bool has_cache = true;             ///< false: no states; a run computes a whole sequence
  CacheType cache = CacheType::f32;  ///< of the states
  int64_t batch = 1;                 ///< sequences; 0: a symbol
  bool all_logits = false;           ///< logits f32[batch, new, vocabulary] of all tokens of a run
  bool plain_attention = false;      ///< attention in plain ops (MatMul, Softmax, ...), the definition of Attention
  int64_t window = 0;  ///< above 0: a token reads the last `window` tokens and the sinks; sequences have no end (StreamingLLM)
  int64_t sinks = 0;   ///< first tokens of a sequence, which all later ones read
};

/// A decoder-only transformer for a batch of sequences of equal lengths, as a graph with states.
/// Input: tokens i64[batch, new]. Output: logits f32[batch, vocabulary] of the last ones. States, two for each layer N from 0 on: keys.N
/// and values.N, [batch, key heads, past, head size] of the cache's type, which grow by `new` in each run; with int8 and fp8 also
/// keys.N.scales and values.N.scales, f32[batch, key heads, past, 1]. `new` and `past` are symbols of the graph. Each option
/// describes how it changes this. Errors: bad_input, naming in one error all weights that are missing, of another shape, or left over;
/// limit_exceeded (a capacity above 2^24); those of ir::Builder::status(). With a window N and S sinks (docs/why/055-streams-in-a-ring.md)
/// states do not grow. A run takes `most_tokens`, 0: 128. position, i64[1], is the number of tokens so far. A layer whose own window w is
/// at most N keeps it, without sinks: its states have w + most_tokens rows of the head size; other layers N + S + most_tokens, keys of two
/// head sizes where they are rotated and S > 0. `capacity` and `context` limit N + S alone. Errors beside those above: not_supported
/// (learned positions, linear bias, no cache), bad_usage (no such window).
Result<std::unique_ptr<ir::Graph>> make_decoder(const DecoderConfig& config, const Weights& weights, const DecoderOptions& options = {});

}  // namespace tenon::nn
