// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "codegen/analysis/attention.h"

namespace tenon::codegen {

/// Scores that hide a key are not higher: exporters take -inf and the lowest f32.
inline constexpr double kHiddenScore = -0x1p100;

/// A query sees keys up to (`upper`), or from, offset + slope * query.
struct KeyBound {
  bool upper = true;
  Dim offset = 0;
  int64_t slope = 0;
};

/// What follows for a mask from the positions of query and key alone.
struct VisibleKeys {
  std::vector<KeyBound> bounds;
  Expr clear;         ///< the score where all bounds hold
  double hidden = 0;  ///< the score elsewhere: a number of that size, or the sum of one and something else
};

/// nullopt where positions hide nothing. Sums that are added to a hidden score are assumed to stay below 2^96: then a query that sees any
/// key gives those beyond its bounds a weight of 0. Cost: comparisons in the score times its operations.
std::optional<VisibleKeys> visible_keys(const Nest& attention);

}  // namespace tenon::codegen
