// SPDX-License-Identifier: Apache-2.0
// A decoder as plain loops in fp64, written from the papers and not from nn/decoder: what make_decoder() is compared with.
#pragma once
#include <string>
#include <vector>

#include "nn/decoder/cache_type.h"
#include "nn/decoder/config.h"
#include "nn/weights.h"

namespace tenon::nn::testing {

/// The logits after the last of `tokens`. Keys and values are rounded as `cache` stores them.
std::vector<double> plain_logits(const DecoderConfig& config, const Weights& weights, const std::vector<int64_t>& tokens,
                                 CacheType cache = CacheType::f32);

}  // namespace tenon::nn::testing
