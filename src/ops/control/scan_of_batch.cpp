// SPDX-License-Identifier: Apache-2.0
#include "ops/control/scan_of_batch.h"

#include "ops/core/op.h"
#include "ops/definition/body_builder.h"

namespace tenon::ops {

namespace {

/// Does the upgrade of the node leave it as it is?
bool is_newest(ir::Graph& body, ir::NodeId n, int opset) {
  const OpDef& def = def_of(*body.node(n).op);
  if (!def.upgrade || def.since <= opset) return true;
  const ir::Attributes attributes = body.node(n).attributes;
  const std::vector<ir::ValueId> inputs = body.node(n).inputs;
  const size_t nodes = body.node_count();
  return def.upgrade(body, n, opset) && body.node_count() == nodes && body.alive(n) && body.node(n).attributes == attributes &&
         body.node(n).inputs == inputs;
}

/// Is every op of the body, a copy, what it was in `opset`?
bool speaks(ir::Graph& body, int opset) {
  for (ir::NodeId n : body.nodes()) {
    if (!is_newest(body, n, opset)) return false;
    for (size_t k = 0; k < body.node(n).bodies.size(); ++k)
      if (!speaks(body.body(n, k), opset)) return false;
  }
  return true;
}

}  // namespace

Result<void> upgrade_scan(ir::Graph& graph, ir::NodeId node, int opset) {
  if (opset >= 9) return {};
  const ir::Node& old = graph.node(node);
  if (old.bodies.size() != 1 || old.inputs.empty() || old.inputs[0])
    return fail(Code::not_supported, old.name, "Scan: not supported yet: sequence_lens of opset 8");
  if (!speaks(*old.bodies[0].graph->clone_body(graph), opset))
    return fail(Code::not_supported, old.name, "Scan: not supported yet: a body of opset 8 with ops that have changed since");
  const std::vector<ir::ValueId> operands(old.inputs.begin() + 1, old.inputs.begin() + old.explicit_inputs);
  const int64_t sequences = old.attributes.integer("num_scan_inputs", 0);
  const size_t results = old.outputs.size();
  ir::Builder build(graph, node);
  BodyBuilder body(build);
  std::vector<ir::ValueId> entry;
  for (ir::ValueId v : operands) {
    Type type = graph.value(v).type;
    if (type.has_rank() && type.rank() > 0) type.shape->erase(type.shape->begin());
    entry.push_back(body.input("x" + std::to_string(entry.size()), std::move(type)));
  }
  std::vector<ir::ValueId> captures;
  for (size_t k = old.explicit_inputs; k < old.inputs.size(); ++k) captures.push_back(body.capture(old.inputs[k]));
  const std::vector<ir::ValueId> made =
      body.build.with_body("Scan", entry, results, old.bodies[0].graph->clone_body(*body.graph), captures,
                           {{"num_scan_inputs", sequences},
                            {"scan_input_directions", old.attributes.ints("directions", Ints(static_cast<size_t>(sequences), 0))}});
  TRY(body.build.status());
  for (ir::ValueId v : made) body.graph->add_output(v);
  const std::vector<ir::ValueId> all = build.with_body("Scan", operands, results, std::move(body.graph), body.captured,
                                                       {{"num_scan_inputs", static_cast<int64_t>(operands.size())}});
  TRY(build.status());
  for (size_t k = 0; k < results; ++k)
    if (const ir::ValueId before = graph.node(node).outputs[k]; before) TENON_ASSERT(graph.replace_all_uses(before, all[k]));
  graph.erase(node);
  return {};
}

}  // namespace tenon::ops
