// SPDX-License-Identifier: Apache-2.0
// The scale of a QuantizeLinear is folded into constants before it: its own scale becomes 1, and runs need no division.
#include <cmath>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/dequantized.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::combine_quantize_scale {
using namespace rewrite;
namespace {

/// Sums of sums of ... that are walked through.
constexpr int kMostLevels = 6;

bool is_factor(const Match& m, ValueId value) { return m.is_constant(value) && m.dtype(value) == DType::f32; }

/// The constant operand of a Mul or Add; -1 where there is none.
int constant_side(const Match& m, NodeId node) {
  for (int side : {1, 0})
    if (is_factor(m, m.operand(node, static_cast<size_t>(side)))) return side;
  return -1;
}

/// Whether a positive factor can be folded into constants that `value` is computed from, without changing other users of the nodes between.
bool takes_factor(Match& m, ValueId value, int levels) {
  if (const auto d = dequantized_per_tensor(m, value)) return is_factor(m, d->scale);
  const NodeId node = m.producer(value);
  if (!node || levels == 0 || m.dtype(value) != DType::f32 || m.use_count(value) != 1) return false;
  const int side = m.node(node).is("Mul") || m.node(node).is("Add") ? constant_side(m, node) : -1;
  if (m.node(node).is("Mul")) return side >= 0;
  if (m.node(node).is("Relu")) return takes_factor(m, m.operand(node, 0), levels - 1);
  if (!m.node(node).is("Add")) return false;
  for (int k : {0, 1})
    if (k != side && !takes_factor(m, m.operand(node, static_cast<size_t>(k)), levels - 1)) return false;
  return true;
}

bool scale_moves(Match& m) {
  const ValueId scale = m.operand(m.root(), 1);
  const auto number = m.shape(scale) && product(*m.shape(scale)).known_equal(1) && is_factor(m, scale) ? m.number(scale) : std::nullopt;
  if (!number || m.node(m.root()).attributes.has("precision")) return m.refuse("the scale is no single f32 constant");
  if (!(*number > 0) || *number == 1 || !std::isfinite(1 / *number)) return m.refuse("nothing to divide by, or nothing finite");
  const DType dtype = m.dtype(m.result(m.root()));
  if (dtype != DType::i8 && dtype != DType::u8) return m.refuse("not to 8-bit integers");
  if (!takes_factor(m, m.operand(m.root(), 0), kMostLevels)) return m.refuse("no constants before it take the factor in");
  return m.accept(*number);
}

/// `value` divided by `scale`.
ValueId divided(const Match& m, Rewriter& w, ValueId value, ValueId scale) {
  if (is_factor(m, value)) return w("Div", {value, scale});
  const NodeId node = m.producer(value);
  std::vector<ValueId> inputs = m.node(node).inputs;
  const bool dequantizes = m.node(node).is("DequantizeLinear"), adds = m.node(node).is("Add");
  const int only = dequantizes ? 1 : m.node(node).is("Relu") ? 0 : constant_side(m, node);
  for (int k = 0; k < static_cast<int>(inputs.size()); ++k)
    if (adds || k == only) inputs[static_cast<size_t>(k)] = divided(m, w, inputs[static_cast<size_t>(k)], scale);
  return w.clone_with_operands(node, inputs)[0];
}

bool move_scale(const Match& m, Rewriter& w) {
  const ValueId scale = w.scalar(DType::f32, m.state<double>());
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  inputs[0] = divided(m, w, inputs[0], scale);
  inputs[1] = w.scalar(DType::f32, 1);
  return replace_root(m, w, w.clone_with_operands(m.root(), inputs)[0]);
}

/// The least integer clamps all values that a Relu would clamp.
bool holds_zero(Match& m) {
  const ValueId scale = m.operand(m.root(), 1), zero = m.operand(m.root(), 2);
  const DType dtype = m.dtype(m.result(m.root()));
  if (!m.take(m.operand(m.root(), 0), "Relu") || (dtype != DType::u8 && dtype != DType::i8)) return false;
  const auto least = zero ? m.number(zero) : 0;
  if (least != (dtype == DType::u8 ? 0 : -128)) return m.refuse("integers below the zero point are left");
  const auto number = m.number(scale);
  return number && *number > 0 ? m.accept(m.operand(m.nodes[1], 0)) : m.refuse("the scale is not known to be above 0");
}

bool without_relu(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.root()).inputs;
  inputs[0] = m.state<ValueId>();
  return replace_root(m, w, w.clone_with_operands(m.root(), inputs)[0]);
}

}  // namespace

RULES(combine_quantize_scale) {
    .rules =
        {
            {.name = "quantize_scale",
             .docs = "what a QuantizeLinear divides by goes into the constant factors, summands and scales before it (which may "
                     "overflow where the numbers did not)",
             .roots = "QuantizeLinear",
             .match = scale_moves,
             .rewrite = move_scale,
             .numerics = Numerics::reassociating,
             .finite = true,
             .benefit = 3},
            {.name = "quantize_relu",
             .docs = "QuantizeLinear(Relu(x)) is QuantizeLinear(x) where 0 is the least integer",
             .roots = "QuantizeLinear",
             .match = holds_zero,
             .rewrite = without_relu,
             .benefit = 5,
             .allow_outside_uses = true},
        },
};

}  // namespace tenon::rules::combine_quantize_scale
