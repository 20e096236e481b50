// SPDX-License-Identifier: Apache-2.0
#include "rules/helpers/scaled_view.h"

#include <cmath>
#include <ranges>

#include "rules/helpers/shapes.h"

namespace tenon::rules {

using ir::NodeId;
using ir::ValueId;
using rewrite::GraphQuery;

namespace {

/// The number that `node`, a Mul or Div, multiplies `data` by, where that has the type of the result.
std::optional<double> factor_of(const GraphQuery& query, NodeId node, ValueId& data) {
  const bool divides = query.node(node).is("Div");
  for (size_t k : {1, 0}) {
    const ValueId c = query.operand(node, k), other = query.operand(node, 1 - k);
    const auto number = (divides && k == 0) || !query.is_constant(c) ? std::nullopt : query.number(c);
    if (!number || !std::isfinite(*number) || (divides && *number == 0) || !query.same_type(other, query.result(node))) continue;
    data = other;
    return divides ? 1 / *number : *number;
  }
  return std::nullopt;
}

/// Elements stay what they are.
bool is_view(const ir::Node& node) { return is_reshape(node) || node.is("Transpose") || node.is("Expand"); }

}  // namespace

ScaledView scaled_view_of(const GraphQuery& query, ValueId value) {
  ScaledView found{value, 1, {}};
  for (int depth = 0; depth < 8; ++depth) {
    const NodeId node = query.producer(found.data);
    if (!node) break;
    if (query.node(node).is("Mul") || query.node(node).is("Div")) {
      found.factor = factor_of(query, node, found.data).value_or(1);
      break;
    }
    if (!is_view(query.node(node)) || query.use_count(found.data) != 1) break;
    found.views.push_back(node);
    found.data = query.operand(node, 0);
  }
  return found;
}

ValueId clone_views(rewrite::Rewriter& w, const GraphQuery& query, std::span<const NodeId> views, ValueId data) {
  for (NodeId view : std::views::reverse(views)) {
    std::vector<ValueId> inputs = query.node(view).inputs;
    inputs[0] = data;
    data = w.clone_with_operands(view, inputs)[0];
  }
  return data;
}

}  // namespace tenon::rules
