// SPDX-License-Identifier: Apache-2.0
// Operands that change nothing: zeros that are added, ones that are multiplied with. Each proof is the same: result and operand are equal
// element by element and in type, but for the sign of a zero where the rule says so.
#include <algorithm>
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/replace_root.h"

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
    return m.accept(data);
  }
  return false;
}

bool is_one_of(const Node& node, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return node.is(name); });
}

/// Results of these are never -0.
bool is_never_negative_zero(const Match& m, ValueId value) {
  const NodeId maker = m.value(value).producer;
  return maker && is_one_of(m.node(maker), {"Abs", "Cosh", "Exp", "Relu", "Sigmoid", "Softmax", "Softplus"});
}

/// x + 0 is x but for -0, of which it is +0.
bool plus_zero(Match& m) {
  for (size_t side : {1, 0}) {
    const ValueId other = m.operand(m.root(), side), data = m.operand(m.root(), 1 - side);
    if (!m.is_constant(other) || !m.is_number(other, 0) || !m.same_type(m.result(m.root()), data)) continue;
    if (!is_never_negative_zero(m, data)) return m.refuse("x may be -0, of which x + 0 is +0");
    return m.accept(data);
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
  return replace_root(m, w, w.clone_with_operands(m.root(), {node.inputs.begin(), node.inputs.begin() + bias_slot(node)})[0]);
}

}  // namespace

RULES(clean_neutral) {
    .rules =
        {
            {.name = "add_zero",
             .docs = "x+0 is x where x is never -0, whose sum with 0 is +0",
             .roots = "Add",
             .match = plus_zero,
             .rewrite = replace_root_with_state,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon default",
             .covered_patterns = "Identity"},
            {.name = "neutral_operand",
             .docs = "x-0, x*1, x/1 are x, and so are x + -0 and integers + 0",
             .roots = "Add Sub Mul Div",
             .match = neutral,
             .rewrite = replace_root_with_state,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon default canonical",
             .covered_patterns = "Identity"},
            {.name = "pow_one",
             .docs = "x to the power of 1",
             .roots = "Pow",
             .match = neutral,
             .rewrite = replace_root_with_state,
             .benefit = 10,
             .allow_outside_uses = true,
             .sets = "tenon canonical"},
            {.name = "bias_null",
             .docs = "a bias of zeros of a convolution or Gemm",
             .roots = "Conv ConvTranspose Gemm QLinearConv",
             .match = zero_bias,
             .rewrite = drop_bias,
             .numerics = Numerics::reassociating,
             .benefit = 8,
             .sets = "tenon default",
             .covered_patterns = "ConvBiasNull"},
        },
};

}  // namespace tenon::rules::clean_neutral
