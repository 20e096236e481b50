// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// What two shapes make together by broadcasting; nullopt where two dims are not provably equal and neither is provably 1.
std::optional<DimList> broadcast_of(const DimList& a, const DimList& b);

/// The shape operand of an Expand that is to be built: numbers, or a value that is there already.
struct ExpandTarget {
  std::optional<ir::Ints> numbers;
  ir::ValueId value;
};

/// What expands `from` to `to`: numbers where every dim that changes is a number (1 stands for a dim that stays), else the shape
/// operand of one of `expands` where its elements are known to do it.
std::optional<ExpandTarget> expand_target(const rewrite::GraphQuery& query, const DimList& from, const DimList& to,
                                          std::span<const ir::NodeId> expands);

ir::ValueId expand(rewrite::Rewriter& w, ir::ValueId value, const ExpandTarget& target);

}  // namespace tenon::rules
