// SPDX-License-Identifier: Apache-2.0
// MatMul over an inner axis of size 1 adds nothing up: it is a product with broadcasting. But for a product of -0, which a sum from 0 on
// makes 0.
#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"
#include "rules/helpers/shapes.h"

namespace tenon::rules::clean_outer_products {
using namespace rewrite;
namespace {

struct OuterProduct {
  ValueId a, b;
  ir::Ints first, second;  ///< targets of the Reshapes of a and b
};

DimList last_two_swapped(DimList shape) {
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  return shape;
}

/// The column [..., M, 1] and the row [..., 1, N] whose product `node` is, Mul or MatMul.
std::optional<std::pair<ValueId, ValueId>> factors(const Match& m, NodeId node) {
  for (size_t side : {0, 1}) {
    const ValueId a = m.operand(node, side), b = m.operand(node, 1 - side);
    const DimList *x = m.shape(a), *y = m.shape(b);
    if (!x || !y || x->size() < 2 || y->size() < 2 || (side == 1 && m.node(node).is("MatMul"))) continue;
    if (x->back().known_equal(1) && (*y)[y->size() - 2].known_equal(1)) return std::pair(a, b);
  }
  return std::nullopt;
}

/// Transpose of a column times a row, by its last two axes
bool transposed_product(Match& m) {
  const NodeId matmul = m.producer(m.operand(m.root(), 0), "MatMul");
  const NodeId product = matmul ? m.take(m.operand(m.root(), 0), "MatMul") : m.take(m.operand(m.root(), 0), "Mul");
  const auto perm = product ? permutation(m, m.root()) : std::nullopt;
  const auto found = perm && perm->size() >= 2 ? factors(m, product) : std::nullopt;
  if (!found) return false;
  const int64_t rank = static_cast<int64_t>(perm->size());
  for (int64_t i = 0; i < rank; ++i)
    if ((*perm)[i] != (i < rank - 2 ? i : 2 * rank - 3 - i)) return false;
  const DimList &x = *m.shape(found->first), &y = *m.shape(found->second);
  auto first = reshape_target(x, last_two_swapped(x)), second = reshape_target(y, last_two_swapped(y));
  if (!first || !second) return m.refuse("two symbolic sizes move");
  return m.accept(OuterProduct{found->first, found->second, std::move(*first), std::move(*second)});
}

bool transpose_factors(const Match& m, Rewriter& w) {
  const OuterProduct& found = m.state<OuterProduct>();
  const ValueId row = w("Reshape", {found.a, w.ints(found.first)}), column = w("Reshape", {found.b, w.ints(found.second)});
  return replace_root(m, w, w("Mul", {row, column}));
}

}  // namespace

RULES(clean_outer_products) {
    .sets = "default",
    .rules =
        {
            {.name = "outer_product",
             .docs = "MatMul over an inner axis of size 1 is Mul",
             .equation = "MatMul(?a, ?b) => Mul(?a, ?b) where dim(?a, -1) == 1, rank(?a) >= 2, rank(?b) >= 2",
             .numerics = Numerics::reassociating,
             .benefit = 2,
             .covered_patterns = "ShapeBasedMatMulToMul"},
            {.name = "outer_product_transposed",
             .docs = "a column times a row, transposed: a row times a column",
             .roots = "Transpose",
             .match = transposed_product,
             .rewrite = transpose_factors,
             .numerics = Numerics::reassociating,
             .benefit = 4,
             .covered_patterns = "ShapeBasedMatMulToMul"},
        },
};

}  // namespace tenon::rules::clean_outer_products
