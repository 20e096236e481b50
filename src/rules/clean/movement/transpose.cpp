// SPDX-License-Identifier: Apache-2.0
// Transposes compose, cancel, and meet through element-wise ops. A Transpose only renames positions, so an op that treats every
// position alike gives the same elements before and after it.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/elementwise.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::clean_transpose {
using namespace rewrite;
namespace {

bool no_order(Match& m) { return !m.node(m.root()).attributes.has("perm") && permutation(m, m.root()); }
bool write_order(const Match& m, Rewriter& w) {
  return replace_root(m, w, w("Transpose", {m.operand(m.root(), 0)}, {{"perm", *permutation(m, m.root())}}));
}

struct EnclosedOp {
  NodeId middle;
  ValueId source;
};

/// Transpose(f(Transpose(x))): the outer one moves up through f and meets the inner one.
bool sandwich(Match& m) {
  const NodeId middle = m.producer(m.operand(m.root(), 0));
  if (!middle || !is_unary(m.node(middle)) || !permutation(m, m.root())) return false;
  m.take(middle);
  const NodeId inner = m.producer(m.operand(middle, 0), "Transpose");
  if (!inner) return false;
  return m.accept(EnclosedOp{middle, m.operand(middle, 0)});
}

bool meet(const Match& m, Rewriter& w) {
  const auto& found = m.state<EnclosedOp>();
  std::vector<ValueId> inputs = m.node(found.middle).inputs;
  inputs[0] = w("Transpose", {found.source}, {{"perm", *permutation(m, m.root())}});
  return replace_root(m, w, w.clone_with_operands(found.middle, inputs)[0]);
}

/// f(Transpose(a, p), Transpose(b, p)), or one of them a scalar.
bool both_transposed(Match& m) {
  std::vector<ValueId> sources;
  std::optional<ir::Ints> order;
  for (size_t i = 0; i < 2; ++i) {
    const ValueId operand = m.operand(m.root(), i);
    if (const DimList* shape = m.shape(operand); shape && shape->empty()) {
      sources.push_back(operand);
      continue;
    }
    const NodeId inner = m.take(operand, "Transpose");
    const auto perm = inner ? permutation(m, inner) : std::nullopt;
    if (!perm || (order && *order != *perm)) return false;
    order = perm;
    sources.push_back(m.operand(inner, 0));
  }
  if (m.nodes.size() < 3) return false;
  return m.accept(std::move(sources));
}

bool transpose_after(const Match& m, Rewriter& w) {
  const ir::Ints order = *permutation(m, m.nodes[1]);
  return replace_root(m, w, w("Transpose", {w.clone_with_operands(m.root(), m.state<std::vector<ValueId>>())[0]}, {{"perm", order}}));
}

/// Reshape(Transpose(Reshape(x, [-1, s, d]), [0, 2, 1]), [..., d, s]): all but the last two axes joined, swapped, split again.
bool flattened_swap(Match& m) {
  const NodeId swap = m.take(m.operand(m.root(), 0), "Transpose");
  if (!swap || permutation(m, swap) != std::optional(ir::Ints{0, 2, 1})) return false;
  const NodeId flatten = m.producer(m.operand(swap, 0), "Reshape");
  if (!flatten) return false;
  const ValueId source = m.operand(flatten, 0);
  const DimList *x = m.shape(source), *flat = m.shape(m.operand(swap, 0)), *y = m.shape(m.result(m.root()));
  if (!x || !flat || !y || x->size() != y->size() || x->size() < 3) return false;
  const size_t r = x->size();
  bool fits = (*x)[r - 2].known_equal((*flat)[1]) && (*x)[r - 1].known_equal((*flat)[2]) && (*x)[r - 2].known_equal((*y)[r - 1]) &&
              (*x)[r - 1].known_equal((*y)[r - 2]);
  for (size_t i = 0; i + 2 < r; ++i) fits &= (*x)[i].known_equal((*y)[i]);
  m.accept(source);
  return fits;
}

bool swap_last(const Match& m, Rewriter& w) {
  ir::Ints perm;
  const int rank = *m.rank(m.result(m.root()));
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  std::swap(perm[rank - 1], perm[rank - 2]);
  return replace_root(m, w, w("Transpose", {m.state<ValueId>()}, {{"perm", perm}}));
}

}  // namespace

RULES(clean_transpose) {
    .rules =
        {
            {.name = "transpose_order",
             .docs = "writes the reversed order of a Transpose without perm down",
             .roots = "Transpose",
             .match = no_order,
             .rewrite = write_order,
             .benefit = 8,
             .sets = "tenon default canonical"},
            {.name = "transpose_compose",
             .docs = "two Transposes are one",
             .equation = "Transpose(Transpose(?x, perm=?p), perm=?q) => Transpose(?x, perm=compose(?p, ?q))",
             .benefit = 5,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "TransposeTranspose"},
            {.name = "transpose_sandwich",
             .docs = "Transpose(f(Transpose(x))) is f(Transpose(Transpose(x)))",
             .roots = "Transpose",
             .match = sandwich,
             .rewrite = meet,
             .benefit = 4},
            {.name = "transpose_sum",
             .docs = "a Transpose after a sum undoes one before it: only the other operand is transposed",
             .equation = "Transpose(Add(?x, Transpose(?y, perm=?p)), perm=?q) => Add(Transpose(?x, perm=?q), ?y)"
                         " where ?q == inverse(?p), rank(?x) == rank(?y)",
             .benefit = 3,
             .sets = "default"},
            {.name = "transpose_flattened",
             .docs = "the last two axes swapped after a flattening of the others",
             .roots = "Reshape",
             .match = flattened_swap,
             .rewrite = swap_last,
             .benefit = 6},
            {.name = "transpose_pair",
             .docs = "f(Transpose(a), Transpose(b)) is Transpose(f(a, b))",
             .roots = "Add Sub Mul Div Pow Max Min",
             .match = both_transposed,
             .rewrite = transpose_after,
             .benefit = 2},
        },
};

}  // namespace tenon::rules::clean_transpose
