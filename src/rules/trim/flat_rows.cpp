// SPDX-License-Identifier: Apache-2.0
// Rows that were laid one after the other for an op that treats each alike, and are parted again after it: where only some of a parted
// axis are read, the op works on the parted rows, so that they can be picked before it. Exact but for the order of sums.
#include <algorithm>

#include "rewrite/rule.h"
#include "rules/helpers/axis_selection.h"
#include "rules/helpers/elementwise.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::trim_flat_rows {
using namespace rewrite;
namespace {

struct Flat {
  AxisSelection selection;
  NodeId op;
  std::vector<size_t> rows;  ///< operands of `op` whose first axis is the flat one
};

/// The operands of `op` that have the rows; nullopt where it does not treat rows alike.
std::optional<std::vector<size_t>> row_operands(const Match& m, NodeId op, Dim rows) {
  const Node& node = m.node(op);
  if (node.is("MatMul")) {
    if (m.rank(node.inputs[0]) != 2 || m.rank(node.inputs[1]) != 2) return std::nullopt;
    return std::vector<size_t>{0};
  }
  if (!is_elementwise(node)) return std::nullopt;
  std::vector<size_t> out;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const DimList* shape = node.inputs[i] ? m.shape(node.inputs[i]) : nullptr;
    if (node.inputs[i] && (!shape || shape->size() > 2)) return std::nullopt;
    if (!shape || shape->size() < 2 || (*shape)[0].known_equal(1)) continue;
    if (!(*shape)[0].known_equal(rows)) return std::nullopt;
    out.push_back(i);
  }
  return out;
}

/// The last axis stays, all before it are one in the operand.
bool parts_rows(const DimList& from, const DimList& to, int axis) {
  return from.size() == 2 && to.size() > 2 && axis + 1 < static_cast<int>(to.size()) && from.back().known_equal(to.back()) &&
         product(DimList(to.begin(), to.end() - 1)).known_equal(from[0]);
}

bool parted(Match& m) {
  const auto selection = sole_selection(m);
  if (!selection || !m.node(selection->producer).is("Reshape")) return false;
  const ValueId flat = m.operand(selection->producer, 0);
  const DimList* from = m.shape(flat);
  if (!from || !parts_rows(*from, *m.shape(selection->value), selection->axis)) return false;
  const NodeId op = m.producer(flat);
  if (!op || m.use_count(flat) != 1) return m.refuse("the flat rows have another reader");
  auto rows = row_operands(m, op, (*from)[0]);
  if (!rows || rows->empty()) return m.refuse("what makes the flat rows does not treat them alike");
  for (size_t i : *rows)
    if (!m.shape(m.operand(op, i))->back().is_number()) return m.refuse("how long the rows are is not known");
  m.take(op);
  return m.accept(Flat{*selection, op, std::move(*rows)});
}

/// `x`, of flat rows, with the axes that the value has before its last one.
ValueId parted_rows(const Match& m, Rewriter& w, const Flat& found, ValueId x) {
  DimList shape = *m.shape(found.selection.value);
  shape.back() = m.shape(x)->back();  // a number
  const NodeId flattened = m.producer(x, "Reshape");
  for (ValueId source : {flattened ? m.operand(flattened, 0) : x, x})
    if (m.shape(source))
      if (const auto target = reshape_target(*m.shape(source), shape)) return w("Reshape", {source, w.ints(*target)});
  const ValueId outer = w("Slice", {m.operand(found.selection.producer, 1), w.ints({0}), w.ints({-1}), w.ints({0})});
  const ValueId target = w("Concat", {outer, w.ints({shape.back().value()})}, {{"axis", int64_t{0}}});
  return w("Reshape", {x, target}, attributes_except(m.node(found.selection.producer), {}));
}

bool part_before(const Match& m, Rewriter& w) {
  const Flat& found = m.state<Flat>();
  std::vector<ValueId> inputs(m.node(found.op).inputs.begin(), m.node(found.op).inputs.end());
  for (size_t i : found.rows) inputs[i] = parted_rows(m, w, found, inputs[i]);
  w.replace(found.selection.value, w.clone_with_operands(found.op, inputs)[0]);
  return true;
}

}  // namespace

RULES(trim_flat_rows) {
    .rules =
        {
            {.name = "pick_flat_rows",
             .docs = "op(flat rows) parted again, of which some are read: the op of parted rows",
             .roots = "Gather Slice",
             .match = parted,
             .rewrite = part_before,
             .numerics = Numerics::reassociating,
             .benefit = 2,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::trim_flat_rows
