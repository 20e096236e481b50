// SPDX-License-Identifier: Apache-2.0
// Rows of a table for indices that are known in part: one index that is repeated is one row that is repeated, and a piece of a list of
// neighbours is a piece of the table. Exact: the same elements arrive.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_gather_table {
using namespace rewrite;
namespace {

/// GatherElements of a tensor whose elements are all one number.
bool all_alike(Match& m) {
  if (!m.is_constant(m.operand(m.root(), 0)) || !m.number(m.operand(m.root(), 0))) return m.refuse("its elements differ, or are not known");
  return true;
}

bool repeat_number(const Match& m, Rewriter& w) {
  const ValueId x = m.operand(m.root(), 0);
  const ValueId number = w.scalar(m.dtype(x), *m.number(x));
  return replace_root(m, w, w("Expand", {number, w("Shape", {m.operand(m.root(), 1)})}));
}

/// Is the table a constant that is gathered along its first axis?
bool first_axis(Match& m) {
  const ValueId table = m.operand(m.root(), 0);
  return m.is_constant(table) && m.rank(table).value_or(0) > 0 && m.axis(m.root(), "axis", 0, table) == 0;
}

/// One index, repeated by an Expand.
bool one_index(Match& m) {
  const NodeId expand = first_axis(m) ? m.producer(m.operand(m.root(), 1), "Expand") : NodeId{};
  const DimList* index = expand ? m.shape(m.operand(expand, 0)) : nullptr;
  if (!index) return false;
  if (!product(*index).known_equal(1)) return m.refuse("more than one index is repeated");
  return m.accept(expand);
}

bool repeat_row(const Match& m, Rewriter& w) {
  const NodeId expand = m.state<NodeId>();
  const ValueId row = w.clone_with_operands(m.root(), {m.operand(m.root(), 0), m.operand(expand, 0)})[0];
  const ir::Ints as_is(static_cast<size_t>(*m.rank(m.operand(m.root(), 0)) - 1), 1);
  const ValueId target = as_is.empty() ? m.operand(expand, 1) : w("Concat", {m.operand(expand, 1), w.ints(as_is)}, {{"axis", int64_t{0}}});
  return replace_root(m, w, w("Expand", {row, target}));
}

bool are_neighbours(const Match& m, ValueId indices) {
  const Tensor* list = m.is_constant(indices) ? m.graph().tensor_of(indices) : nullptr;
  if (!list || list->count() < 2) return false;
  for (int64_t i = 0; i < list->count(); ++i)
    if (list->integer(i) != list->integer(0) + i || list->integer(i) < 0) return false;
  return true;
}

struct Piece {
  NodeId slice;
  ir::Ints axes;
};

/// A piece of a constant list, of which some places are computed.
bool piece_of_list(Match& m) {
  const NodeId slice = first_axis(m) ? m.producer(m.operand(m.root(), 1), "Slice") : NodeId{};
  if (!slice) return false;
  if (!are_neighbours(m, m.operand(slice, 0))) return m.refuse("the list is not one of neighbours");
  const DimList* starts = m.shape(m.operand(slice, 1));
  auto axes = m.operand(slice, 3) ? m.ints(m.operand(slice, 3)) : std::optional(ir::Ints());
  if (!axes || !starts || starts->size() != 1 || !(*starts)[0].is_number()) return m.refuse("the axes are not known");
  if (axes->empty())
    for (int64_t a = 0; a < (*starts)[0].value(); ++a) axes->push_back(a);
  for (int64_t& a : *axes) a += a < 0 ? *m.rank(m.operand(slice, 0)) : 0;
  return m.accept(Piece{slice, std::move(*axes)});
}

bool piece_of_table(const Match& m, Rewriter& w) {
  const Piece& found = m.state<Piece>();
  const Node& slice = m.node(found.slice);
  std::vector<ValueId> inputs(slice.inputs.begin(), slice.inputs.end());
  inputs.resize(std::max<size_t>(inputs.size(), 4));
  inputs[0] = w.clone_with_operands(m.root(), {m.operand(m.root(), 0), slice.inputs[0]})[0];
  inputs[3] = w.ints(found.axes);
  return replace_root(m, w, w("Slice", std::move(inputs)));
}

}  // namespace

RULES(clean_gather_table) {
    .rules =
        {
            {.name = "gather_alike",
             .docs = "GatherElements of a constant whose elements are all one number is that number, repeated",
             .roots = "GatherElements",
             .match = all_alike,
             .rewrite = repeat_number,
             .benefit = 4},
            {.name = "gather_repeated",
             .docs = "rows of a constant table for one index that is repeated (token types that are all 0): the row, repeated",
             .roots = "Gather",
             .match = one_index,
             .rewrite = repeat_row,
             .benefit = 4,
             .allow_outside_uses = true},
            {.name = "gather_piece",
             .docs =
                 "rows of a constant table for a Slice of neighbours (position ids): a Slice of the rows, which are found when the engine is built",
             .roots = "Gather",
             .match = piece_of_list,
             .rewrite = piece_of_table,
             .benefit = 4,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::clean_gather_table
