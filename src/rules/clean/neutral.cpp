// SPDX-License-Identifier: Apache-2.0
// Operands that change nothing: zeros that are added, ones that are multiplied with. Each proof is the same: result and operand are equal
// element by element and in type, but for the sign of a zero where the rule says so.
#include <algorithm>
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/give_back.h"

namespace tenon::rules::clean_neutral {
using namespace rewrite;
namespace {

/// A constant of which every element is `wanted`, a zero with the same sign.
bool all_are(const Match& m, ValueId value, double wanted) {
  const Tensor* t = m.is_constant(value) ? m.graph().tensor_of(value) : nullptr;
  if (!t || t->count() == 0 || t->dtype() == DType::string || is_complex(t->dtype())) return false;
  for (int64_t i = 0; i < t->count(); ++i) {
    const double x = is_integer(t->dtype()) ? static_cast<double>(t->integer(i)) : t->number(i);
    if (x != wanted || std::signbit(x) != std::signbit(wanted)) return false;
  }
  return true;
}

/// x - 0, x * 1, x / 1, x^1, x + -0 (of integers: x + 0) where the other operand does not widen the shape.
bool neutral(Match& m) {
  const Node& node = m.node(m.root());
  const bool adds = node.is("Add");
  const double number = adds && is_float(m.dtype(m.result(m.root()))) ? -0.0 : adds || node.is("Sub") ? 0.0 : 1.0;
  for (size_t side : {1, 0}) {
    if (side == 0 && !adds && !node.is("Mul")) break;
    const ValueId other = m.operand(m.root(), side), data = m.operand(m.root(), 1 - side);
    if (!all_are(m, other, number) || !m.same_type(m.result(m.root()), data)) continue;
    return m.keep(data);
  }
  return false;
}

/// In f16 an epsilon below 3e-8 is 0; the sum under the root says that this is a norm.
bool may_be_epsilon(const Match& m) {
  if (m.dtype(m.result(m.root())) != DType::f16) return false;
  return std::ranges::any_of(m.value(m.result(m.root())).uses, [&](const ir::Use& use) { return use.node && m.node(use.node).is("Sqrt"); });
}

/// x + 0 is x up to the sign of a zero.
bool plus_zero(Match& m) {
  for (size_t side : {1, 0}) {
    const ValueId other = m.operand(m.root(), side), data = m.operand(m.root(), 1 - side);
    if (!m.is_constant(other) || !m.is_number(other, 0) || !m.same_type(m.result(m.root()), data)) continue;
    if (may_be_epsilon(m)) return m.refuse("a zero under a root in f16 may be an epsilon that was rounded");
    return m.keep(data);
  }
  return false;
}

size_t bias_slot(const Node& node) { return node.is("QLinearConv") ? 8 : 2; }

bool zero_bias(Match& m) {
  const Node& node = m.node(m.root());
  const ValueId bias = m.operand(m.root(), bias_slot(node));
  return m.is_constant(bias) && m.is_number(bias, 0) && std::isfinite(node.attributes.number("beta", 1));
}

bool drop_bias(const Match& m, Rewriter& w) {
  const Node& node = m.node(m.root());
  return give(m, w, w.again(m.root(), {node.inputs.begin(), node.inputs.begin() + bias_slot(node)})[0]);
}

}  // namespace

RULES(clean_neutral) {
    .rules =
        {
            {.name = "add_zero",
             .docs = "x+0 is x (but for -0+0, which is 0)",
             .roots = "Add",
             .match = plus_zero,
             .rewrite = give_kept,
             .numerics = Numerics::reassociating,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default",
             .seeds = "Identity"},
            {.name = "neutral_operand",
             .docs = "x-0, x*1, x/1 are x, and so are x + -0 and integers + 0",
             .roots = "Add Sub Mul Div",
             .match = neutral,
             .rewrite = give_kept,
             .benefit = 10,
             .shared = true,
             .sets = "tenon default canonical",
             .seeds = "Identity"},
            {.name = "pow_one",
             .docs = "x to the power of 1",
             .roots = "Pow",
             .match = neutral,
             .rewrite = give_kept,
             .benefit = 10,
             .shared = true,
             .sets = "tenon canonical"},
            {.name = "bias_null",
             .docs = "a bias of zeros of a convolution or Gemm",
             .roots = "Conv ConvTranspose Gemm QLinearConv",
             .match = zero_bias,
             .rewrite = drop_bias,
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "tenon default",
             .seeds = "ConvBiasNull"},
        },
};

}  // namespace tenon::rules::clean_neutral
