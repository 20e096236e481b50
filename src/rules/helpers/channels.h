// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

using Numbers = std::vector<double>;

/// y = x * factor[c] + bias[c] for each channel c.
struct ChannelMap {
  Numbers factor, bias;
};

/// The numbers of a constant with exactly `channels` elements.
std::optional<Numbers> vector_of(const rewrite::Match& m, ir::ValueId value, int64_t channels);

/// A BatchNormalization with constant statistics; nullopt in training mode or where a number is not finite.
std::optional<ChannelMap> batch_norm_map(const rewrite::Match& m, ir::NodeId node, int64_t channels);

/// Adds `numbers` to the graph as a constant: an f32 vector. No value where memory does not suffice.
ir::ValueId vector_constant(rewrite::Rewriter& w, const Numbers& numbers);

/// `weight` with each slice along `axis` times its factor: a lazy constant, and `weight` itself where all factors are 1.
ir::ValueId scaled_weight(const rewrite::Match& m, rewrite::Rewriter& w, ir::ValueId weight, const Numbers& factor, int axis);

}  // namespace tenon::rules
