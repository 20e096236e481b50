// SPDX-License-Identifier: Apache-2.0
// A decoder as plain loops in fp64, written from the papers and not from nn/decoder: what make_decoder() is compared with.
#pragma once
#include <string>
#include <vector>

#include "nn/decoder/cache_type.h"
#include "nn/decoder/config.h"
#include "nn/weights.h"

namespace tenon::nn::testing {

/// A token reads the first `sinks` and the last `window`; 0: all.
struct PlainStream {
  int64_t window = 0, sinks = 0;
};

/// The logits after the last of `tokens`. Keys and values are rounded as `cache` stores them. Of a stream keys are rotated anew for each
/// query, which is at min(its position, window): those of sinks by their positions, others by as much less as the query.
std::vector<double> plain_logits(const DecoderConfig& config, const Weights& weights, const std::vector<int64_t>& tokens,
                                 CacheType cache = CacheType::f32, const PlainStream& stream = {});

}  // namespace tenon::nn::testing
