// SPDX-License-Identifier: Apache-2.0
#include "ir/builder.h"

namespace tenon::ir {

static const Op* find_op(const OpTable& ops, std::string_view name) {
  size_t at = name.rfind("::");
  return at == name.npos ? ops.find("", name) : ops.find(name.substr(0, at), name.substr(at + 2));
}

ValueId Builder::operator()(std::string_view op, std::vector<ValueId> inputs, std::vector<std::pair<std::string, Attribute>> attributes) {
  return many(op, std::move(inputs), 1, std::move(attributes))[0];
}

std::vector<ValueId> Builder::many(std::string_view op, std::vector<ValueId> inputs, size_t outputs,
                                   std::vector<std::pair<std::string, Attribute>> attributes) {
  const NodeId node = insert(op, std::move(inputs), outputs, std::move(attributes));
  return node ? results_of(node) : std::vector<ValueId>(std::max<size_t>(outputs, 1));
}

std::vector<ValueId> Builder::many(const Op& op, std::vector<ValueId> inputs, size_t outputs, Attributes attributes) {
  const NodeId node = insert(op, std::move(inputs), outputs, std::move(attributes));
  return node ? results_of(node) : std::vector<ValueId>(std::max<size_t>(outputs, 1));
}

std::vector<ValueId> Builder::with_body(std::string_view op, std::vector<ValueId> inputs, size_t outputs, std::unique_ptr<Graph> body,
                                        std::span<const ValueId> captures, std::vector<std::pair<std::string, Attribute>> attributes) {
  const NodeId node = insert(op, std::move(inputs), outputs, std::move(attributes));
  if (!node) return std::vector<ValueId>(std::max<size_t>(outputs, 1));
  graph_.attach_body(node, "body", std::move(body), captures);
  return results_of(node);
}

NodeId Builder::insert(std::string_view op_name, std::vector<ValueId> inputs, size_t outputs,
                       std::vector<std::pair<std::string, Attribute>> attributes) {
  if (!status_) return {};
  const Op* op = find_op(graph_.ops(), op_name);
  if (!op) {
    status_ = fail(Code::not_supported, std::string(op_name), "no op of this name").advice("check the name and the domain (domain::Name)");
    return {};
  }
  Attributes set;
  for (auto& [key, value] : attributes) set.set(std::move(key), std::move(value));
  return insert(*op, std::move(inputs), outputs, std::move(set));
}

NodeId Builder::insert(const Op& op, std::vector<ValueId> inputs, size_t outputs, Attributes attributes) {
  if (!status_) return {};
  for (ValueId input : inputs) {
    if (!input || (graph_.alive(input) && graph_.is_defined_before(input, before_))) continue;
    status_ = fail(Code::bad_graph, op.name, "an operand comes after the place where the node is inserted, or is gone");
    return {};
  }
  NodeId node = graph_.insert(op, std::move(inputs), outputs, std::move(attributes), before_);
  if (provenance_) graph_.set_provenance(node, provenance_);
  return node;
}

std::vector<ValueId> Builder::results_of(NodeId node) {
  const size_t outputs = graph_.node(node).outputs.size();
  if (Result<void> inferred = infer(graph_, node); !inferred) {
    status_ = std::unexpected(std::move(inferred).error());
    graph_.erase(node);
    return std::vector<ValueId>(std::max<size_t>(outputs, 1));
  }
  std::vector<ValueId> results = graph_.node(node).outputs;
  if (results.empty()) results.resize(1);  // operator() hands the first one on
  return results;
}

ValueId Builder::constant(Tensor tensor) { return constant(constant_of(std::move(tensor))); }

ValueId Builder::constant(ConstantRef constant) {
  if (!status_) return {};
  if (constant->unread() && !std::holds_alternative<Constant::Reference>(constant->source)) {
    status_ = fail(Code::not_supported, "constant " + type_text(constant->dtype, constant->shape),
                   "it would be computed from bytes that were not read");
    return {};
  }
  return graph_.add_constant(std::move(constant));
}

ValueId Builder::ints(std::vector<int64_t> values) { return constant(Tensor::of_i64({static_cast<int64_t>(values.size())}, values)); }

/// For strings the value is ignored: the scalar is the empty string.
ValueId Builder::scalar(DType dtype, double value) {
  return constant(dtype == DType::string ? Tensor::of_strings({}, {""}) : Tensor::scalar(dtype, value));
}

}  // namespace tenon::ir
