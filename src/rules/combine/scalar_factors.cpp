// SPDX-License-Identifier: Apache-2.0
// Numbers gather in one place, and small operands meet before large ones. The same real functions, rounded in another order: where a
// product of the numbers is no finite number of the dtype, or is 0 and no factor was, nothing is changed. In a late stage, because
// fusions recognise formulas by their order.
#include <algorithm>
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::combine_scalar_factors {
using namespace rewrite;
namespace {

/// data * factor with one number
struct ScaledView {
  ValueId data;
  double factor;
};
std::optional<ScaledView> scaled(Match& m, ValueId value) {
  const NodeId mul = m.producer(value, "Mul");
  if (!mul || !is_arithmetic_float(m.dtype(value))) return std::nullopt;
  for (size_t side : {1, 0}) {
    const ValueId data = m.operand(mul, 1 - side), by = m.operand(mul, side);
    const auto number = m.is_constant(by) && !m.is_constant(data) ? m.number(by) : std::nullopt;
    if (!number || !m.same_type(data, value)) continue;
    m.take(mul);
    return ScaledView{data, *number};
  }
  return std::nullopt;
}

/// `factor` may be replaced by two numbers whose product it is.
bool representable(DType dtype, double factor) {
  const double size = std::abs(factor), least = dtype == DType::f16 ? 6.2e-5 : dtype == DType::f64 ? 2.3e-308 : 1.2e-38;
  return size >= least && size <= (dtype == DType::f16 ? 65504 : dtype == DType::f64 ? 1.7e308 : 3.3e38);
}

struct Factored {
  ValueId a, b;
  double factor;
};

/// f(x * c, y * d) with f a product
bool both_scaled(Match& m) {
  const auto a = scaled(m, m.operand(m.root(), 0)), b = a ? scaled(m, m.operand(m.root(), 1)) : std::nullopt;
  if (!b) return false;
  if (!representable(m.dtype(a->data), a->factor * b->factor)) return m.refuse("the product of the numbers leaves the normal range");
  return m.accept(Factored{a->data, b->data, a->factor * b->factor});
}

bool factor_last(const Match& m, Rewriter& w) {
  const Factored& found = m.state<Factored>();
  const ValueId product = w.clone_with_operands(m.root(), {found.a, found.b})[0];
  return replace_root(m, w, w("Mul", {product, w.scalar(m.dtype(found.a), found.factor)}));
}

DimList broadcast(const DimList& a, const DimList& b) {
  DimList out(std::max(a.size(), b.size()), 1);
  for (const DimList* shape : {&a, &b})
    for (size_t i = 0; i < shape->size(); ++i) {
      Dim& dim = out[out.size() - shape->size() + i];
      if (dim.known_equal(1)) dim = (*shape)[i];
    }
  return out;
}

/// Some axis of `large` that is not known to be 1 is missing in `small`, or is 1 there.
bool narrower(const DimList& small, const DimList& large) {
  if (small.size() > large.size()) return false;
  bool found = false;
  for (size_t i = 0; i < large.size(); ++i) {
    const size_t missing = large.size() - small.size();
    const Dim dim = i < missing ? Dim(1) : small[i - missing];
    if (dim.known_equal(1)) found |= !large[i].known_equal(1);
    else if (!dim.known_equal(large[i])) return false;
  }
  return found;
}

struct Order {
  ValueId large, inner, outer;
};

/// (large + a) + b where a and b together are smaller than large
bool small_last(Match& m) {
  if (!is_arithmetic_float(m.dtype(m.result(m.root())))) return false;
  for (size_t outer : {1, 0}) {
    m.nodes = {m.root()};
    const NodeId node = m.take(m.operand(m.root(), 1 - outer), m.node(m.root()).op->name);
    for (size_t inner : {1, 0}) {
      if (!node) break;
      const ValueId large = m.operand(node, 1 - inner), a = m.operand(node, inner), b = m.operand(m.root(), outer);
      const DimList *big = m.shape(large), *first = m.shape(a), *second = m.shape(b);
      if (!big || !first || !second || !m.same_type(large, m.result(m.root())) || !narrower(broadcast(*first, *second), *big)) continue;
      return m.accept(Order{large, a, b});
    }
  }
  return false;
}

bool small_first(const Match& m, Rewriter& w) {
  const Order& found = m.state<Order>();
  const std::string& op = m.node(m.root()).op->name;
  return replace_root(m, w, w(op, {found.large, w(op, {found.inner, found.outer})}));
}

}  // namespace

RULES(combine_scalar_factors) {
    .sets = "default",
    .rules =
        {
            {.name = "factors_apart",
             .docs = "(x * a) * (y * b) is (x * y) * (a*b) for two numbers",
             .roots = "Mul",
             .match = both_scaled,
             .rewrite = factor_last,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "MulMulMulScalar"},
            {.name = "matmul_factors",
             .docs = "MatMul(x * a, y * b) is MatMul(x, y) * (a*b) for two numbers",
             .roots = "MatMul",
             .match = both_scaled,
             .rewrite = factor_last,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .covered_patterns = "MulMulMatMul"},
            {.name = "small_operands_first",
             .docs = "(large + a) + b is large + (a + b), and so for products",
             .roots = "Add Mul",
             .match = small_last,
             .rewrite = small_first,
             .numerics = Numerics::reassociating,
             .benefit = 1,
             .covered_patterns = "SwitchOrderBinary"},
        },
};

}  // namespace tenon::rules::combine_scalar_factors
