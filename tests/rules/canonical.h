// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>

#include "ir/graph.h"

namespace tenon::tests {

/// A graph as text that depends on what its outputs compute and on nothing else: not on names inside, not on node order.
class Canonical {
 public:
  explicit Canonical(const ir::Graph& graph) : graph_(graph) {}
  std::string text() {
    for (ir::ValueId out : graph_.outputs()) lines_ += "return " + name(out) + "\n";
    return lines_;
  }

 private:
  std::string name(ir::ValueId id) {
    if (!id) return "_";
    const ir::Value& value = graph_.value(id);
    if (value.kind == ir::Value::Kind::input) return value.name;
    if (value.is_constant()) return constant(id);
    const auto it = numbers_.find(value.producer);
    return "%" + std::to_string(it != numbers_.end() ? it->second : node(value.producer)) + "." + std::to_string(value.index);
  }
  std::string constant(ir::ValueId id) {
    const Tensor* t = graph_.tensor_of(id, 1 << 20);
    std::string out = graph_.value(id).type.text() + "{";
    for (int64_t i = 0; t && i < t->count(); ++i)
      out += (i ? "," : "") + std::to_string(is_integer(t->dtype()) ? static_cast<double>(t->integer(i)) : t->number(i));
    return out + "}";
  }
  int node(ir::NodeId id) {
    const ir::Node& n = graph_.node(id);
    std::string line = n.op->domain + (n.op->domain.empty() ? "" : "::") + n.op->name + "(";
    for (ir::ValueId input : n.inputs) line += name(input) + " ";
    for (const auto& [key, value] : n.attributes) line += key + "=" + ir::text_of(value) + " ";
    line += ") :";
    for (ir::ValueId out : n.outputs) line += " " + (out ? graph_.value(out).type.text() : "_");
    const int number = static_cast<int>(numbers_.size());
    numbers_[id] = number;
    for (const ir::Body& body : n.bodies) line += "\n{" + Canonical(*body.graph).text() + "}";
    lines_ += "%" + std::to_string(number) + " = " + line + "\n";
    return number;
  }

  const ir::Graph& graph_;
  std::map<ir::NodeId, int> numbers_;
  std::string lines_;
};

}  // namespace tenon::tests
