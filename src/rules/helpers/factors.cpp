// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/factors.h"

#include <cmath>
#include <ranges>

#include "rules/helpers/shapes.h"

namespace tenon::rules {

using ir::NodeId;
using ir::ValueId;
using rewrite::Look;

namespace {

/// The number that `node`, a Mul or Div, multiplies `data` by, where that has the type of the result.
std::optional<double> factor_of(const Look& look, NodeId node, ValueId& data) {
  const bool divides = look.node(node).is("Div");
  for (size_t k : {1, 0}) {
    const ValueId c = look.operand(node, k), other = look.operand(node, 1 - k);
    const auto number = (divides && k == 0) || !look.is_constant(c) ? std::nullopt : look.number(c);
    if (!number || !std::isfinite(*number) || (divides && *number == 0) || !look.same_type(other, look.result(node))) continue;
    data = other;
    return divides ? 1 / *number : *number;
  }
  return std::nullopt;
}

/// Elements stay what they are.
bool is_view(const ir::Node& node) { return is_reshape(node) || node.is("Transpose") || node.is("Expand"); }

}  // namespace

Scaled scaled_below(const Look& look, ValueId value) {
  Scaled found{value, 1, {}};
  for (int depth = 0; depth < 8; ++depth) {
    const NodeId node = look.producer(found.data);
    if (!node) break;
    if (look.node(node).is("Mul") || look.node(node).is("Div")) {
      found.factor = factor_of(look, node, found.data).value_or(1);
      break;
    }
    if (!is_view(look.node(node)) || look.use_count(found.data) != 1) break;
    found.views.push_back(node);
    found.data = look.operand(node, 0);
  }
  return found;
}

ValueId view_again(rewrite::Rewriter& w, const Look& look, std::span<const NodeId> views, ValueId data) {
  for (NodeId view : std::views::reverse(views)) {
    std::vector<ValueId> inputs = look.node(view).inputs;
    inputs[0] = data;
    data = w.again(view, inputs)[0];
  }
  return data;
}

}  // namespace tenon::rules
