// SPDX-License-Identifier: Apache-2.0
// Ops that only move or select elements, between a DequantizeLinear and a QuantizeLinear with equal scale and zero point, work on the
// integers instead: for a byte q, (q - z) * s divided by s and rounded is q - z again, and with s > 0 the order of elements is that of the
// integers.
#include <algorithm>
#include <array>

#include "rewrite/match.h"
#include "rewrite/rewriter.h"
#include "rewrite/rule.h"
#include "rules/helpers/dequantized.h"
#include "rules/helpers/replace_root.h"

namespace tenon::rules::clean_move_quantized {
using namespace rewrite;
namespace {

/// Between these, a byte times the scale neither overflows nor loses digits.
constexpr double kLeastScale = 1e-30, kLargestScale = 1e30;
constexpr std::array kMoves = {"MaxPool", "Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Expand", "Identity"};

bool same_number(const Match& m, ValueId a, ValueId b) {
  if (a == b) return true;
  const auto x = a ? m.number(a) : 0, y = b ? m.number(b) : 0;
  return x && y && *x == *y;
}

bool between_equal_numbers(Match& m) {
  const NodeId move = m.producer(m.operand(m.root(), 0));
  if (!move || std::ranges::none_of(kMoves, [&](const char* name) { return m.node(move).is(name); }))
    return m.refuse("something else than a move is before it");
  const auto from = dequantized_per_tensor(m, m.operand(move, 0));
  const ValueId scale = m.operand(m.root(), 1);
  const auto number = m.number(scale);
  if (!from || !number || !(*number >= kLeastScale) || *number > kLargestScale)
    return m.refuse("no bytes, or no constant scale above 0 that keeps them");
  if (m.dtype(from->data) != m.dtype(m.result(m.root())) || !same_number(m, scale, from->scale) ||
      !same_number(m, m.operand(m.root(), 2), from->zero))
    return m.refuse("other scales or zero points before and after");
  const auto& results = m.node(move).outputs;
  if (std::ranges::any_of(results.begin() + 1, results.end(), [](ValueId v) { return bool(v); }))
    return m.refuse("the indices of the elements are read too");
  m.take(move);
  return m.accept(from->data);
}

bool move_bytes(const Match& m, Rewriter& w) {
  std::vector<ValueId> inputs = m.node(m.nodes[1]).inputs;
  inputs[0] = m.state<ValueId>();
  return replace_root(m, w, w.clone_with_operands(m.nodes[1], inputs)[0]);
}

}  // namespace

RULES(clean_move_quantized) {
    .rules =
        {
            {.name = "move_quantized",
             .docs = "what moves or picks elements does so with bytes where the same scale and zero point come before and after it",
             .roots = "QuantizeLinear",
             .match = between_equal_numbers,
             .rewrite = move_bytes,
             .benefit = 5},
        },
};

}  // namespace tenon::rules::clean_move_quantized
