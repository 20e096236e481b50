// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// A normalization without scale and bias, in plain ops: (x - mean) / sqrt(variance + epsilon), or x / sqrt(mean(x^2) + epsilon).
struct UnscaledNorm {
  ir::ValueId x;
  double epsilon = 0;
  bool centred = false;  ///< the mean is subtracted
  int64_t axis = 0;      ///< this axis and all after it are normalised
  ir::ValueId inverse;   ///< 1 / sqrt(...), where x is multiplied by it; none where x is divided
};

/// Matches such a norm at the root, its Div, or its Mul with a reciprocal; adds its nodes to the match.
std::optional<UnscaledNorm> match_unscaled_norm(rewrite::Match& match);

/// The scale 1 for such a norm, in the shape of the normalised axes: a constant where their sizes are numbers, else computed from the shape
/// of x.
ir::ValueId unit_scale(const rewrite::Match& match, rewrite::Rewriter& w, const UnscaledNorm& norm);

}  // namespace tenon::rules
