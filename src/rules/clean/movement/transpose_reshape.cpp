// SPDX-License-Identifier: Apache-2.0
// A Reshape splits and joins groups of neighbouring axes. A Transpose that keeps each group together moves whole groups, so it may be
// on the other side of the Reshape. Exact: only places of elements are renamed, and both orders name the same place.
#include <algorithm>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/axis_groups.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::clean_transpose_reshape {
using namespace rewrite;
namespace {

ir::Ints composed(const ir::Ints& first, const ir::Ints& second) {
  ir::Ints out;
  for (int64_t i : second) out.push_back(first[i]);
  return out;
}

bool in_order(const ir::Ints& perm) {
  for (size_t i = 0; i < perm.size(); ++i)
    if (perm[i] != static_cast<int64_t>(i)) return false;
  return true;
}

/// The Transpose before a Reshape that equals a Transpose by `order` after it: the groups in the order of their results, each with its
/// operand's axes.
std::optional<ir::Ints> before_reshape(const std::vector<AxisGroup>& groups, const ir::Ints& order) {
  ir::Ints out;
  for (int64_t axis : order)
    for (const AxisGroup& g : groups) {
      if (g.to != axis) continue;
      if (!are_adjacent_in_order(order, g.to, g.to_end)) return std::nullopt;
      for (int64_t a = g.from; a < g.from_end; ++a) out.push_back(a);
    }
  return out;
}

/// Reshape(Transpose(x)), taken.
struct TransposedReshape {
  ValueId x, result;
  ir::Ints order;
  std::vector<AxisGroup> groups;
};
std::optional<TransposedReshape> transposed(Match& m, ValueId value) {
  const NodeId reshape = m.take(value, "Reshape"), transpose = reshape ? m.take(m.operand(reshape, 0), "Transpose") : NodeId{};
  auto order = transpose ? permutation(m, transpose) : std::nullopt;
  const DimList *from = transpose ? m.shape(m.operand(reshape, 0)) : nullptr, *to = m.shape(value);
  auto groups = order && from && to ? axis_groups(*from, *to) : std::nullopt;
  if (!groups) return std::nullopt;
  return TransposedReshape{m.operand(transpose, 0), value, std::move(*order), std::move(*groups)};
}

struct Plan {
  ValueId x;
  ir::Ints target, first, last;  ///< Transpose `first`, Reshape `target`, Transpose `last`; empty: none
};

/// Transpose(Reshape(Transpose(x)))
bool two_transposes(Match& m) {
  const auto inner = transposed(m, m.operand(m.root(), 0));
  const auto outer = inner ? permutation(m, m.root()) : std::nullopt;
  if (!outer) return false;
  const DimList &x = *m.shape(inner->x), &y = *m.shape(m.result(m.root()));
  if (const auto moved = before_reshape(inner->groups, *outer)) {
    const ir::Ints both = composed(inner->order, *moved);
    DimList between;
    for (int64_t a : both) between.push_back(x[a]);
    if (auto target = reshape_target(between, y))
      return m.accept(Plan{inner->x, std::move(*target), in_order(both) ? ir::Ints{} : both, {}});
  }
  const auto moved = transpose_after_reshape(inner->groups, inner->order, *m.shape(inner->result));
  auto target = moved ? reshape_target(x, moved->shape) : std::nullopt;
  if (!target) return m.refuse("the Reshape joins what the Transposes part");
  const ir::Ints both = composed(moved->order, *outer);
  return m.accept(Plan{inner->x, std::move(*target), {}, in_order(both) ? ir::Ints{} : both});
}

ValueId carry_out(Rewriter& w, const Plan& plan) {
  ValueId y = plan.x;
  if (!plan.first.empty()) y = w("Transpose", {y}, {{"perm", plan.first}});
  y = w("Reshape", {y, w.ints(plan.target)});
  return plan.last.empty() ? y : w("Transpose", {y}, {{"perm", plan.last}});
}

bool one_transpose(const Match& m, Rewriter& w) { return replace_root(m, w, carry_out(w, m.state<Plan>())); }

bool swaps_last_two(const ir::Ints& order) {
  const int64_t rank = static_cast<int64_t>(order.size());
  for (int64_t i = 0; i < rank; ++i)
    if (order[i] != (i < rank - 2 ? i : 2 * rank - 3 - i)) return false;
  return rank >= 2;
}

struct Operand {
  size_t slot;
  Plan plan;
};

/// MatMul of Reshape(Transpose(x)) where the Transpose may come last, as a swap of rows and columns.
bool reshaped_operand(Match& m) {
  for (size_t slot : {0, 1}) {
    m.nodes = {m.root()};
    const auto inner = transposed(m, m.operand(m.root(), slot));
    const auto moved = inner ? transpose_after_reshape(inner->groups, inner->order, *m.shape(inner->result)) : std::nullopt;
    auto target = moved && swaps_last_two(moved->order) ? reshape_target(*m.shape(inner->x), moved->shape) : std::nullopt;
    if (!target) continue;
    return m.accept(Operand{slot, {inner->x, std::move(*target), {}, moved->order}});
  }
  return false;
}

bool transpose_last(const Match& m, Rewriter& w) {
  const Operand& found = m.state<Operand>();
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  inputs[found.slot] = carry_out(w, found.plan);
  return replace_root(m, w, w.clone_with_operands(m.root(), inputs)[0]);
}

}  // namespace

RULES(clean_transpose_reshape) {
    .sets = "default",
    .rules =
        {
            {.name = "transpose_reshape_transpose",
             .docs = "Transposes on both sides of a Reshape are one, where one of them moves whole groups of axes",
             .roots = "Transpose",
             .match = two_transposes,
             .rewrite = one_transpose,
             .benefit = 4,
             .sets = "tenon default",
             .covered_patterns = "TransposeReshapeTranspose"},
            {.name = "transpose_reshape_matmul",
             .docs = "an operand of MatMul that is transposed and then reshaped: reshaped first, so that MatMul meets the Transpose",
             .roots = "MatMul",
             .match = reshaped_operand,
             .rewrite = transpose_last,
             .benefit = 2,
             .covered_patterns = "TransposeReshapeMatMul"},
        },
};

}  // namespace tenon::rules::clean_transpose_reshape
