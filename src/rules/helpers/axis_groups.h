// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "rewrite/match.h"

namespace tenon::rules {

/// A Reshape taken apart: neighbouring axes [from, from_end) of its operand become [to, to_end) of its result, and nothing else moves.
struct AxisGroup {
  int64_t from, from_end, to, to_end;
};

/// The smallest such groups, in order; nullopt where the products of sizes do not show them (unknown factors).
/// Cost: linear in the ranks.
std::optional<std::vector<AxisGroup>> axis_groups(const DimList& from, const DimList& to);

/// A Transpose `order` before a Reshape, said after it.
struct TransposeAfterReshape {
  DimList shape;   ///< of the Reshape of what was not transposed
  ir::Ints order;  ///< of the Transpose of that
};
/// `groups` and `result` are the Reshape's; nullopt where it joins axes that the Transpose parts.
std::optional<TransposeAfterReshape> after_reshape(const std::vector<AxisGroup>& groups, const ir::Ints& order, const DimList& result);

/// Whether axes [begin, end) are adjacent and in order in `perm` (perm[i]: the axis at position i).
bool stay_together(const ir::Ints& perm, int64_t begin, int64_t end);

}  // namespace tenon::rules
