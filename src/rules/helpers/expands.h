// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// The shape to which two shapes broadcast; nullopt where two dims are not provably equal and neither is provably 1.
std::optional<DimList> broadcast_of(const DimList& a, const DimList& b);

/// The shape operand of an Expand that is to be built: numbers, or an existing value.
struct ExpandTarget {
  std::optional<ir::Ints> numbers;
  ir::ValueId value;
};

/// The operand that expands `from` to `to`: numbers where every dim that changes is a number (1 for a dim that stays), else the shape
/// operand of one of the nodes `expands`, where it is known to give `to`.
std::optional<ExpandTarget> expand_target(const rewrite::GraphQuery& query, const DimList& from, const DimList& to,
                                          std::span<const ir::NodeId> expands);

ir::ValueId expand(rewrite::Rewriter& w, ir::ValueId value, const ExpandTarget& target);

}  // namespace tenon::rules
