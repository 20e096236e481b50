// SPDX-License-Identifier: Apache-2.0
// Ops that compute each row of their result from one row of an operand: rows without a reader are not computed. The remaining rows have the
// same sums; kernels for few rows may add them in another order.
#include "rewrite/rule.h"
#include "rules/helpers/axis_selection.h"

namespace tenon::rules::trim_rows {
using namespace rewrite;
namespace {

/// Columns of a constant are cut when the engine is built, or not at all: weights are packed then.
bool may_cut(const Match& m, const AxisSelection& selection, ValueId operand) { return selection.constant || !m.is_constant(operand); }

bool product(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !m.node(selection->producer).is("MatMul")) return false;
  const ValueId a = m.operand(selection->producer, 0), b = m.operand(selection->producer, 1);
  const int from_end = *m.rank(selection->value) - selection->axis;
  if (m.rank(a).value_or(0) < 2 || m.rank(b).value_or(0) < 2) return m.refuse("an operand has one axis");
  MovedSelection moved{*selection, {kUnselected, kUnselected}};
  if (from_end == 2) moved.axes[0] = *m.rank(a) - 2;
  if (from_end == 1) moved.axes[1] = *m.rank(b) - 1;
  for (size_t i = 0; i < 2 && from_end > 2; ++i) {
    const auto axis = aligned_axis(m, *selection, m.operand(selection->producer, i));
    if (!axis) return m.refuse("how an operand is repeated along the axis is not known");
    moved.axes[i] = *axis;
  }
  for (size_t i = 0; i < 2; ++i)
    if (moved.axes[i] != kUnselected && !may_cut(m, *selection, m.operand(selection->producer, i)))
      return m.refuse("weights would be cut at each run");
  return m.accept(std::move(moved));
}

bool gemm(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !m.node(selection->producer).is("Gemm")) return false;
  const auto& attributes = m.node(selection->producer).attributes;
  MovedSelection moved{*selection, std::vector<int>(m.node(selection->producer).inputs.size(), kUnselected)};
  if (selection->axis == 0) moved.axes[0] = attributes.integer("transA", 0) != 0 ? 1 : 0;
  else moved.axes[1] = attributes.integer("transB", 0) != 0 ? 0 : 1;
  if (!may_cut(m, *selection, m.operand(selection->producer, static_cast<size_t>(selection->axis))))
    return m.refuse("weights would be cut at each run");
  if (const ValueId c = m.operand(selection->producer, 2)) {
    const auto axis = aligned_axis(m, *selection, c);
    if (!axis) return m.refuse("how the bias is repeated along the axis is not known");
    moved.axes[2] = *axis;
  }
  return m.accept(std::move(moved));
}

/// Operands after the first have no more axes than are normalised, and no other result is read.
bool scales_fit(const Match& m, const AxisSelection& selection, int first_axis) {
  const Node& node = m.node(selection.producer);
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] && m.rank(node.inputs[i]).value_or(1 << 10) > *m.rank(selection.value) - first_axis) return false;
  for (size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] && m.use_count(node.outputs[i]) > 0) return false;
  return true;
}

bool norm(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !(m.node(selection->producer).is("LayerNormalization") || m.node(selection->producer).is("RMSNormalization")))
    return false;
  const auto axis = m.axis(selection->producer, "axis", -1, selection->value);
  if (!axis || selection->axis >= *axis) return m.refuse("the axis is normalised");
  if (selection->value != m.result(selection->producer) || !scales_fit(m, *selection, *axis))
    return m.refuse("a scale has more axes than are normalised");
  MovedSelection moved{*selection, std::vector<int>(m.node(selection->producer).inputs.size(), kUnselected)};
  moved.axes[0] = selection->axis;
  return m.accept(std::move(moved));
}

bool softmax(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !(m.node(selection->producer).is("Softmax") || m.node(selection->producer).is("LogSoftmax"))) return false;
  const auto axis = m.axis(selection->producer, "axis", -1, selection->value);
  if (!axis || selection->axis == *axis) return m.refuse("its elements depend on the others of this axis");
  return m.accept(MovedSelection{*selection, {selection->axis}});
}

/// Rows of a table chosen by indices: fewer indices. The axes of the indices take the place of the table's axis. Picks of the other
/// axes stay where they are: before the table is as good as after it.
bool table(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !m.node(selection->producer).is("Gather")) return false;
  const auto axis = m.axis(selection->producer, "axis", 0, m.operand(selection->producer, 0)),
             rank = m.rank(m.operand(selection->producer, 1));
  if (!axis || !rank) return false;
  if (selection->axis < *axis || selection->axis >= *axis + *rank) return m.refuse("elements of the rows, not rows");
  return m.accept(MovedSelection{*selection, {kUnselected, selection->axis - *axis}});
}

/// Each position is rotated by its own angles: those of the caches, or of the rows of the caches that its number names.
bool rotary(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !m.node(selection->producer).is("RotaryEmbedding")) return false;
  if (selection->axis != *m.rank(selection->value) - 2) return m.refuse("other elements than positions");
  const Node& node = m.node(selection->producer);
  MovedSelection moved{*selection, std::vector<int>(node.inputs.size(), kUnselected)};
  moved.axes[0] = selection->axis;
  const bool numbered = static_cast<bool>(m.operand(selection->producer, 3));
  for (size_t i = numbered ? 3 : 1; i < (numbered ? 4 : 3); ++i) {
    const DimList* shape = m.shape(node.inputs[i]);
    if (!shape || !(*shape)[1].known_equal(selection->size)) return m.refuse("how many positions there are is not known");
    moved.axes[i] = 1;
  }
  return m.accept(std::move(moved));
}

}  // namespace

RULES(trim_rows) {
    .rules =
        {
            {.name = "pick_matmul",
             .docs = "rows, columns or matrices of a product are products of rows, columns or matrices",
             .roots = "Gather Slice",
             .match = product,
             .rewrite = move_selection_up,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .allow_outside_uses = true},
            {.name = "pick_gemm",
             .docs = "the same for Gemm, whose bias is picked along",
             .roots = "Gather Slice",
             .match = gemm,
             .rewrite = move_selection_up,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .allow_outside_uses = true},
            {.name = "pick_norm",
             .docs = "rows of a LayerNormalization or RMSNormalization are those of what it normalises",
             .roots = "Gather Slice",
             .match = norm,
             .rewrite = move_selection_up,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .allow_outside_uses = true},
            {.name = "pick_softmax",
             .docs = "elements of a Softmax along another axis are the Softmax of the elements",
             .roots = "Gather Slice",
             .match = softmax,
             .rewrite = move_selection_up,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .allow_outside_uses = true},
            {.name = "pick_rotary",
             .docs = "some positions of a RotaryEmbedding are rotated by their angles alone",
             .roots = "Gather Slice",
             .match = rotary,
             .rewrite = move_selection_up,
             .benefit = 3,
             .allow_outside_uses = true},
            {.name = "pick_table",
             .docs = "some rows of those that a table has for some indices: fewer indices",
             .roots = "Gather Slice",
             .match = table,
             .rewrite = move_selection_up,
             .benefit = 3,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::trim_rows
