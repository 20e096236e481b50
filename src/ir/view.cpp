// SPDX-License-Identifier: Apache-2.0
// Makes the NodeView of a node, with types and known values of its operands.
#include "ir/graph.h"

namespace tenon::ir {

const Tensor* Graph::tensor_of(ValueId id, int64_t byte_limit) const {
  const Value& v = value(id);
  return v.kind == Value::Kind::constant && v.constant->byte_size() <= byte_limit ? v.constant->tensor() : nullptr;
}

NodeView Graph::view(const Op& op, std::span<const ValueId> inputs, const Attributes& attributes) const {
  NodeView view;
  view.op = &op;
  view.ops = ops_;
  view.attributes = &attributes;
  view.symbols = symbols_.get();
  view.inputs.resize(inputs.size());
  view.explicit_inputs = inputs.size();
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!inputs[k]) continue;
    const Value& v = value(inputs[k]);
    Operand& operand = view.inputs[k];
    operand.present = true;
    operand.type = v.type;
    operand.constant = tensor_of(inputs[k]);
    if (v.data) operand.data = &*v.data;
  }
  return view;
}

NodeView Graph::view(NodeId id) const {
  const Node& n = node(id);
  NodeView view = this->view(*n.op, {n.inputs.begin(), n.inputs.size()}, n.attributes);
  view.name = n.name;
  view.explicit_inputs = n.explicit_inputs;
  for (const Body& body : n.bodies) {
    view.bodies.push_back(body.graph.get());
    view.body_names.push_back(body.name);
    view.body_captures.push_back(body.captures);
  }
  for (ValueId output : n.outputs) {
    if (view.name.empty() && output) view.name = value(output).name;
    view.outputs.push_back(output ? value(output).type : Type());
  }
  view.output_data.resize(n.outputs.size());
  return view;
}

}  // namespace tenon::ir
