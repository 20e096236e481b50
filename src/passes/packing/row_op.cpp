// SPDX-License-Identifier: Apache-2.0
#include "passes/packing/row_op.h"

#include <algorithm>

#include "rules/helpers/elementwise.h"
#include "rules/helpers/shapes.h"

namespace tenon::passes {
namespace {

using ir::Graph;
using ir::Ints;
using ir::Node;
using ir::NodeId;
using ir::Type;
using ir::ValueId;
using Parts = std::optional<std::vector<Part>>;

constexpr int kRowAxes = 2;  ///< the axes of sequences and of positions; a row has the others

const Type& type_of(const Graph& graph, ValueId v) { return graph.value(v).type; }

/// The part of an operand that is broadcast to `rank` axes on which a row of the result depends.
std::optional<Part> part_of(const Type& type, int rank, const Padded& padded) {
  if (!type.is_tensor() || !type.has_rank() || type.rank() > rank) return std::nullopt;
  if (type.rank() == rank && padded.has_rows(type)) return Part::row;
  const int sequence_axis = type.rank() - rank, position_axis = sequence_axis + 1;
  const bool by_sequence = sequence_axis >= 0 && !type.dim(sequence_axis).known_equal(1),
             by_position = position_axis >= 0 && !type.dim(position_axis).known_equal(1);
  if (by_sequence && by_position) return std::nullopt;
  if (by_sequence) return type.dim(sequence_axis).known_equal(padded.sequences) ? std::optional(Part::sequence) : std::nullopt;
  return by_position ? Part::position : Part::whole;
}

/// The parts of the operands of an element-wise node.
Parts parts_of_elementwise(const Graph& graph, const Node& node, const Padded& padded) {
  const int rank = type_of(graph, node.outputs[0]).rank();
  std::vector<Part> parts;
  for (ValueId v : node.inputs) {
    const auto part = v ? part_of(type_of(graph, v), rank, padded) : Part::whole;
    if (!part) return std::nullopt;
    parts.push_back(*part);
  }
  return parts;
}

/// The parts of a node whose operand `rows` is read row by row, and the others whole.
Parts row_of_operand(const Node& node, size_t rows) {
  std::vector<Part> parts(node.inputs.size(), Part::whole);
  parts[rows] = Part::row;
  return parts;
}

int axis_of(const Graph& graph, const Node& node, int64_t default_axis) {
  const int64_t axis = node.attributes.integer("axis", default_axis);
  return static_cast<int>(axis < 0 ? axis + type_of(graph, node.inputs[0]).rank() : axis);
}

Parts parts_of_norm(const Graph& graph, const Node& node) {
  const int axis = axis_of(graph, node, -1), normalised = type_of(graph, node.inputs[0]).rank() - axis;
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] && (!type_of(graph, node.inputs[i]).has_rank() || type_of(graph, node.inputs[i]).rank() > normalised))
      return std::nullopt;
  return axis >= kRowAxes ? row_of_operand(node, 0) : std::nullopt;
}

Parts parts_of_transpose(const Node& node) {
  const Ints order = node.attributes.ints("perm");
  return order.size() > kRowAxes && order[0] == 0 && order[1] == 1 ? row_of_operand(node, 0) : std::nullopt;
}

Parts parts_by_op(const Graph& graph, const Node& node, const Padded& padded) {
  const auto rank = [&](size_t k) { return type_of(graph, node.inputs[k]).has_rank() ? type_of(graph, node.inputs[k]).rank() : -1; };
  if (node.is("MatMul")) return rank(0) > kRowAxes && rank(1) == 2 ? row_of_operand(node, 0) : std::nullopt;
  if (node.is("Gather")) return axis_of(graph, node, 0) == 0 && rank(1) >= kRowAxes ? row_of_operand(node, 1) : std::nullopt;
  if (node.is("LayerNormalization") || node.is("RMSNormalization")) return parts_of_norm(graph, node);
  if (node.is("Softmax")) return axis_of(graph, node, -1) >= kRowAxes ? row_of_operand(node, 0) : std::nullopt;
  if (node.is("Split")) return axis_of(graph, node, 0) >= kRowAxes ? row_of_operand(node, 0) : std::nullopt;
  if (node.is("Transpose")) return parts_of_transpose(node);
  if (rules::is_reshape(node)) return row_of_operand(node, 0);
  if (rules::is_elementwise(node)) return parts_of_elementwise(graph, node, padded);
  return std::nullopt;
}

/// The sizes of one row.
Ints row_sizes(const Type& type) {
  Ints sizes;
  for (int a = kRowAxes; a < type.rank(); ++a) sizes.push_back(type.dim(a).value());
  return sizes;
}

}  // namespace

bool Padded::has_rows(const Type& type) const {
  if (!type.is_tensor() || !type.has_rank() || type.rank() < kRowAxes) return false;
  for (int a = kRowAxes; a < type.rank(); ++a)
    if (!type.dim(a).is_number()) return false;
  return type.dim(0).known_equal(sequences) && type.dim(1).known_equal(length);
}

Parts operand_parts(const Graph& graph, NodeId id, const Padded& padded) {
  const Node& node = graph.node(id);
  if (!node.bodies.empty() || !node.op->deterministic || node.op->has_effects || node.placement()) return std::nullopt;
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const ValueId out = node.outputs[k];
    const bool is_read = out && (!graph.value(out).uses.empty() || k == 0);
    if (is_read && !padded.has_rows(type_of(graph, out))) return std::nullopt;
    if (is_read && k > 0 && !node.is("Split")) return std::nullopt;
  }
  const auto parts = parts_by_op(graph, node, padded);
  if (!parts || std::ranges::find(*parts, Part::row) == parts->end()) return std::nullopt;
  for (size_t k = 0; k < parts->size(); ++k)
    if ((*parts)[k] == Part::row && !padded.has_rows(type_of(graph, node.inputs[k]))) return std::nullopt;
  return parts;
}

std::vector<ValueId> on_packed_rows(ir::Builder& build, NodeId id, std::vector<ValueId> operands) {
  const Graph& graph = build.graph();
  const Node& node = graph.node(id);
  if (rules::is_reshape(node)) {
    Ints target = row_sizes(type_of(graph, node.outputs[0]));
    target.insert(target.begin(), 0);
    return {build("Reshape", {operands[0], build.ints(std::move(target))})};
  }
  ir::Attributes attributes = node.attributes;
  if (node.is("Transpose")) {
    Ints order;
    for (int64_t a : node.attributes.ints("perm"))
      if (a > 0) order.push_back(a - 1);
    attributes.set("perm", std::move(order));
  } else if (const int64_t axis = attributes.integer("axis", -1); axis >= kRowAxes) {
    attributes.set("axis", axis - 1);
  }
  size_t outputs = node.outputs.size();
  while (outputs > 1 && (!node.outputs[outputs - 1] || graph.value(node.outputs[outputs - 1]).uses.empty()) && !node.is("Split")) --outputs;
  return build.many(*node.op, std::move(operands), outputs, std::move(attributes));
}

}  // namespace tenon::passes
