// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_set>

#include "import/export_writer.h"
#include "ops/core/op.h"
#include "ops/core/schema.h"

namespace tenon::import {
namespace {
/// Ops of these domains are written as they are, though they have definitions: ONNX says them, or who asks for them has ONNX Runtime.
bool is_spoken(std::string_view domain) {
  return domain == "com.microsoft" || domain == "ai.onnx.ml" || domain == "ai.onnx.preview.training";
}
}  // namespace

int64_t lowest_opset(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (!node.op->domain.empty() || node.op->unknown) return 0;
  const ops::OpDef& def = ops::def_of(*node.op);
  int lowest = def.lowest_opset ? std::max(def.lowest_opset(graph.view(id)), def.first) : def.first;
  for (const ops::AttributeSpec& spec : ops::attribute_specs(def)) {
    const ir::Attribute* value = spec.since > lowest ? node.attributes.find(spec.name) : nullptr;
    if (value && !ops::says_default(spec, *value)) lowest = spec.since;
  }
  return lowest;
}

bool is_called(const ir::Graph& graph, ir::NodeId id, TargetOpset target) {
  const ir::Node& node = graph.node(id);
  if (!ops::def_of(*node.op).definition || is_spoken(node.op->domain)) return false;
  if (!node.op->domain.empty()) return true;
  const int64_t lowest = lowest_opset(graph, id);
  return lowest > target.version && lowest > target.raise_to;
}

std::string node_beyond(const ir::Graph& graph, TargetOpset target) {
  for (ir::NodeId id : graph.nodes()) {
    if (!is_called(graph, id, target) && lowest_opset(graph, id) > target.version) return graph.view(id).where();
    for (const ir::Body& body : graph.node(id).bodies)
      if (std::string inside = node_beyond(*body.graph, target); !inside.empty()) return inside;
  }
  return {};
}

namespace {

struct Lowering {
  TargetOpset target;
  int64_t needed = 0;

  Result<void> graph(ir::Graph& g) {
    std::unordered_set<ir::NodeId> done;
    for (ir::NodeId id = g.first(); id;) {
      if (!done.insert(id).second) {
        id = g.next(id);
        continue;
      }
      // Nodes that the op puts before itself are newest ones too: they are visited next.
      const ir::NodeId before = g.previous(id);
      TRY(node(g, id));
      id = before ? g.next(before) : g.first();
    }
    return {};
  }

  Result<void> node(ir::Graph& g, ir::NodeId id) {
    for (size_t k = 0; k < g.node(id).bodies.size(); ++k) TRY(graph(g.body(id, k)));
    if (!g.node(id).op->domain.empty() || is_called(g, id, target)) return {};
    const int64_t lowest = lowest_opset(g, id);
    needed = std::max(needed, lowest);
    const ops::OpDef& def = ops::def_of(*g.node(id).op);
    if (lowest > target.version || target.version >= def.since) return {};
    // What stays of the attributes that are newer than the opset says the default.
    for (const ops::AttributeSpec& spec : ops::attribute_specs(def))
      if (spec.since > target.version) g.erase_attribute(id, spec.name);
    return def.downgrade ? def.downgrade(g, id, static_cast<int>(target.version)) : Result<void>();
  }
};

}  // namespace

Result<int64_t> lower_to_opset(ir::Graph& graph, TargetOpset target) {
  Lowering lowering{target};
  TRY(lowering.graph(graph));
  return lowering.needed;
}

}  // namespace tenon::import
