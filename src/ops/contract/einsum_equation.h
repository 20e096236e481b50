// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "ops/core/op.h"

namespace tenon::ops {

/// An Einsum equation over known ranks: labels are numbers from 0, those of the ellipsis included (right-aligned).
struct EinsumEquation {
  std::vector<std::vector<int>> operands;  ///< label of each axis
  std::vector<int> output;
  int labels = 0;
};
/// Errors: bad_attribute with the place in the equation, rank_mismatch.
Result<EinsumEquation> parse_einsum(const NodeView& view, std::span<const int> ranks);

}  // namespace tenon::ops
