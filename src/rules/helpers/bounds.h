// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <utility>

#include "rewrite/match.h"

namespace tenon::rules {

/// Between which numbers the elements lie; nullopt where that is not known, or one is no number.
using Bounds = std::optional<std::pair<double, double>>;

/// Of constants, and of what sums, products, choices, casts and views make of bounded values, at most 12 nodes deep. An end that may round
/// to an infinity of the dtype is one. Cost: reads constants up to 64 MB.
Bounds bounds_of(const rewrite::GraphQuery& query, ir::ValueId value);

}  // namespace tenon::rules
