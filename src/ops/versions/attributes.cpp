// SPDX-License-Identifier: Apache-2.0
#include "ops/versions/attributes.h"

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

namespace {
Result<const Tensor*> constant_operand(const Graph& graph, NodeId node, uint32_t slot, std::string_view name) {
  const ir::Node& n = graph.node(node);
  if (const Tensor* tensor = graph.tensor_of(n.inputs[slot])) return tensor;
  return fail(Code::not_supported, n.name,
              n.op->name + ": older opsets need '" + std::string(name) + "' as an attribute, and it is no constant");
}
}  // namespace

Result<void> numbers_to_attribute(Graph& graph, NodeId node, uint32_t slot, std::string_view name) {
  const ir::Node& n = graph.node(node);
  if (slot >= n.inputs.size() || !n.inputs[slot]) return {};
  const Tensor* tensor = TRY(constant_operand(graph, node, slot, name));
  ir::Floats values;
  for (int64_t k = 0; k < tensor->count(); ++k) values.push_back(static_cast<float>(tensor->number(k)));
  graph.set_attribute(node, std::string(name), Attribute(std::move(values)));
  graph.set_operand(node, slot, {});
  return {};
}

Result<void> operand_to_attribute(Graph& graph, NodeId node, uint32_t slot, std::string_view name, bool scalar) {
  const ir::Node& n = graph.node(node);
  if (slot >= n.inputs.size() || !n.inputs[slot]) return {};
  const Tensor* tensor = TRY(constant_operand(graph, node, slot, name));
  ir::Ints values = integers_of(*tensor);
  if (scalar && values.size() != 1) return fail(Code::bad_graph, n.name, n.op->name + ": '" + std::string(name) + "' is no single number");
  graph.set_attribute(node, std::string(name), scalar ? Attribute(values[0]) : Attribute(std::move(values)));
  graph.set_operand(node, slot, {});
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
