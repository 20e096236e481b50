// SPDX-License-Identifier: Apache-2.0
// What a graph knows of a node's operands, for the node's op.
#include "ir/shape_data.h"
#include "ir/slots.h"

namespace tenon::ir {

const Tensor* Graph::tensor_of(ValueId id, int64_t byte_limit) const {
  Value& v = slot(id).value;
  if (v.kind != Value::Kind::constant || v.constant->byte_size() > byte_limit) return nullptr;
  if (!v.constant->is_plain()) {
    Result<Tensor> tensor = materialise(*v.constant);
    if (!tensor) return nullptr;
    v.constant = constant_of(*std::move(tensor));
  }
  return &std::get<Tensor>(v.constant->how);
}

NodeView Graph::view(NodeId id) const {
  const Node& n = node(id);
  NodeView view;
  view.op = n.op;
  view.attributes = &n.attributes;
  view.symbols = symbols_.get();
  view.name = n.name;
  view.inputs.resize(n.inputs.size());
  view.explicit_inputs = n.explicit_inputs;
  for (size_t k = 0; k < n.inputs.size(); ++k) {
    if (!n.inputs[k]) continue;
    Value& v = slot(n.inputs[k]).value;
    Operand& operand = view.inputs[k];
    operand.present = true;
    operand.type = v.type;
    operand.constant = tensor_of(n.inputs[k]);
    if (operand.constant && !v.data) v.data = shape_data_of(*operand.constant);
    if (v.data) operand.data = &*v.data;
  }
  for (const Body& body : n.bodies) {
    view.bodies.push_back(body.graph.get());
    view.body_names.push_back(body.name);
  }
  for (ValueId output : n.outputs) {
    if (view.name.empty() && output) view.name = value(output).name;
    view.outputs.push_back(output ? value(output).type : Type());
  }
  view.output_data.resize(n.outputs.size());
  return view;
}

}  // namespace tenon::ir
