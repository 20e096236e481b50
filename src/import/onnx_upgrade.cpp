// SPDX-License-Identifier: Apache-2.0
#include "import/onnx_upgrade.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "ops/core/op.h"
#include "ops/core/unknown.h"

namespace tenon::import {

Result<void> GraphUpgrader::upgrade_graph(ir::Graph& graph) {
  for (ir::NodeId id : graph.nodes()) {
    const bool newest = !notes_.graphs[&graph].versions.contains(id);
    Result<void> upgraded = upgrade_and_infer(graph, id);
    if (upgraded && graph.alive(id)) use_hints(graph, id);
    if (upgraded) continue;
    // After an upgrade the node differs from that in the file, so it cannot be kept as an unknown op.
    if (!keep_invalid_ || !newest) return upgraded;
    warnings_.push_back(fmt::format("{} is kept as it is, and not understood: {}", graph.view(id).where(), upgraded.error()->what));
    use_hints(graph, keep_as_unknown(graph, id));
  }
  return {};
}

Result<void> GraphUpgrader::upgrade_and_infer(ir::Graph& graph, ir::NodeId id) {
  TRY(upgrade(graph, id));
  if (!graph.alive(id)) return {};
  TRY(upgrade_bodies(graph, id));
  return ir::infer(graph, id);
}

ir::NodeId GraphUpgrader::keep_as_unknown(ir::Graph& graph, ir::NodeId id) {
  const ir::Node& old = graph.node(id);
  std::vector<ir::ValueId> operands(old.inputs.begin(), old.inputs.begin() + old.explicit_inputs);
  const std::vector<ir::ValueId> captured(old.inputs.begin() + old.explicit_inputs, old.inputs.end());
  const std::vector<ir::ValueId> results = old.outputs;
  const ir::NodeId kept =
      graph.insert(*ops::unknown_op(old.op->domain, old.op->name), std::move(operands), results.size(), old.attributes, id);
  for (const ir::Body& body : graph.node(id).bodies)
    graph.attach_body(kept, body.name, body.graph->clone_body(graph),
                      std::span(captured).subspan(body.first_capture - graph.node(id).explicit_inputs, body.captures));
  for (uint32_t k = 0; k < results.size(); ++k) {
    if (!results[k]) {
      graph.drop_result(kept, k, /*keep_slot=*/true);
      continue;
    }
    const ir::ValueId result = graph.node(kept).outputs[k];
    graph.replace_all_uses(results[k], result);
    graph.transfer_name(results[k], result);
  }
  graph.set_provenance(kept, graph.node(id).provenance);
  std::string name = graph.node(id).name;
  graph.erase(id);
  graph.set_name(kept, std::move(name));
  return kept;
}

Result<void> GraphUpgrader::upgrade(ir::Graph& graph, ir::NodeId id) {
  auto& versions = notes_.graphs[&graph].versions;
  auto at = versions.find(id);
  if (at == versions.end()) return {};
  const int version = at->second;
  versions.erase(at);
  const std::string where = graph.view(id).where();
  auto done = ops::def_of(*graph.node(id).op).upgrade(graph, id, version);
  if (!done) return std::move(done).error().at(where);
  if (graph.alive(id)) graph.trim_operands(id);
  return {};
}

/// An unknown node counts: its types are the declared ones.
bool GraphUpgrader::has_upgrades(const ir::Graph& graph) const {
  if (auto at = notes_.graphs.find(&graph); at != notes_.graphs.end() && !at->second.versions.empty()) return true;
  for (ir::NodeId id : graph.nodes()) {
    if (graph.node(id).op->unknown) return true;
    for (const ir::Body& body : graph.node(id).bodies)
      if (has_upgrades(*body.graph)) return true;
  }
  return false;
}

namespace {

/// Clears the inferred types of all results, so that the next inference does not take them for declared types.
void forget_results(ir::Graph& graph) {
  for (ir::NodeId id : graph.nodes()) {
    for (size_t k = 0; k < graph.node(id).bodies.size(); ++k) forget_results(graph.body(id, k));
    if (graph.node(id).op->unknown) continue;  // nothing would say it again
    const std::vector<ir::ValueId> results = graph.node(id).outputs;
    for (ir::ValueId v : results) {
      if (!v) continue;
      graph.set_type(v, ir::Type());
      graph.set_data(v, std::nullopt);
    }
  }
}

}  // namespace

/// Inference types bodies by itself, but upgrades inside need the types of their operands first.
Result<void> GraphUpgrader::upgrade_bodies(ir::Graph& graph, ir::NodeId id) {
  for (size_t k = 0; k < graph.node(id).bodies.size(); ++k) {
    ir::Graph& body = graph.body(id, k);
    if (!has_upgrades(body)) continue;
    const ir::Node& node = graph.node(id);
    const ir::Body& info = node.bodies[k];
    const size_t formals = body.inputs().size() - info.captures;
    const std::vector<ir::Type> types = node.op->body_input_types(graph.view(id), k);
    for (size_t i = 0; i < std::min(formals, types.size()); ++i)
      if (types[i].dtype != DType::none) body.set_type(body.inputs()[i], types[i]);
    for (size_t i = 0; i < info.captures; ++i) {
      const ir::Value& outside = graph.value(node.inputs[info.first_capture + i]);
      body.set_type(body.inputs()[formals + i], outside.type);
      body.set_data(body.inputs()[formals + i], outside.data);
    }
    TRY(upgrade_graph(body));
    // Inference may find that a loop-carried value changes its shape: then the body is inferred again.
    if (graph.node(id).op->body_input_types(graph.view(id), k) != types) forget_results(body);
  }
  return {};
}

void GraphUpgrader::use_hints(ir::Graph& graph, ir::NodeId id) {
  for (ir::ValueId value : graph.node(id).outputs) {
    if (!value) continue;
    const ir::Value& v = graph.value(value);
    if (v.type.dtype != DType::none && v.type.shape) continue;
    auto& hints = notes_.graphs[&graph].hints;
    auto at = hints.find(v.name);
    if (at == hints.end()) continue;
    auto hint = types_.type(*at->second, v.name);
    if (!hint) continue;
    ir::Type merged = v.type;
    if (merged.dtype == DType::none) merged = *hint;
    else if (merged.dtype == hint->dtype && hint->is_tensor() && merged.is_tensor()) merged.shape = hint->shape;
    if (!merged.is_tensor()) merged.shape.reset();  // files say the shape of some tensor that it holds: ONNX's own tests do
    graph.set_type(value, std::move(merged));
  }
}

void GraphUpgrader::declare_sizes(ir::Graph& graph, ir::SizeNames& names) {
  const auto& hints = notes_.graphs[&graph].hints;
  for (ir::ValueId id : graph.values()) {
    const ir::Value& v = graph.value(id);
    const auto at = hints.find(v.name);
    if (at == hints.end() || !at->second->shape || !v.type.shape || at->second->shape->size() != v.type.shape->size()) continue;
    for (size_t k = 0; k < v.type.shape->size(); ++k)
      if (const std::string_view name = (*at->second->shape)[k].param; is_identifier(name)) names.declare((*v.type.shape)[k], name);
  }
  for (ir::NodeId node : graph.nodes())
    for (size_t k = 0; k < graph.node(node).bodies.size(); ++k) declare_sizes(graph.body(node, k), names);
}

void GraphUpgrader::name_sizes(ir::Graph& root) {
  ir::SizeNames names(root);
  declare_sizes(root, names);
  names.apply();
}

Result<std::vector<std::string>> GraphUpgrader::check_outputs(const ir::Graph& graph, const std::vector<OnnxValueInfo>& declared) {
  std::vector<std::string> warnings;
  for (uint32_t i = 0; i < declared.size(); ++i) {
    const std::string where = fmt::format("output '{}'", declared[i].name);
    const ir::Type& found = graph.value(graph.outputs()[i]).type;
    auto type = types_.type(declared[i].type, declared[i].name);
    if (!type) return std::move(type).error().at(where);
    if (type->dtype != DType::none && found.dtype != DType::none && (type->dtype != found.dtype || type->kind != found.kind))
      return fail(Code::dtype_mismatch, where, "the declared type is not the computed one").expected(type->text()).found(found.text());
    if (!type->shape || !found.shape) continue;
    bool fits = type->rank() == found.rank();
    for (int k = 0; fits && k < found.rank(); ++k)
      fits = !type->dim(k).is_number() || type->dim(k).equals(found.dim(k)) != std::optional(false);
    if (!fits) warnings.push_back(fmt::format("{}: declared as {}, computed as {}", where, type->text(), found.text()));
  }
  return warnings;
}

}  // namespace tenon::import
