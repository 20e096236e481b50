// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_set>

#include "import/export_writer.h"
#include "ops/core/op.h"
#include "ops/core/refuse.h"
#include "ops/core/schema.h"
#include "ops/versions/lowest_opset.h"
#include "ops/versions/make_explicit.h"
#include "ops/versions/onnx_schema.h"
#include "ops/versions/widen_types.h"

namespace tenon::import {
namespace {
/// Ops of these domains are written as they are, though they have definitions: ONNX has them, or their reader is ONNX Runtime.
bool is_spoken(std::string_view domain) {
  return domain == "com.microsoft" || domain == "ai.onnx.ml" || domain == "ai.onnx.preview.training";
}
}  // namespace

namespace {
/// The lowest opset that can express the node's operands and attributes, without regard to its element types.
int64_t lowest_opset_of_form(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const ops::OpDef& def = ops::def_of(*node.op);
  const ir::NodeView view = graph.view(id);
  int lowest = def.lowest_opset ? std::max(def.lowest_opset(view), def.first_opset) : def.first_opset;
  for (const ops::AttributeSpec& spec : ops::attribute_specs(def)) {
    const ir::Attribute* value = spec.since > lowest ? node.attributes.find(spec.name) : nullptr;
    if (value && !ops::is_default_value(spec, *value)) lowest = spec.since;
  }
  return lowest;
}
}  // namespace

int64_t lowest_opset(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  if (!node.op->domain.empty() || node.op->unknown) return 0;
  const std::optional<int> of_types = ops::lowest_opset_of_types(graph.view(id));
  const int64_t of_form = lowest_opset_of_form(graph, id);
  return of_types && of_form != ops::kNeverExported ? std::max<int64_t>(of_form, *of_types) : kNoOpset;
}

bool is_function_call(const ir::Graph& graph, ir::NodeId id, TargetOpset target) {
  const ir::Node& node = graph.node(id);
  if (!ops::def_of(*node.op).definition || is_spoken(node.op->domain)) return false;
  if (!node.op->domain.empty()) return true;
  const int64_t lowest = lowest_opset(graph, id);
  return lowest > target.version && lowest > target.raise_to;
}

std::string first_inexpressible_node(const ir::Graph& graph, TargetOpset target) {
  for (ir::NodeId id : graph.nodes()) {
    if (!is_function_call(graph, id, target) && lowest_opset(graph, id) > target.version) return graph.view(id).where();
    for (const ir::Body& body : graph.node(id).bodies)
      if (std::string inside = first_inexpressible_node(*body.graph, target); !inside.empty()) return inside;
  }
  return {};
}

namespace {

std::string operand_types(const ir::NodeView& view) {
  std::string out;
  for (size_t k = 0; k < view.explicit_inputs; ++k) out += (k ? ", " : "") + (view.has(k) ? view.type(k).text() : std::string("_"));
  return out;
}

Error no_opset(const ir::NodeView& view) {
  if (ops::lowest_opset_of_types(view))
    return ops::refuse(view, Code::not_supported, "no version of the op in ONNX says this case")
        .found(operand_types(view))
        .advice("keep the model in its own format");
  return ops::refuse(view, Code::not_supported, "no opset of ONNX has the op with these element types")
      .expected("types that the op's schema allows")
      .found(operand_types(view))
      .advice("cast the operands, or keep the model in its own format");
}

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

  /// The target has no such op any more, or a runtime's own op does not take the types, and plain ops say the same.
  bool needs_expansion(const ir::Graph& g, ir::NodeId id) const {
    const ir::Op& op = *g.node(id).op;
    if (op.unknown || !ops::def_of(op).definition) return false;
    if (!op.domain.empty()) return is_spoken(op.domain) && !ops::lowest_opset_of_types(g.view(id));
    const ops::OnnxSchema* const schema = ops::onnx_schema(op.domain, op.name, target.version);
    return schema && schema->deprecated && ops::def_of(op).since_version <= target.version;
  }

  /// Where the target lacks only the node's element types, rewrites the node with other types, if these give the same results. True where
  /// it did.
  Result<bool> changes_types(ir::Graph& g, ir::NodeId id) {
    if (lowest_opset_of_form(g, id) > target.version) return false;
    if (TRY(ops::widen_types(g, id, target.version))) return true;
    const ops::OpDef& def = ops::def_of(*g.node(id).op);
    if (!def.downgrade || target.version >= def.since_version || lowest_opset(g, id) == kNoOpset) return false;
    TRY(def.downgrade(g, id, static_cast<int>(target.version)));
    return !g.alive(id);
  }

  Result<void> node(ir::Graph& g, ir::NodeId id) {
    for (size_t k = 0; k < g.node(id).bodies.size(); ++k) TRY(graph(g.body(id, k)));
    if (needs_expansion(g, id)) return ops::expand(g, id);
    if (!g.node(id).op->domain.empty() || is_function_call(g, id, target)) return {};
    const int64_t lowest = lowest_opset(g, id);
    if (lowest > target.version && (target.fixed || lowest == kNoOpset) && TRY(changes_types(g, id))) return {};
    if (lowest == kNoOpset) return no_opset(g.view(id));
    needed = std::max(needed, lowest);
    const ops::OpDef& def = ops::def_of(*g.node(id).op);
    if (lowest > target.version) return {};
    if (target.version < def.since_version) TRY(downgrade(g, id, def));
    return g.alive(id) ? ops::make_explicit(g, id, static_cast<int>(target.version)) : Result<void>();
  }

  Result<void> downgrade(ir::Graph& g, ir::NodeId id, const ops::OpDef& def) {
    // Attributes newer than the opset that are still present have their default value.
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
