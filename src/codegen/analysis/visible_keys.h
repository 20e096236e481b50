// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "codegen/analysis/attention.h"

namespace tenon::codegen {

/// A score of at most this hides a key. Exporters use -inf and the lowest f32.
inline constexpr double kHiddenScore = -0x1p100;

/// A query sees only keys <= offset + loaded + slope * query (`upper`), or only keys >= that.
struct KeyBound {
  bool upper = true;
  Dim offset = 0;
  int64_t slope = 0;
  Expr loaded = {};  ///< i64 over loads of the nest that depend on the batch alone, as the length of its sequence does; null: 0
};

/// Which keys a query sees, as far as a mask depends on the positions of query and key alone.
struct VisibleKeys {
  std::vector<KeyBound> bounds;  ///< that hold for keys which are seen
  Expr visible_score;            ///< the score where all bounds hold
  double hidden_score = 0;       ///< the score elsewhere is at most about this: the number itself, or its sum with something else
};

/// nullopt where no key is hidden by its position. Sums that are added to a hidden score are assumed to stay below 2^96: then a query that
/// sees any key gives those beyond its bounds a weight of 0. Cost: comparisons in the score times its operations.
std::optional<VisibleKeys> visible_keys(const Nest& attention);

}  // namespace tenon::codegen
