// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// All that is read of a value: some elements of one axis, by a Gather of a number or of a list of them, or by a Slice.
struct Pick {
  ir::NodeId reader;                ///< one of them
  std::vector<ir::NodeId> readers;  ///< all, alike
  ir::NodeId maker;                 ///< of the value
  ir::ValueId value;
  int axis = 0;
  Dim size, count;        ///< of the axis, and what is read of it
  bool last = false;      ///< the last element and no other
  bool constant = false;  ///< which elements is known
};

/// All readers of `value`, where they read it as the root does, which is the first of them: the same op with the same other operands.
/// Refused: others, and graph outputs.
std::optional<std::vector<ir::NodeId>> alike_readers(rewrite::Match& m, ir::ValueId value);

/// What the root picks, where every reader of the value picks the same, and provably no more than there is. The root is the first of them.
/// Refused: values that no node makes, or one of constants alone, which are folded.
std::optional<Pick> only_pick(rewrite::Match& m);

/// What a rule of stage trim keeps: the pick moves to these axes of the maker's operands; kWhole: the operand stays as it is.
inline constexpr int kWhole = -1;
struct Moved {
  Pick pick;
  std::vector<int> axes;
};

/// The axis of `operand` that broadcasting lays on the picked axis of the value: kWhole where it has none, or a 1 there; nullopt where
/// that is not known.
std::optional<int> aligned_axis(const rewrite::Match& m, const Pick& pick, ir::ValueId operand);

/// The same elements of `axis` of `x`, which is as long as the picked axis; the axis stays, also where one number picks.
ir::ValueId picked(const rewrite::Match& m, rewrite::Rewriter& w, const Pick& pick, ir::ValueId x, int axis);

/// The maker once more, on picked operands, replaces what all readers have: the rewrite of every rule that keeps a `Moved`.
bool move_up(const rewrite::Match& m, rewrite::Rewriter& w);

/// `y`, which is the value with `count` elements in the picked axis, replaces what all readers have. Always true.
bool give_picked(const rewrite::Match& m, rewrite::Rewriter& w, const Pick& pick, ir::ValueId y);

}  // namespace tenon::rules
