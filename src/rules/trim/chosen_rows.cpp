// SPDX-License-Identifier: Apache-2.0
// Rows that the run chooses, one of each sequence (the last token after padding, the token of a text's end): GatherND by places of the
// first axes. Ops that make each row from one row compute those rows alone. The sums are those of before.
#include <algorithm>

#include "rewrite/rule.h"
#include "rules/helpers/axis_selection.h"
#include "rules/helpers/elementwise.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::trim_chosen_rows {
using namespace rewrite;
namespace {

struct Chosen {
  NodeId producer;
  std::vector<NodeId> readers;
  std::vector<bool> rows;                 ///< operands of which only the rows are read; the others stay whole
  std::optional<ir::Ints> target = {};    ///< of a Reshape
  std::optional<int64_t> axis_back = {};  ///< of a norm, from the end
};

/// The first axes, of which the indices name places; nullopt where it may not be fewer rows. With a place in each, there are as many
/// rows as the axis that the indices are as long as, so never more than all.
std::optional<size_t> chosen_axes(Match& m) {
  const DimList *x = m.shape(m.operand(m.root(), 0)), *indices = m.shape(m.operand(m.root(), 1));
  if (!x || !indices || indices->size() != 2 || !indices->back().is_number() || m.node(m.root()).attributes.integer("batch_dims", 0) != 0)
    return std::nullopt;
  const auto axes = static_cast<size_t>(indices->back().value());
  if (axes < 1 || axes >= x->size()) return std::nullopt;
  const auto as_long =
      std::find_if(x->begin(), x->begin() + static_cast<int64_t>(axes), [&](Dim d) { return d.known_equal((*indices)[0]); });
  const bool fewer = as_long != x->begin() + static_cast<int64_t>(axes) &&
                     !product(DimList(x->begin(), x->begin() + static_cast<int64_t>(axes))).known_equal((*indices)[0]);
  if (!fewer) m.refuse("they may not be fewer rows");
  return fewer ? std::optional(axes) : std::nullopt;
}

/// Has the operand the rows (true), or only what is in one of them (false)? nullopt: neither.
std::optional<bool> has_rows(const Match& m, ValueId operand, const DimList& whole, size_t axes) {
  const DimList* shape = operand ? m.shape(operand) : nullptr;
  if (!operand || (shape && shape->size() <= whole.size() - axes)) return false;
  if (!shape || shape->size() != whole.size()) return std::nullopt;
  for (size_t a = 0; a < axes; ++a)
    if (!(*shape)[a].known_equal(whole[a])) return std::nullopt;
  return true;
}

bool elements(Match& m, Chosen& found, const DimList& whole, size_t axes) {
  for (ValueId operand : m.node(found.producer).inputs) {
    const auto rows = has_rows(m, operand, whole, axes);
    if (!rows) return m.refuse("how an operand is repeated over the rows is not known", operand);
    found.rows.push_back(*rows);
  }
  return std::ranges::count(found.rows, true) > 0;
}

bool first_operand(Match& m, Chosen& found, const DimList& whole, size_t axes) {
  found.rows.assign(m.node(found.producer).inputs.size(), false);
  found.rows[0] = true;
  return has_rows(m, m.operand(found.producer, 0), whole, axes) == true;
}

bool norm(Match& m, Chosen& found, const DimList& whole, size_t axes) {
  const Node& node = m.node(found.producer);
  const auto rank = static_cast<int>(whole.size());
  const auto axis = m.axis(found.producer, "axis", -1, m.operand(found.producer, 0));
  if (!axis || *axis < static_cast<int>(axes)) return m.refuse("the rows are normalised together");
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] && m.rank(node.inputs[i]).value_or(rank) > rank - *axis)
      return m.refuse("a scale has more axes than are normalised");
  if (std::ranges::any_of(node.outputs, [&](ValueId v) { return v && v != node.outputs[0] && m.use_count(v) > 0; }))
    return m.refuse("another result is read");
  found.axis_back = *axis - rank;
  return first_operand(m, found, whole, axes);
}

/// The axes of a row are joined or parted.
bool reshaped(Match& m, Chosen& found, const DimList& whole, size_t axes) {
  const DimList* from = m.shape(m.operand(found.producer, 0));
  if (!from || from->size() <= axes) return false;
  for (size_t a = 0; a < axes; ++a)
    if (!(*from)[a].known_equal(whole[a])) return m.refuse("the rows are joined or parted");
  const Dim count = (*m.shape(m.result(m.root())))[0];
  const auto row = [&](const DimList& dims) {
    DimList out{count};
    out.insert(out.end(), dims.begin() + static_cast<int64_t>(axes), dims.end());
    return out;
  };
  found.target = reshape_target(row(*from), row(whole));
  found.rows.assign(m.node(found.producer).inputs.size(), false);
  found.rows[0] = true;
  return found.target.has_value();
}

bool rows_of_maker(Match& m) {
  const ValueId value = m.operand(m.root(), 0);
  const auto axes = chosen_axes(m);
  const auto readers = axes ? equal_readers(m, value) : std::nullopt;
  if (!readers || !m.producer(value)) return false;
  Chosen found{m.producer(value), *readers, {}};
  const Node& producer = m.node(found.producer);
  if (std::ranges::all_of(producer.inputs, [&](ValueId v) { return !v || m.is_constant(v); })) return false;
  const DimList& whole = *m.shape(value);
  bool fits = false;
  if (producer.is("MatMul")) fits = m.rank(producer.inputs[1]) == 2 && first_operand(m, found, whole, *axes);
  else if (producer.is("LayerNormalization") || producer.is("RMSNormalization")) fits = norm(m, found, whole, *axes);
  else if (is_reshape(producer)) fits = reshaped(m, found, whole, *axes);
  else fits = is_elementwise(producer) && elements(m, found, whole, *axes);
  if (!fits) return false;
  m.take(found.producer);
  return m.accept(std::move(found));
}

/// The result of the producer's op on these operands.
ValueId made_of(const Match& m, Rewriter& w, const Chosen& found, std::vector<ValueId> inputs) {
  const Node& producer = m.node(found.producer);
  if (found.target) return w("Reshape", {inputs[0], w.ints(*found.target)});
  if (!found.axis_back) return w.clone_with_operands(found.producer, std::move(inputs))[0];
  auto attributes = attributes_except(producer, {"axis"});
  attributes.emplace_back("axis", *found.axis_back);
  return w(producer.op->name, std::move(inputs), std::move(attributes));
}

bool rows_first(const Match& m, Rewriter& w) {
  const Chosen& found = m.state<Chosen>();
  const Node& producer = m.node(found.producer);
  std::vector<ValueId> inputs(producer.inputs.begin(), producer.inputs.end());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (found.rows[i]) inputs[i] = w.clone_with_operands(m.root(), {inputs[i], m.operand(m.root(), 1)})[0];
  const ValueId y = made_of(m, w, found, std::move(inputs));
  for (NodeId reader : found.readers) w.replace(m.result(reader), y);
  return true;
}

}  // namespace

RULES(trim_chosen_rows) {
    .rules =
        {
            {.name = "choose_rows",
             .docs = "rows that the run chooses, of element-wise ops, products, norms and reshapes, are made of the rows that it chooses",
             .roots = "GatherND",
             .match = rows_of_maker,
             .rewrite = rows_first,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::trim_chosen_rows
