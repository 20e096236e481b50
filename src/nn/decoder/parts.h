// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "nn/decoder/cache_type.h"
#include "nn/decoder/config.h"
#include "nn/decoder/dynamic_rotation.h"
#include "nn/decoder/ring.h"
#include "nn/decoder/weight_reader.h"

namespace tenon::nn {

/// State shared by the functions that build a decoder graph. x is f32[batch, new, width] everywhere.
struct DecoderParts {
  const DecoderConfig& config;
  ir::Builder& build;
  WeightReader& weights;
  int64_t capacity;                  ///< the most tokens of a sequence, which the states have room for
  bool has_cache = true;             ///< the graph has states
  CacheType cache = CacheType::f32;  ///< element type of the states
  Stream stream = {};                ///< window 0: no stream
  ir::ValueId positions = {};        ///< i64[1, new]: of the tokens
  struct Angles {
    ir::ValueId cosines = {},
                sines = {};  ///< f32[capacity, rotated size / 2], of a stream f32[1, new, rotated size / 2]; none without rotation
  };
  Angles angles = {}, window_angles = {};            ///< of layers without and with a window
  Angles key_angles = {};                            ///< f32[new, past + new, rotated size / 2] of keys that are rotated as they are read
  Angles sink_angles = {}, window_sink_angles = {};  ///< of a stream: of queries that read sinks
  std::map<int64_t, ir::ValueId> masks = {};         ///< by window: bool[new, past + new]; with linear bias f32[heads, new, past + new]
  std::map<Ring, RingValues> rings = {};             ///< values that layers with equal rings share
};

/// The window of the layer in its config; 0: none.
int64_t window_of(const DecoderConfig& config, int64_t layer);

/// Normalizes x over its last axis, of `size` elements, with the weights NAME.weight and, for a layer normalization, NAME.bias.
ir::ValueId normalized(DecoderParts& parts, const std::string& name, ir::ValueId x, int64_t size);
/// c tanh(x / c).
ir::ValueId soft_capped(ir::Builder& build, ir::ValueId x, double cap);
/// x times the factor; x itself where it is 1.
ir::ValueId scaled(ir::Builder& build, ir::ValueId x, double factor);

/// The angles of the new tokens: position / factor * base^(-2i / rotated) / divisor i, cosine and sine of it times the magnitude, computed
/// in f64 in each run (https://arxiv.org/abs/2104.09864). Of a stream also those of queries that read sinks, at min(position, window).
void add_rotation(DecoderParts& parts);
/// Of each pair: base^(-2i / rotated) / divisor i. divisors: empty: 1.
std::vector<double> frequencies_of(int64_t rotated, double base, const std::vector<double>& divisors);
/// ALiBi slopes, one for each head: how much the score of a key falls with each token of distance (https://arxiv.org/abs/2108.12409): 2^(-8
/// h / n) for the largest power of two n, then every other one of the same of 2n.
std::vector<float> bias_slopes(int64_t heads);
/// The mask of attention: which keys each new token reads, with the window of a layer (0: all up to itself). Made once for each window.
/// `keys`: the number of all keys, i64 [].
ir::ValueId attention_mask(DecoderParts& parts, int64_t window, ir::ValueId keys);

/// Adds the input of a state that append_to_cache() updates. shape: [batch, key heads, past, size]; of int8 and fp8 also NAME.scales, f32,
/// of size 1.
void add_cache_input(ir::Graph& graph, const std::string& name, const DimList& shape, CacheType type);
/// Appends `rows`, f32[batch, key heads, new, size], to the state NAME, and returns all its rows, f32[batch, key heads, past + new, size];
/// of a stream writes them into the ring of the layer. The new rows are returned as the state stores them (rounded), so that results do
/// not depend on how a sequence is cut into runs. Without a cache `rows` alone.
ir::ValueId append_to_cache(DecoderParts& parts, int64_t layer, const char* kind, ir::ValueId rows);

/// Self-attention of layer `layer` over its cache, the output projection included; adds the states keys.N and values.N.
ir::ValueId attention(DecoderParts& parts, int64_t layer, ir::ValueId x);
/// The feed-forward part of layer `layer`.
ir::ValueId feed_forward(DecoderParts& parts, int64_t layer, ir::ValueId x);

}  // namespace tenon::nn
