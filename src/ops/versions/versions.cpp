// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "ops/versions/versions.h"

namespace tenon::ops {

using ir::Attribute;
using ir::Graph;
using ir::NodeId;

void put_operand(Graph& graph, NodeId node, uint32_t slot, ir::ValueId value) {
  while (graph.node(node).inputs.size() < slot) graph.set_operand(node, static_cast<uint32_t>(graph.node(node).inputs.size()), {});
  graph.set_operand(node, slot, value);
}

Result<void> attribute_to_operand(Graph& graph, NodeId node, std::string_view name, uint32_t slot, DType dtype) {
  const Attribute* a = graph.node(node).attributes.find(name);
  if (!a) return {};
  Tensor tensor;
  if (const auto* i = std::get_if<int64_t>(a)) {
    tensor = TRY(Tensor::make(dtype, {}));
    tensor.set_integer(0, *i);
  } else if (const auto* f = std::get_if<float>(a)) {
    tensor = Tensor::scalar(dtype, *f);
  } else if (const auto* many = std::get_if<ir::Ints>(a)) {
    tensor = TRY(Tensor::make(dtype, {static_cast<int64_t>(many->size())}));
    store_integers(tensor, *many);
  } else if (const auto* floats = std::get_if<ir::Floats>(a)) {
    tensor = TRY(Tensor::make(dtype, {static_cast<int64_t>(floats->size())}));
    store_numbers(tensor, std::vector<double>(floats->begin(), floats->end()));
  } else if (const auto* t = std::get_if<Tensor>(a)) {
    tensor = *t;
  } else {
    return fail(Code::bad_attribute, graph.node(node).name, "attribute '" + std::string(name) + "' has a wrong kind");
  }
  put_operand(graph, node, slot, graph.add_constant(ir::constant_of(std::move(tensor))));
  graph.erase_attribute(node, name);
  return {};
}

Result<void> operand_to_attribute(Graph& graph, NodeId node, uint32_t slot, std::string_view name, bool scalar) {
  const ir::Node& n = graph.node(node);
  if (slot >= n.inputs.size() || !n.inputs[slot]) return {};
  const Tensor* tensor = graph.tensor_of(n.inputs[slot]);
  if (!tensor) {
    return fail(Code::not_supported, n.name,
                n.op->name + ": older opsets want '" + std::string(name) + "' as an attribute, and it is no constant");
  }
  ir::Ints values = integers_of(*tensor);
  if (scalar && values.size() != 1) return fail(Code::bad_graph, n.name, n.op->name + ": '" + std::string(name) + "' is no single number");
  graph.set_attribute(node, std::string(name), scalar ? Attribute(values[0]) : Attribute(std::move(values)));
  graph.set_operand(node, slot, {});
  return {};
}

Result<void> through_f32(ir::Graph& graph, ir::NodeId node, int) {
  const DType dtype = graph.value(graph.node(node).inputs[0]).type.dtype, wide = definition_dtype(dtype);
  if (dtype == wide) return {};
  const ir::Attributes attributes = graph.node(node).attributes;
  return write_as(graph, node, [&](ir::Builder& build, const NodeView& view, std::span<const ir::ValueId> in) {
    std::vector<ir::ValueId> operands(in.begin(), in.end());
    operands[0] = as_dtype(build, in[0], dtype, wide);
    const ir::ValueId y = build.many(*view.op, std::move(operands), 1, attributes)[0];
    return std::vector{is_float(view.outputs[0].dtype) ? as_dtype(build, y, wide, dtype) : y};
  });
}

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
  ir::Ints behind;
  for (int64_t k = rank; k < view.rank(0) - axis; ++k) behind.push_back(k);
  if (behind.empty()) return {};
  ir::Builder build(graph, node);
  const ir::ValueId b = build("Unsqueeze", {graph.node(node).inputs[1], build.ints(behind)});
  TRY(build.status());
  graph.set_operand(node, 1, b);
  return {};
}

Result<void> recurrent_upgrade(Graph& graph, NodeId node, int opset) {
  if (opset < 7) graph.erase_attribute(node, "output_sequence");
  return {};
}

Result<void> whole_p_upgrade(Graph& graph, NodeId node, int opset) {
  const ir::NodeView view = graph.view(node);
  if (opset >= 2 || !view.attributes->has("p")) return {};
  const float p = view.attributes->number("p", 2);
  if (p != std::floor(p) || std::fabs(p) > 1e9f) return refuse(view, Code::not_supported, "not supported yet: a p that is no whole number");
  graph.set_attribute(node, "p", static_cast<int64_t>(p));
  return {};
}

void rename_attribute(Graph& graph, NodeId node, std::string_view from, std::string_view to) {
  const Attribute* a = graph.node(node).attributes.find(from);
  if (!a) return;
  graph.set_attribute(node, std::string(to), Attribute(*a));
  graph.erase_attribute(node, from);
}

void default_attribute(Graph& graph, NodeId node, std::string_view name, Attribute value) {
  if (!graph.node(node).attributes.has(name)) graph.set_attribute(node, std::string(name), std::move(value));
}

}  // namespace tenon::ops
