// SPDX-License-Identifier: Apache-2.0
#include "ops/versions/adapters.h"

#include <cmath>

#include "ops/core/replace_node.h"
#include "ops/definition/precision.h"
#include "ops/infer/axes.h"
#include "ops/versions/attributes.h"

namespace tenon::ops {

using ir::Graph;
using ir::NodeId;

Result<void> axes_downgrade(Graph& graph, NodeId node, int opset) {
  return opset < 13 ? operand_to_attribute(graph, node, 1, "axes") : Result<void>();
}

namespace {

/// May the operands have one shape?
bool may_be_equal(const ir::Type& a, const ir::Type& b) {
  if (!a.has_rank() || !b.has_rank()) return true;
  if (a.rank() != b.rank()) return false;
  for (int k = 0; k < a.rank(); ++k)
    if (a.dim(k).equals(b.dim(k)) == std::optional(false)) return false;
  return true;
}

}  // namespace

Result<void> broadcast_upgrade(Graph& graph, NodeId node, int opset) {
  if (opset >= 7) return {};
  const ir::NodeView view = graph.view(node);
  const bool broadcasts = view.attributes->integer("broadcast", 0) != 0, says_axis = view.attributes->has("axis");
  int64_t axis = view.attributes->integer("axis", 0);
  graph.erase_attribute(node, "broadcast");
  graph.erase_attribute(node, "axis");
  if (!broadcasts && !may_be_equal(view.type(0), view.type(1)))
    return refuse(view, Code::shape_mismatch, "before opset 7 shapes that differ need the attribute broadcast=1")
        .expected(view.type(0).text())
        .found(view.type(1).text());
  if (!broadcasts || !says_axis) return {};
  if (!view.type(0).has_rank() || !view.type(1).has_rank())
    return refuse(view, Code::not_supported, "not supported yet: axis below opset 7 with an operand of unknown rank");
  const int64_t rank = view.rank(1);
  if (axis < 0) axis += view.rank(0);
  if (axis < 0 || axis + rank > view.rank(0))
    return refuse(view, Code::shape_mismatch, "the second operand does not fit at axis " + std::to_string(axis))
        .expected("an operand that ends at or before the last axis of " + view.type(0).text())
        .found(view.type(1).text());
  ir::Ints trailing;
  for (int64_t k = rank; k < view.rank(0) - axis; ++k) trailing.push_back(k);
  if (trailing.empty()) return {};
  ir::Builder build(graph, node);
  const ir::ValueId b = build("Unsqueeze", {graph.node(node).inputs[1], build.ints(trailing)});
  TRY(build.status());
  graph.set_operand(node, 1, b);
  return {};
}

Result<void> recurrent_upgrade(Graph& graph, NodeId node, int opset) {
  if (opset < 7) graph.erase_attribute(node, "output_sequence");
  return {};
}

Result<void> set_hidden_size(Graph& graph, NodeId node, int /*opset*/) {
  const NodeView view = graph.view(node);
  if (view.attributes->has("hidden_size") || !view.type(2).has_rank()) return {};
  if (const auto size = view.type(2).dim(2).number()) graph.set_attribute(node, "hidden_size", *size);
  return {};
}

Result<void> integer_p_upgrade(Graph& graph, NodeId node, int opset) {
  const ir::NodeView view = graph.view(node);
  if (opset >= 2 || !view.attributes->has("p")) return {};
  const float p = view.attributes->number("p", 2);
  if (p != std::floor(p) || std::fabs(p) > 1e9f) return refuse(view, Code::not_supported, "not supported yet: a p that is no whole number");
  graph.set_attribute(node, "p", static_cast<int64_t>(p));
  return {};
}

Result<void> axes_to_operand(ir::Graph& graph, ir::NodeId node, int) { return attribute_to_operand(graph, node, "axes", 1); }

namespace {
/// Reduces a bool operand as i32 and casts the result back: ReduceMax and ReduceMin take bool from opset 20 on. The new node is
/// downgraded in its turn.
Result<void> reduce_as_integers(ir::Graph& graph, ir::NodeId node) {
  const ir::Attributes attributes = graph.node(node).attributes;
  return replace_node(graph, node, [&](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
    std::vector<ir::ValueId> operands(in.begin(), in.end());
    operands[0] = as_dtype(build, in[0], DType::boolean, DType::i32);
    return std::vector{as_dtype(build, build.many(*view.op, std::move(operands), 1, attributes)[0], DType::i32, DType::boolean)};
  });
}
}  // namespace

Result<void> axes_to_attribute(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset < 20 && graph.value(graph.node(node).inputs[0]).type.dtype == DType::boolean) return reduce_as_integers(graph, node);
  if (opset >= 18) return {};  // forms since then differ in dtypes alone
  graph.erase_attribute(node, "noop_with_empty_axes");
  return operand_to_attribute(graph, node, 1, "axes");
}

Result<void> downgrade_flattened_axis(ir::Graph& graph, ir::NodeId node, int) {
  const NodeView view = graph.view(node);
  const int axis = TRY(axis_attribute(view)), last = view.rank(0) - 1;
  if (axis == last) {
    graph.set_attribute(node, "axis", int64_t{last});
    return {};
  }
  return replace_node(graph, node, [&](ir::Builder& build, const NodeView&, std::span<const ir::ValueId> in) {
    Ints swap;
    for (int k = 0; k <= last; ++k) swap.push_back(k == axis ? last : k == last ? axis : k);
    ir::Attributes attributes;
    attributes.set("axis", int64_t{last});
    const ir::ValueId transposed = build("Transpose", {in[0]}, {{"perm", swap}});
    return std::vector{build("Transpose", build.many(*view.op, {transposed}, 1, std::move(attributes)), {{"perm", swap}})};
  });
}

Result<void> upgrade_flattened_axis(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 13) return {};
  const ir::NodeView view = graph.view(node);
  const int64_t axis = view.attributes->integer("axis", 1);
  if (!view.type(0).has_rank()) {
    if (axis == -1) return {};
    return refuse(view, Code::not_supported, "not supported yet: opset below 13 on an operand of unknown rank");
  }
  const int rank = view.rank(0), from = rank == 0 ? 0 : TRY(normalise_axis(view, axis, rank));
  graph.set_attribute(node, "axis", int64_t{-1});
  if (from == rank - 1) return {};
  const ir::ValueId x = graph.node(node).inputs[0], y = graph.node(node).outputs[0];
  ir::Builder before(graph, node);
  const ir::ValueId flat = before("Flatten", {x}, {{"axis", int64_t{from}}}), shape = before("Shape", {x});
  TRY(before.status());
  graph.set_operand(node, 0, flat);
  TRY(ir::infer(graph, node));
  ir::Builder after(graph, graph.next(node));
  const ir::ValueId back = after("Reshape", {y, shape}, {{"allowzero", int64_t{1}}});
  TRY(after.status());
  const std::string name = graph.value(y).name;
  if (!name.empty()) {
    graph.set_name(y, graph.unique_name(name));
    graph.set_name(back, name);
  }
  const std::vector<ir::Use> uses = graph.value(y).uses;
  for (const ir::Use& use : uses) {
    if (use.is_output()) graph.set_output(use.slot, back);
    else if (!(use.node == graph.value(back).producer)) graph.set_operand(use.node, use.slot, back);
  }
  return {};
}

}  // namespace tenon::ops
