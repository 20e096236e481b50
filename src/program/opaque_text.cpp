// SPDX-License-Identifier: Apache-2.0
#include "program/opaque_text.h"

#include "ir/text.h"

namespace tenon::program {

Result<OpaqueText> opaque_text(const ir::Graph& graph, ir::NodeId id) {
  constexpr int64_t kInline = 64;
  const ir::Node& node = graph.node(id);
  OpaqueText out;
  ir::Graph single(graph.ops());
  // Symbols belong to one graph: the sizes are known only when the op runs, so the text leaves them open.
  auto open = [&](const ir::Type& t) {
    ir::Type copy = t;
    if (copy.shape)
      for (Dim& d : *copy.shape)
        if (!d.is_number()) d = single.symbols().fresh();
    return copy;
  };
  std::vector<ir::ValueId> operands;
  for (size_t k = 0; k < node.inputs.size(); ++k) {
    if (!node.inputs[k]) {
      operands.emplace_back();
      continue;
    }
    const ir::Value& v = graph.value(node.inputs[k]);
    if (v.constant && v.constant->count() <= kInline) {
      operands.push_back(single.add_constant(v.constant, "c" + std::to_string(k)));
      continue;
    }
    operands.push_back(single.add_input("x" + std::to_string(k), open(v.type)));
    out.operands.push_back(k);
  }
  const std::vector<ir::ValueId> direct(operands.begin(), operands.begin() + node.explicit_inputs);
  const ir::NodeId made = single.insert(*node.op, direct, node.outputs.size(), node.attributes);
  for (const ir::Body& b : node.bodies) {
    const std::vector<ir::ValueId> captures(operands.begin() + b.first_capture, operands.begin() + b.first_capture + b.captures);
    single.attach_body(made, b.name, b.graph->clone_body(single), captures);
  }
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    single.set_name(single.node(made).outputs[k], "y" + std::to_string(k));
    if (node.outputs[k]) single.set_type(single.node(made).outputs[k], open(graph.value(node.outputs[k]).type));
    single.add_output(single.node(made).outputs[k]);
  }
  out.text = ir::print(single);
  return out;
}

}  // namespace tenon::program
