// SPDX-License-Identifier: Apache-2.0
// Reshapes around an op of two operands that does not broadcast: the op pairs elements by their place in row-major order, which no reshape
// changes, so all three shapes may be exchanged for another with as many elements.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/elementwise.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::combine_reshape_pairs {
using namespace rewrite;
namespace {

/// The operand of the reshape whose result is `value`; none where another op computes it.
ValueId before_reshape(const Match& m, ValueId value) {
  const NodeId node = m.producer(value);
  return node && is_reshape(m.node(node)) ? m.operand(node, 0) : ValueId{};
}

bool both_reshaped(Match& m) {
  if (!is_binary(m.node(m.root()))) return false;
  const ValueId a = m.operand(m.root(), 0), b = m.operand(m.root(), 1), x = before_reshape(m, a), z = before_reshape(m, b);
  if (!x || !z) return false;
  if (!m.same_shape(a, b) || !m.same_shape(x, z)) return m.refuse("the shapes are not known to be equal");
  m.take(m.producer(a));
  if (a != b) m.take(m.producer(b));
  return true;
}

bool reshape_after(const Match& m, Rewriter& w) {
  const NodeId first = m.nodes[1];
  std::vector<ValueId> inputs{m.node(first).inputs.begin(), m.node(first).inputs.end()};
  inputs[0] = w.clone_with_operands(m.root(), {inputs[0], before_reshape(m, m.operand(m.root(), 1))})[0];
  return replace_root(m, w, w.clone_with_operands(first, inputs)[0]);
}

/// An operand of the op when the op has the shape of the root: unchanged, or with a Reshape of its own.
struct Side {
  ValueId value;
  std::optional<ir::Ints> target;
};
using Sides = std::vector<Side>;

std::optional<Side> side(const Match& m, ValueId value, ValueId like) {
  if (const ValueId source = before_reshape(m, value); source && m.same_shape(source, like)) return Side{source, std::nullopt};
  if (const DimList* shape = m.shape(value); shape && shape->empty()) return Side{value, std::nullopt};
  auto target = reshape_target(m, value, like);
  return target ? std::optional(Side{value, std::move(target)}) : std::nullopt;
}

bool reshaped_and_back(Match& m) {
  const NodeId op = m.producer(m.operand(m.root(), 0));
  if (!op || !is_binary(m.node(op))) return false;
  m.take(op);
  Sides sides;
  bool comes_back = false;
  for (size_t i : {0, 1}) {
    const ValueId value = m.operand(op, i);
    const DimList* shape = m.shape(value);
    if (!shape || (!shape->empty() && !m.same_shape(value, m.result(op)))) return m.refuse("the op broadcasts");
    auto found = side(m, value, m.result(m.root()));
    if (!found) return m.refuse("two symbolic sizes move");
    comes_back |= !found->target && !shape->empty();
    sides.push_back(std::move(*found));
  }
  if (!comes_back) return m.refuse("no operand had the last shape before");
  return m.accept(std::move(sides));
}

bool in_last_shape(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs;
  for (const Side& s : m.state<Sides>()) inputs.push_back(s.target ? w("Reshape", {s.value, w.ints(*s.target)}) : s.value);
  return replace_root(m, w, w.clone_with_operands(m.nodes[1], inputs)[0]);
}

}  // namespace

RULES(combine_reshape_pairs) {
    .sets = "default",
    .rules =
        {
            {.name = "reshape_binary",
             .docs = "f(Reshape(x), Reshape(z)) is Reshape(f(x, z)) where x and z have one shape, and so have the results",
             .roots = kBinaryOps,
             .match = both_reshaped,
             .rewrite = reshape_after,
             .benefit = 2,
             .covered_patterns = "ReshapeReshapeBinary Reshape2Of3"},
            {.name = "reshape_two_of_three",
             .docs = "an op that does not broadcast, between a Reshape and one back, needs neither",
             .roots = "Reshape Squeeze Unsqueeze Flatten",
             .match = reshaped_and_back,
             .rewrite = in_last_shape,
             .benefit = 3,
             .covered_patterns = "Reshape2Of3"},
        },
};

}  // namespace tenon::rules::combine_reshape_pairs
