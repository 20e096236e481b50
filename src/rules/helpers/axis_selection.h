// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <vector>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"

namespace tenon::rules {

/// The elements of one axis that all readers of a value select, by equal Gathers (of one index or a list of indices) or Slices.
struct AxisSelection {
  ir::NodeId reader;                ///< the root, the first of `readers`
  std::vector<ir::NodeId> readers;  ///< all readers: the same op with the same operands
  ir::NodeId producer;              ///< of the value
  ir::ValueId value;
  int axis = 0;
  Dim size, count;        ///< of the axis, and of the selected elements
  bool last = false;      ///< only the last element is selected
  bool constant = false;  ///< the selected indices are constant
};

/// All readers of `value`, where each is a node of the same op with the same other operands as the root, and the root is the first of them.
/// nullopt, with a reason, where another node reads it or it is a graph output.
std::optional<std::vector<ir::NodeId>> equal_readers(rewrite::Match& m, ir::ValueId value);

/// The selection of the root, where every reader of the value selects the same and provably not more elements than there are. nullopt for
/// graph inputs and constants, and for results of constants alone, which are folded.
std::optional<AxisSelection> sole_selection(rewrite::Match& m);

/// In MovedSelection::axes: nothing is selected from the operand, which is used whole.
inline constexpr int kUnselected = -1;
/// The match state of rules of stage trim: a selection that moves from the producer's result to its operands.
struct MovedSelection {
  AxisSelection selection;
  std::vector<int> axes;  ///< by operand: from which of its axes is selected, or kUnselected
};

/// The axis of `operand` that broadcasting aligns with the selected axis of the value; kUnselected where it has none, or one of size 1;
/// nullopt where that is not known.
std::optional<int> aligned_axis(const rewrite::Match& m, const AxisSelection& selection, ir::ValueId operand);

/// Inserts the selection of the same elements from `axis` of `x`, which is as long as the selected axis; the axis stays, also where the
/// index is a scalar.
ir::ValueId select_from(const rewrite::Match& m, rewrite::Rewriter& w, const AxisSelection& selection, ir::ValueId x, int axis);

/// The rewrite function of rules whose match state is a MovedSelection: inserts the producer with selected operands, and replaces the
/// results of all readers by its result.
bool move_selection_up(const rewrite::Match& m, rewrite::Rewriter& w);

/// Replaces the results of all readers by `y`, the value with `count` elements in the selected axis. Always true.
bool replace_readers(const rewrite::Match& m, rewrite::Rewriter& w, const AxisSelection& selection, ir::ValueId y);

}  // namespace tenon::rules
