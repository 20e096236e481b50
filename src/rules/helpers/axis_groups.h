// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "rewrite/match.h"

namespace tenon::rules {

/// A part of a Reshape: the axes [from, from_end) of its operand become the axes [to, to_end) of its result.
struct AxisGroup {
  int64_t from, from_end, to, to_end;
};

/// The smallest groups that make up the Reshape, in order; nullopt where the products of sizes do not determine them (unknown factors).
/// Cost: linear in the ranks.
std::optional<std::vector<AxisGroup>> axis_groups(const DimList& from, const DimList& to);

/// The Reshape and the Transpose after it that equal a Transpose followed by a Reshape.
struct TransposeAfterReshape {
  DimList shape;   ///< the target of the Reshape
  ir::Ints order;  ///< the permutation of the Transpose after it
};
/// The equivalent of a Transpose by `order` and a Reshape with these groups and this result shape; nullopt where the Reshape joins axes
/// that are not adjacent before the Transpose.
std::optional<TransposeAfterReshape> transpose_after_reshape(const std::vector<AxisGroup>& groups, const ir::Ints& order,
                                                             const DimList& result);

/// Whether axes [begin, end) are adjacent and in order in `perm` (perm[i]: the axis at position i).
bool are_adjacent_in_order(const ir::Ints& perm, int64_t begin, int64_t end);

}  // namespace tenon::rules
