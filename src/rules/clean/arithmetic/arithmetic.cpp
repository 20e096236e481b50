// SPDX-License-Identifier: Apache-2.0
// One spelling for each piece of arithmetic, so that later rules need to match only that one.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_arithmetic {
using namespace rewrite;
namespace {

/// x / c with c one number whose reciprocal is a normal number of the dtype.
bool constant_divisor(Match& m) {
  const ValueId data = m.operand(m.root(), 0), by = m.operand(m.root(), 1);
  if (!m.is_constant(by) || m.is_constant(data) || !is_arithmetic_float(m.dtype(by))) return false;
  const auto number = m.number(by);
  if (!number || *number == 0 || !std::isfinite(*number)) return false;
  const double largest = m.dtype(by) == DType::f16 ? 1e4 : 1e30;
  if (std::abs(*number) > largest || std::abs(1 / *number) > largest) return m.refuse("the reciprocal leaves the normal range");
  return m.same_type(m.result(m.root()), data);
}

bool is_power_of_two(double x) {
  int exponent;
  return std::abs(std::frexp(x, &exponent)) == 0.5;
}

bool exact_divisor(Match& m) { return constant_divisor(m) && is_power_of_two(*m.number(m.operand(m.root(), 1))); }

bool by_reciprocal(const Match& m, Rewriter& w) {
  const ValueId data = m.operand(m.root(), 0), by = m.operand(m.root(), 1);
  return replace_root(m, w, w("Mul", {data, w.scalar(m.dtype(by), 1 / *m.number(by))}));
}

/// (x * a) * b with two numbers.
struct Product {
  ValueId data;
  double factor;
};

bool two_factors(Match& m) {
  for (size_t side : {1, 0}) {
    const auto outer = m.is_constant(m.operand(m.root(), side)) ? m.number(m.operand(m.root(), side)) : std::nullopt;
    const NodeId inner = outer ? m.producer(m.operand(m.root(), 1 - side), "Mul") : NodeId{};
    if (!inner) continue;
    for (size_t k : {1, 0}) {
      const ValueId c = m.operand(inner, k), data = m.operand(inner, 1 - k);
      const auto factor = m.is_constant(c) ? m.number(c) : std::nullopt;
      if (!factor || !is_float(m.dtype(c)) || !m.same_type(data, m.result(m.root()))) continue;
      m.take(inner);
      m.accept(Product{data, *outer * *factor});
      return std::isfinite(*outer * *factor);
    }
  }
  return false;
}

bool one_factor(const Match& m, Rewriter& w) {
  const Product& p = m.state<Product>();
  return replace_root(m, w, w("Mul", {p.data, w.scalar(m.dtype(p.data), p.factor)}));
}

}  // namespace

RULES(clean_arithmetic) {
    .rules =
        {
            {.name = "divide_exact",
             .docs = "x / 2^n is x * 2^-n",
             .roots = "Div",
             .match = exact_divisor,
             .rewrite = by_reciprocal,
             .benefit = 4,
             .sets = "tenon default canonical",
             .covered_patterns = "MulMulMulScalar"},
            {.name = "divide_constant",
             .docs = "x / c is x * (1/c)",
             .roots = "Div",
             .match = constant_divisor,
             .rewrite = by_reciprocal,
             .numerics = Numerics::reassociating,
             .benefit = 3,
             .sets = "tenon default",
             .covered_patterns = "MulMulMulScalar"},
            {.name = "factors",
             .docs = "(x * a) * b is x * (a*b) for two numbers",
             .roots = "Mul",
             .match = two_factors,
             .rewrite = one_factor,
             .numerics = Numerics::reassociating,
             .benefit = 2,
             .sets = "tenon default",
             .covered_patterns = "MulMulMulScalar"},
            {.name = "pow_two",
             .docs = "x^2 is x*x",
             .equation = "Pow(?x, 2) => Mul(?x, ?x) where float(?x)",
             .numerics = Numerics::reassociating,
             .benefit = 3},
            {.name = "pow_three",
             .docs = "x^3 is x*x*x",
             .equation = "Pow(?x, 3) => Mul(Mul(?x, ?x), ?x) where float(?x)",
             .numerics = Numerics::reassociating,
             .benefit = 3},
            {.name = "neg_neg",
             .docs = "Neg(Neg(x)) is x",
             .equation = "Neg(Neg(?x)) => ?x",
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon canonical"},
            {.name = "reciprocal",
             .docs = "1/x",
             .equation = "Div(1, ?x) => Reciprocal(?x) where float(?x)",
             .benefit = 3,
             .sets = "tenon default canonical"},
            {.name = "relu_max",
             .docs = "Max(x, 0) is Relu(x) (of -0 each may give either zero)",
             .equation = "Max(?x, 0) => Relu(?x) where float(?x)",
             .numerics = Numerics::reassociating,
             .benefit = 2,
             .sets = "tenon default",
             .covered_patterns = "MaxRelu"},
            {.name = "relu_relu",
             .docs = "Relu is idempotent",
             .equation = "Relu(Relu(?x)) => Relu(?x)",
             .benefit = 3,
             .allow_outside_uses = true,
             .sets = "tenon canonical"},
        },
};

}  // namespace tenon::rules::clean_arithmetic
