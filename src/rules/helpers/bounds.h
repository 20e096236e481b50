// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <utility>

#include "rewrite/match.h"

namespace tenon::rules {

/// The least and the greatest number that an element may be; nullopt where they are not known, or an element may be NaN.
using Bounds = std::optional<std::pair<double, double>>;

/// Interval analysis of constants, sums, products, Where, casts and views, at most 12 nodes deep. A bound that may round to an infinity of
/// the dtype is infinite. Cost: reads constants up to 64 MB.
Bounds bounds_of(const rewrite::GraphQuery& query, ir::ValueId value);

}  // namespace tenon::rules
