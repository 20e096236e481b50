// SPDX-License-Identifier: Apache-2.0
// One product that is split (queries, keys, values side by side), of which only some rows of one part are read: that part becomes a
// product of its own, of those rows. The others stay together. Each column is the same sum as before.
#include <numeric>

#include "rewrite/rule.h"
#include "rules/helpers/axis_selection.h"

namespace tenon::rules::trim_split {
using namespace rewrite;
namespace {

struct Part {
  AxisSelection selection;
  ValueId x, weight, bias;  ///< bias: may be none
  ir::Ints sizes;           ///< of the parts
  size_t index;             ///< which one
  int axis;                 ///< of x
};

/// x W, or x W + b, of constants, that the Split alone reads.
bool read_product(Match& m, ValueId value, Part& found) {
  if (const NodeId add = m.producer(value, "Add")) {
    const size_t constant = m.is_constant(m.operand(add, 1)) ? 1 : 0;
    found.bias = m.operand(add, constant);
    if (!m.is_constant(found.bias) || m.rank(found.bias) != 1 || m.use_count(value) != 1) return false;
    value = m.operand(add, 1 - constant);
  }
  const NodeId product = m.producer(value, "MatMul");
  if (!product || m.use_count(value) != 1) return false;
  found.x = m.operand(product, 0);
  found.weight = m.operand(product, 1);
  return m.is_constant(found.weight) && m.rank(found.weight) == 2 && m.rank(found.x).value_or(0) >= 2;
}

bool read_sizes(const Match& m, NodeId split, Part& found) {
  for (ValueId part : m.node(split).outputs) {
    const DimList* shape = part ? m.shape(part) : nullptr;
    if (!shape || !shape->back().is_number()) return false;
    if (part == found.selection.value) found.index = found.sizes.size();
    found.sizes.push_back(shape->back().value());
  }
  const DimList* columns = m.shape(found.weight);
  return product(DimList{(*columns)[1]}).known_equal(std::accumulate(found.sizes.begin(), found.sizes.end(), int64_t{0})) &&
         (!found.bias || (*m.shape(found.bias))[0].known_equal((*columns)[1]));
}

bool one_part(Match& m) {
  auto selection = sole_selection(m);
  if (!selection || !m.node(selection->producer).is("Split") || m.node(selection->producer).outputs.size() < 2) return false;
  const int rank = *m.rank(selection->value);
  if (m.axis(selection->producer, "axis", 0, selection->value) != rank - 1 || selection->axis == rank - 1)
    return m.refuse("not split by columns and picked by rows");
  Part found{*selection, {}, {}, {}, {}, 0, selection->axis};
  if (!read_product(m, m.operand(selection->producer, 0), found))
    return m.refuse("it splits no product with constant weights, or others read that too");
  if (m.rank(found.x) != rank || !read_sizes(m, selection->producer, found)) return m.refuse("the sizes of the parts are not known");
  return m.accept(std::move(found));
}

/// x W + b of some columns.
ValueId columns(const Match& m, Rewriter& w, const Part& found, ValueId x, const std::vector<std::pair<int64_t, int64_t>>& ranges) {
  std::vector<ir::ConstantRef> weights, biases;
  for (const auto& [begin, end] : ranges) {
    weights.push_back(ir::slice(m.value(found.weight).constant, 1, begin, end));
    if (found.bias) biases.push_back(ir::slice(m.value(found.bias).constant, 0, begin, end));
  }
  const ValueId y = w("MatMul", {x, w.constant(ir::concat(std::move(weights), 1))});
  return found.bias ? w("Add", {y, w.constant(ir::concat(std::move(biases), 0))}) : y;
}

bool apart(const Match& m, Rewriter& w) {
  const Part& found = m.state<Part>();
  std::vector<std::pair<int64_t, int64_t>> own, others;
  ir::Ints sizes;
  std::vector<ValueId> results;
  for (size_t i = 0, at = 0; i < found.sizes.size(); at += static_cast<size_t>(found.sizes[i++])) {
    const auto begin = static_cast<int64_t>(at), end = begin + found.sizes[i];
    (i == found.index ? own : others).emplace_back(begin, end);
    if (i == found.index) continue;
    sizes.push_back(found.sizes[i]);
    results.push_back(m.result(found.selection.producer, i));
  }
  ValueId rest = columns(m, w, found, found.x, others);
  if (sizes.size() == 1) w.replace(results[0], rest);
  else {
    const auto parts = w.many("Split", {rest, w.ints(sizes)}, sizes.size(), {{"axis", int64_t{-1}}});
    for (size_t i = 0; i < parts.size(); ++i) w.replace(results[i], parts[i]);
  }
  return replace_readers(m, w, found.selection, columns(m, w, found, select_from(m, w, found.selection, found.x, found.axis), own));
}

}  // namespace

RULES(trim_split) {
    .rules =
        {
            {.name = "pick_split",
             .docs = "rows of one part of a product that is split by columns: a product of its own for that part, of those rows",
             .roots = "Gather Slice",
             .match = one_part,
             .rewrite = apart,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::trim_split
